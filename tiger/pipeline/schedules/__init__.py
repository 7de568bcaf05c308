"""Schedules of a pipeline, simulated."""
