"""A problem as a QUBO and back: encoding, penalties and their tuning, decoding and repair.

In come a problem and a window of it, out come a binary quadratic model and, for its samples, mappings. Read `tune`
first: each of its rounds encodes, samples, decodes, repairs and polishes, and chooses the next penalties. It is called
for the whole problem by `whole_sampling`, and for windows by `window_sampling`; `penalties` has the safe bound.
"""
