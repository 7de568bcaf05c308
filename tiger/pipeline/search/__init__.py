"""The search for a plan of a chain of layers."""
