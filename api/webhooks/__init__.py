"""Requests that this service sends: to hosts that its operator allows, by the address that was checked, and no further.

In come the address that a job names and a signed body, out comes the status of the answer. Read `policy` first, which
says whom to tell, then `addresses`, which refuses what lies inside, and `post`, which sends. What is sent when, and
what becomes of it, are rows of `tiger.api.jobs.webhook_store`.
"""
