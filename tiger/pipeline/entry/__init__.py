"""Requests and reports of placements."""
