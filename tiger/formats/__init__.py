"""Readers of task graphs and topologies: node-link JSON, networkx objects and files of other tools.

In come a path, a text or a graph, out come a `TaskGraph` or a `Topology`, or an `InputError` that names the line or
the field at fault. Read `files` first, which knows every ending, then `nodelink`. Rank orders are written in
`tiger.launchers`.
"""
