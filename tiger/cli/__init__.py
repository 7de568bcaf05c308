"""The command line: `tiger assign`, `layout`, `place`, `plan`, `encode`, `decode`, `serve`, `warm`.

In come the words of a command, out come text, files and an exit code. Read `app` first; `plan` and `exchange` have the
other commands, `options` what they take, `console` and the summaries what they show.
"""
