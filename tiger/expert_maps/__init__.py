"""Where the experts of a mixture-of-experts network go, so that a step with them costs little.

In: the experts that tokens chose (`traces.py`) or their loads (`loads_file.py`), and a cluster. Out: an `ExpertReport`.
Read `solve.py` first, which chooses the search. That for transitions alone is `search.py`, from the order of numbers to
the annealed placement, with `bounds.py` for what no placement can be below and `layer_dp.py` for the exact answer for
few experts. `replicas` balances loads by copies of experts, `shares` the tokens of these; `slots` has the one objective
of loads, links and moves. `rooms.py` says how many slots each device has, and what memory holds.

Source: Yao, Anthony, Shafi, Subramoni and Panda, Exploiting Inter-Layer Expert Affinity for Accelerating
Mixture-of-Experts Model Inference, IPDPS 2024, arXiv:2401.08383.
"""
