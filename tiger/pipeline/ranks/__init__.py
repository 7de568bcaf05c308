"""Ranks of tensor, pipeline and data parallel groups on devices."""
