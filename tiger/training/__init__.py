"""Models, clusters, the costs of plans and the schedules of pipelines, which all rooms on training networks share.

In: models (`models`) and clusters (`hardware`) in any form of a caller. Out: the seconds and bytes of the stages of a
plan (`costs`), and of an iteration under a schedule (`schedules`). The memory of every plan is checked in
`schedules/memory.py`. Read `models/layers.py` and `hardware/cluster.py` first.
"""
