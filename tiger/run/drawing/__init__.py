"""What the pictures of all uses share: figures in one style, panels of bars, stages over time, and graphs as views.

Views are what pictures show, as plain JSON for a page and for matplotlib alike: documents of the schema `tiger.view/1`,
small enough to be drawn at once, in which groups of vertices stand for more than 2,000. They need no matplotlib.
"""
