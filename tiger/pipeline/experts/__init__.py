"""Where the experts of a mixture-of-experts network go, so that tokens seldom change their GPU.

In: the experts that tokens chose (`traces.py`), and hop weights of a cluster (`hops.py`). Out: an `ExpertReport`. Read
`search.py` first: it tells the search from the order of numbers to the annealed placement. `bounds.py` has what no
placement can be below, `layer_dp.py` the exact answer for few experts. `replicas` balances loads by copies of experts.

Source: Yao, Anthony, Shafi, Subramoni and Panda, Exploiting Inter-Layer Expert Affinity for Accelerating
Mixture-of-Experts Model Inference, IPDPS 2024, arXiv:2401.08383.
"""
