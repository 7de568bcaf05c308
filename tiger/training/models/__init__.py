"""Models: layers and operator graphs, read from profiles, tables, documents, or the shape of a transformer.

In: a path, a SPEC or a document. Out: `layers.Layers`, or `operators.Operators`. Read these two first, then
`reading.py`.
"""
