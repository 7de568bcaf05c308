"""What worker processes load before their first solve, from kernels to the answers of every kind of work.

`preload` is what the fork server of `tiger.api.pool` imports, and what workers of a Dask cluster are given.
"""
