"""Builders of hardware topologies, by the short text of a SPEC such as `torus:8x8x8`."""
