"""Plans that follow layers whose times change while a model trains: keep a plan, or move layers where that pays.

In: a model, a cluster, and the times of layers or stages, interval by interval. Out: a decision for each, and the
workers that can be freed. Read `rebalancer.py` first, then `line_costs.py`.
"""
