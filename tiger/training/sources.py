"""Models and clusters in any form of a caller."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from tiger.errors import InputError
from tiger.training.arguments import Hardware
from tiger.training.arguments import Model as ModelSource
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.hardware.reading import NO_ARGUMENTS, read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.sizes import Model, model_of


def chain_model_of(source: ModelSource, sequences: int | None = None) -> Model:
    """Return a model of layers in any of its forms as `model_of` does; raise InputError, and TypeError."""
    # Of operators, and anything else that is no model of layers, the reader says so.
    return model_of(cast("Layers | Path | str | Mapping[str, object] | list[object]", source), sequences)


def cluster_of(source: Hardware | None, hosts: HostArguments = NO_ARGUMENTS) -> Cluster | None:
    """Return a cluster in any of its forms, None where none is given; raise InputError, and TypeError."""
    if source is None or isinstance(source, Cluster):
        hosts.check_absent("none" if source is None else "a Cluster")
        return source
    if not isinstance(source, str | Path | Mapping):
        raise TypeError(f"expected cluster as a Cluster, a path, a SPEC or a document, got {type(source).__name__}")
    return read_cluster(source, hosts)


def require_cluster(cluster: Cluster | None) -> Cluster:
    """Return a cluster, or raise InputError where there is none; only operators may go without."""
    if cluster is None:
        raise InputError("cluster", "expected a cluster, got none")
    return cluster
