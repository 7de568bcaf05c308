"""Hosts in rings and tori as batch systems state them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.plain import PlainHardware
from tiger.model.metrics import DENSE_LIMIT, GridMetric
from tiger.model.topology import Links, Topology, neighbour_links
from tiger.topologies.coordinates import check_count, coordinate_names

FIELD = "topology"


@dataclass(frozen=True, slots=True)
class Torus:
    """Hold a torus: its name, its extents, and the host at every point, None where there is none.

    The last axis varies fastest.
    """

    name: str
    extents: tuple[int, ...]
    hosts: tuple[str | None, ...]


def join_tori(tori: Sequence[Torus]) -> PlainHardware:
    """Return the hosts of tori, which do not reach each other, as far apart as there are steps between them.

    A point without a host forwards traffic. Raises InputError of `topology` for more than 8,192 points of several tori,
    or of one without a host everywhere.
    """
    count = sum(math.prod(torus.extents) for torus in tori)
    check_count(count)
    metrics = [GridMetric(torus.extents, (True,) * len(torus.extents)) for torus in tori]
    if len(tori) == 1 and None not in tori[0].hosts:
        return PlainHardware(Topology(names=tuple(host or "" for host in tori[0].hosts), metric=metrics[0]), "node")
    if count > DENSE_LIMIT:
        what = f"expected one torus with a host at every point, or at most {DENSE_LIMIT} points"
        raise InputError(FIELD, f"{what}, got {count} in {len(tori)} tori")
    names, slots, links = list[str](), list[int](), list[Links]()
    for torus, metric in zip(tori, metrics, strict=True):
        inside = neighbour_links(metric)
        links.append(replace(inside, u=inside.u + len(names), v=inside.v + len(names)))
        points = (f"{torus.name}:{point}" for point in coordinate_names(torus.extents))
        slots += [int(host is not None) for host in torus.hosts]
        names += [point if host is None else host for point, host in zip(points, torus.hosts, strict=True)]
    ends = np.concatenate([np.column_stack([each.u, each.v]) for each in links])
    return PlainHardware(Topology.from_links(tuple(names), Links.unit(ends), slots), "node")
