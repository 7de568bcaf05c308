"""What moving layers costs: the seconds of their bytes over the links between devices, and the list of moves."""

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.model.document import KEY, Document

if TYPE_CHECKING:
    from tiger.rebalancing.line_costs import Cuts, PipelineCosts

# Stands for the seconds over no link, so that sums stay finite and differences numbers: thirty million years.
NEVER_S = 1e15


@dataclass(frozen=True, slots=True, kw_only=True)
class Move(Document):
    """Hold a run of layers, by their names, that goes from a device to another; None where the former is gone.

    `seconds` are those of its bytes over the link between the two; layers whose device is gone come from a checkpoint
    or a replica, over no link that the cluster states, and count 0.
    """

    first: str
    last: str
    layers: int
    source: str | None
    target: str
    moved_bytes: float = field(metadata={KEY: "bytes"})
    seconds: float


def homes_of(cuts: "Cuts", devices: tuple[int, ...]) -> tuple[int, ...]:
    """Return the device [L] of every layer."""
    return tuple(np.repeat(devices, np.diff(cuts)).tolist())


def prices_s(line: "PipelineCosts", homes: tuple[int | None, ...]) -> FloatArray:
    r"""Return the seconds [p, L] to move each layer from the device that holds it to each position.

    .. math:: M = \sum_l \tau(h_l, d_{s(l)}, b_l)

    with the bytes b that layer l holds all the time, the device h that holds it, and the time tau of a message: one
    transfer after another, an upper bound where links work at the same time. The sum is additive over layers, so that
    the dynamic program of `cut_solver` stays exact. Where two devices lack a link, bytes go the quickest way over
    others that hold layers before or after, one hop after another. O(p L) where no link is missing.
    """
    layers = line.layers.state_bytes
    price = np.zeros((line.positions, line.layers.size))
    for home in set(homes) - {None}:
        held = np.array([other == home for other in homes])
        for position, device in enumerate(line.devices):
            price[position, held] = line.cluster.seconds(int(home or 0), device, layers[held])
    return _relay(line, homes, price) if np.isinf(price).any() else price


def _relay(line: "PipelineCosts", homes: tuple[int | None, ...], price: FloatArray) -> FloatArray:
    """Return the prices with those over no link replaced by those of the quickest way over devices in use."""
    sizes = line.layers.state_bytes
    devices = sorted({*line.devices, *(home for home in homes if home is not None)})
    part, place = line.cluster.take(devices), {device: k for k, device in enumerate(devices)}
    ends = [place[device] for device in line.devices]
    for size in np.unique(sizes[np.isinf(price).any(axis=0)]):
        way_s = part.table_s(float(size))
        # Floyd and Warshall: the quickest ways over the first devices, one more at a time.
        for via in range(len(devices)):
            way_s = np.minimum(way_s, way_s[:, [via]] + way_s[[via]])
        for layer in np.flatnonzero(sizes == size).tolist():
            home = homes[layer]
            if home is not None:
                price[:, layer] = np.where(np.isinf(price[:, layer]), way_s[place[home], ends], price[:, layer])
    return np.minimum(price, NEVER_S)


def list_moves(line: "PipelineCosts", homes: tuple[int | None, ...], cuts: "Cuts") -> tuple[Move, ...]:
    """Return the moves of runs of layers from the devices that hold them to those of a plan."""
    targets, price = homes_of(cuts, line.devices), prices_s(line, homes)
    place = {device: k for k, device in enumerate(line.devices)}
    names, devices, moves = line.layers.names, line.cluster.names, []
    for (home, target), run in groupby(range(len(homes)), key=lambda layer: (homes[layer], targets[layer])):
        held = list(run)
        if home != target:
            moves.append(
                Move(
                    first=names[held[0]],
                    last=names[held[-1]],
                    layers=len(held),
                    source=None if home is None else devices[home],
                    target=devices[target],
                    moved_bytes=float(line.layers.state_bytes[held].sum()),
                    seconds=float(price[place[target], held].sum()),
                )
            )
    return tuple(moves)
