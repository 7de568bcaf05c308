"""Executors that run independent parts of a search: threads, processes or a Dask cluster.

In comes what the caller has, an executor or an address, out comes an executor. Read `executors` first.
"""
