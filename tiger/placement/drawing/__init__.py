"""Pictures of placements, and traces of their schedules. Read `pictures` first, and `iteration`: what is shown.

`view` is that as plain JSON for a page.
"""
