"""Pictures of mappings, placements and plans by matplotlib.

In come reports, out come figures. Read `mapping` first.
"""
