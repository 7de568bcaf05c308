"""Worker processes that solve away from the event loop, and the fork server that they come from.

In comes work, out come its results or that the worker is gone. Read `processes` first.
"""
