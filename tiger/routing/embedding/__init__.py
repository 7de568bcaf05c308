"""Layouts without SWAPs, of a whole circuit or of its segments.

In: a gate DAG and a coupling map. Out: layouts, and anchors, which are layouts for a time in the circuit. Read
`embedding.py` first; `segments.py` cuts a circuit into what embeds, and `tiger.solvers.matching.monomorphism` is the
search itself.
"""
