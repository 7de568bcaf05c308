"""Readers of models: profiles, layer tables and transformers by their shape."""
