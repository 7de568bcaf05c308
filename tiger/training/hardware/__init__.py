"""Clusters: devices and links, read from documents, node groups, SPECs, NVIDIA's tools and descriptions of networks.

In: a path, a SPEC or a document. Out: `cluster.Cluster`. Read `cluster.py` first, then `reading.py`; `composition.py`
and `hosts.py` put machines into the hosts of a network.
"""
