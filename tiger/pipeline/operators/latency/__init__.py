"""The search for an early end of one microbatch: list scheduling and moves judged by it.

In come the terms of a placement, out come devices of classes. Read `latency` first.
"""
