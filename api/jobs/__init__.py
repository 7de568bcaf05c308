"""Durable jobs: solves that outlive their request, and the server.

In comes the checked body of a request (`job.Work`), out come the job, its progress and its report (`job.Job`). Read
`job` first, which states the interface, then `engine`, which wires the parts, then `run`, the run of one job.

Who owns what: the table `tiger_jobs` (`migrations`) is the only record of what is to be done and of who does it.

- Leases: `claims`. A job's token names its valid lease; every write of a run names the token it was claimed with.
- Recovery: `maintenance.recover_jobs` requeues the jobs of servers whose `heartbeats` are silent, and `engine` at its
  start those that this server (`server`: its name is a locked file) had when it was killed.
- Queue: `queue`, by DBOS, brings leases to servers, each once, the most urgent first. What it loses, or does not have
  yet, is found in the table (`maintenance.sweep`, `Queue.find_lost`), and a run that has ended takes the next lease
  from the table itself: a job is begun by the server that claims its row first, whatever the queue says. On SQLite the
  queue is a file of its own, which can be deleted while no server runs.
- Order and limits of what waits, keys and owners: `store`.

A DBOS workflow is but a message that a lease waits. Those that DBOS recovers itself, this server's at its start, find
leases that are not valid any more, and end.
"""
