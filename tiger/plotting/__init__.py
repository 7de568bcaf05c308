"""Pictures of reports by matplotlib, the cards of notebooks, and the documents that pages draw.

In come reports, out come figures, HTML, views as plain JSON (`views`), and traces of schedules (`trace`). Read
`pictures` first.
"""
