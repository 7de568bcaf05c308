"""The Ising formulations of circuit mapping, which propose layouts."""
