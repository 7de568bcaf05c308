"""Exact splits of a chain of layers into stages."""
