"""Clusters: devices and links, read from documents, node groups, SPECs and `nvidia-smi topo -m`.

In: a path, a SPEC or a document. Out: `cluster.Cluster`. Read `cluster.py` first, then `reading.py`.
"""
