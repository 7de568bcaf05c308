"""Graphs put onto graphs: every edge on an edge where that can be, nearly every one where it cannot.

In come task graphs and hardware, or a guest and a target as neighbour lists; out come mappings, or places of the
guest's vertices. Read `graph_matching` first: it looks for a whole embedding by `isomorphism`, where both have as many
edges, and by `monomorphism`, the exact search, which circuits use as well, and for one of most edges by
`partial_matching`, in which vertices of unique `colours` and places of small `patterns` are seeds for `growth`.
`levels` are the traffic and the links that it takes, `neighbourhoods` is what all read of a graph.
"""
