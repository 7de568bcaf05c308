"""Ways to cut a problem into blocks: a few tasks and the nodes that these may use, solved by themselves.

In come a problem and a feasible mapping, out come blocks that cover its tasks exactly once. Read `windows` first;
`levels` cuts problems whose tasks have levels, and `nodes` adds nodes to tasks.
"""
