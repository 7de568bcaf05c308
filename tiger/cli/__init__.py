"""The command line: `tiger assign`, `layout`, `place`, `plan`, `decode`, `serve`, `warm`.

In come words, out come text, files and an exit code. Read `app` first.
"""
