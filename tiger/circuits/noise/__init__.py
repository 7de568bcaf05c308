"""Objectives beside the count of gates: success and depth."""
