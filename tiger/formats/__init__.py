"""Readers of task graphs and topologies: node-link JSON, networkx objects and files of other tools."""
