"""Encoded problems for annealers and solvers elsewhere, and their samples back.

In comes a problem, out come files that Ocean tools, MQLib or qbsolv read; and the other way round. Read `export` first.
"""
