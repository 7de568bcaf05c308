"""Readers of clusters: documents, node groups and what machines say of themselves."""
