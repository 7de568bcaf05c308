"""Durable jobs: solves that outlive their request, and the server.

In comes the checked body of a request (`JobOrder` of `tiger.api.seams.job`), out come the job, progress and report
(`Job`), and the files that its worker writes beside it, which are kept as long as the job is. Read that module first,
which states the interface, then `engine`, which wires the parts, then `dispatcher` and `run`, the run of one job.

Who owns what: the table `tiger_jobs` (`migrations`) is the only record of what is to be done and of who does it.

- Leases: `claims`. A job's token names its valid lease; every write of a run names the token it was claimed with.
- Queue: the rows that are `queued`. Each server's `dispatcher` claims one of them whenever one of its workers is free:
  of the owner whose turn it is (`turns`), and in one statement, so that no two servers claim the same. It is woken by
  what is submitted to this server and by the end of its runs, and looks by itself for what others submit and put back.
- Recovery: `maintenance.recover_jobs` requeues the jobs of servers whose `heartbeats` are silent, and `engine` at its
  start those that this server (`server`: its name is a locked file) had when it was killed.
- Limits of what waits, keys and owners: `store`. Quotas, and what counts towards them: `usage`.
"""
