"""The command line: `tiger assign`, `layout`, `place`, `plan`, `explain`, `serve`, `doctor` and others.

In come the words of a command, out come text, files and an exit code. Read `app` first; `plan`, `exchange`, `explain`
and `doctor` have the other commands, `options` what they take, `help`, `examples` and `completion` how they are
described, `console` what they show.
"""
