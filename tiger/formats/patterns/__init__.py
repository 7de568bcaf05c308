"""Task graphs of common communication patterns, by the short text of a SPEC such as `halo:16x16`.

In comes a SPEC, out comes a `TaskGraph` of its ranks. Read `spec` first: a new kind is an entry of its table, a reader
of its text and a function that returns a `Pattern`, as those of `messages` do.
"""
