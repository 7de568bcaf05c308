"""Layouts of pipelines: which layers a stage holds, as frameworks are told it.

In: the text that a framework takes, and layers. Out: the cuts of the stages. Read `reading` first.
"""
