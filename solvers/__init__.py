"""Searches and samplers, one file each."""
