"""The REST service: `app.create_app` builds it, `serve` runs it for `tiger serve`.

In come HTTP requests, out come reports, jobs and problem documents. Read `app` first; `settings` has what an operator
may set, `schemas` what requests and answers look like, `routes` who answers them, `middleware` what every request
passes, `jobs` the durable jobs behind the interfaces of `seams`, `pool` the processes that solve, and `workers` what
these load.
"""
