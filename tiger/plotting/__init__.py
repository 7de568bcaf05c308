"""Pictures of reports by matplotlib as figures and files, and the cards of notebooks.

In come reports, out come figures and HTML; what is drawn each use states by itself. Read `pictures` first.
"""
