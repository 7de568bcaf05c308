"""The routes: what each kind of request asks for, who answers it, and how its answer is waited for.

In come bodies, out come answers and jobs. Read `entries` first, which names the kinds, then `solving`.
"""
