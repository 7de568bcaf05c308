"""Builders of hardware topologies, by the short text of a SPEC such as `torus:8x8x8`.

In comes a SPEC, out comes a `Topology`. Read `spec` first: a new kind is an entry of its two tables and a builder.
"""
