"""Views: what pictures show of mappings, circuits and placements, as plain JSON for a page and for matplotlib alike.

In come problems with their mappings, reports, and the parts of requests; out come documents of the schema
`tiger.view/1`, small enough to be drawn at once: beyond 2,000 vertices a graph is shown by groups of them. Read `graph`
and `mapping` first. Nothing here needs matplotlib.
"""
