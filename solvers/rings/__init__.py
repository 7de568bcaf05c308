"""Search for the order in which a ring of tasks goes around the hardware.

In come a problem whose tasks form a ring, and a mapping, out comes a better one. Read `ring_order` first;
`dynamic_program` proves small ones, and `local_search` improves large ones.
"""
