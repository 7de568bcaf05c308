"""What every part of the service knows of jobs and rebalancers: values, errors, and the interfaces of their stores.

Read `job` first: the body of a request becomes a `JobOrder`, and its outcome a `Job`, with `files` beside its report.
"""
