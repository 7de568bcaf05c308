"""Small models and clusters."""

from tests.training.drawn import _drawn_cluster, _drawn_layers, _least_of_all_orders  # noqa: F401 (fixtures)
