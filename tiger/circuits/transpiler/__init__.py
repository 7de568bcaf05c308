"""Qiskit's circuits in and out, and its passes and plugins."""
