"""Orders of devices, and places of the ranks of tensor-, data- and pipeline-parallel groups, by search.

In: layers, a cluster, and the settings of a search (`search`). Out: a line of devices (`order`) or a plan
(`grid_search`), and a lower bound for fixed cuts (`bound`). Read `grid_search.py` first.
"""
