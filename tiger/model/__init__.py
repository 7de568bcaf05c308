"""The value types of a mapping problem: tasks, hardware, rule and constraints; numpy and scipy only.

In come arrays and names, out come frozen dataclasses whose bounds are checked. Read `problem` first, then `window`.
`text`, `jsontext` and `values` read what files and documents of all kinds are made of.
"""
