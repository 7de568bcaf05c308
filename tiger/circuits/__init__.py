"""Quantum circuits on coupling maps: layout and routing."""
