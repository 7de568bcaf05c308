"""Pictures of mappings, placements and plans by matplotlib, and the documents that pages draw.

In come reports, out come figures, views as plain JSON (`views`), and traces of schedules (`trace`). Read `mapping`
first.
"""
