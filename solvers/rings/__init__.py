"""Search for the order in which rings of tasks go around the hardware.

In come a problem whose tasks form rings, and a mapping, out comes a better one. Read `ring_order` first, which is for
one ring; `dynamic_program` proves small ones, and `local_search` improves large ones. `ring_set` orders several in
turn.
"""
