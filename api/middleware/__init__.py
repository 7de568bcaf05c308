"""What stands between the network and the routes: connections, limits, keys, headers, logs and errors.

In come bytes, out come requests that the routes may take, and problem documents for the others. Read `api/stack.py`
first, which puts it together.
"""
