"""The time of collective operations among ranks, by the algorithms between which NCCL chooses."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tiger.model.arrays import FloatArray, IntArray, unset_array
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.link_rows import link_rows, link_starts_s
from tiger.training.hardware.ring_links import RingLinks

# A gather is an all-gather or a reduce-scatter; both is one after the other, which an all-reduce does at once.
Collective = Literal["gather", "both", "all-reduce"]
# Of the bandwidth of rings, what trees reach; and the seconds in which a switch that adds up starts (NCCL 2.28,
# src/graph/tuning.cc).
TREE_EFFICIENCY, SWITCH_START_S = 0.92, 25e-6


# Numbers that are looked up at once, 32 MB of them, before links of equal rings are told apart.
GATHERED = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RingTable:
    r"""Hold what a collective of messages of `size_bytes[x]` among `ranks` r devices spends, over all types of links.

    A ring over M machines takes

    .. math:: (r - M) a_{in} + (M - 1) a_{out} + (r - 1) \max_l (T_l(B / r k_l) - a_l)

    for a gather, where T is the time of a message over link l, a its least, and k the number of NICs of a machine that
    carry it, or of wires inside; both take twice that. An all-reduce may also go through a double binary tree of
    machines, or inside a machine through a switch that adds up:

    .. math::
        T_{tree} &= 2 (\lceil r / M \rceil - 1) a_{in} + 2 \lceil \log_2 M \rceil a_{out}
                    + \max_l (T_l(2 B / 0.92 k_l) - a_l) \\
        T_{switch} &= 25 \mathrm{us} + \max_l (T_l((1 + 1 / r) B / e) - a_l)

    and takes the least; e is the part of its links that a device has to the switch. With `begins` messages are those of
    L layers, and x stages that begin at them send all theirs, each `times[L]` (default: once). Sources: Patarasuk and
    Yuan, J. Parallel Distrib. Comput. 69 (2009) 117, doi:10.1016/j.jpdc.2008.09.002; Sanders et al., Parallel Comput.
    35 (2009) 581, doi:10.1016/j.parco.2009.09.001; NCCL, src/graph/tuning.cc.
    """

    cluster: Cluster
    size_bytes: FloatArray
    ranks: int
    collective: Collective = "gather"
    begins: IntArray | None = None
    times: FloatArray = field(default_factory=unset_array)
    known: dict[float, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @property
    def count(self) -> FloatArray:
        """Return how many messages [x] there are that anything is sent in."""
        return self._sum((self.size_bytes > 0).astype(np.float64))

    @property
    def sends(self) -> bool:
        """Return whether anything is sent."""
        return self.ranks > 1 and bool(self.size_bytes.any())

    def seconds(self, links: RingLinks, columns: IntArray | None = None) -> FloatArray:
        """Return the seconds `[.., x]` of rings `[.., r]`; of `columns[..]` of x alone, if there are such."""
        count, ranks = self.count, self.ranks
        if not self.sends:
            return np.zeros(links.machines.shape if columns is not None else (*links.machines.shape, len(count)))
        every = links.machines[..., None]
        count = count if columns is None else count[columns][..., None]
        inside, between = links.inside_s[..., None], links.between_s[..., None]
        # Times near the end of float64 become infinite, without a warning.
        with np.errstate(over="ignore"):
            spent = count * ((ranks - every) * inside + (every - 1) * between)
            spent = spent + (ranks - 1) * self._slowest(links, 1 / ranks, columns)
            if self.collective != "gather":
                spent = 2 * spent
            if self.collective == "all-reduce":
                if (links.machines > 1).any():
                    steps = (np.ceil(ranks / every) - 1) * inside + np.ceil(np.log2(every)) * between
                    tree = 2 * count * steps + self._slowest(links, 2 / TREE_EFFICIENCY, columns)
                    spent = np.where(every > 1, np.minimum(spent, tree), spent)
                for share in set(links.switched[links.switched > 0].tolist()):
                    added = count * SWITCH_START_S + self._slowest(links, (1 + 1 / ranks) / share, columns)
                    spent = np.where(links.switched[..., None] == share, np.minimum(spent, added), spent)
        return np.asarray(spent if columns is None else spent[..., 0])

    def bound_rows(self, nics: float, machines: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Return seconds `[c + 2, x]` that no ring with a link of a type is below: inside a machine, and between two.

        Between machines rings have at most so many NICs, and span so many of them, or any number without it. Inside
        they are as wide as all wires of a device.
        """
        ranks, twice = self.ranks, 1 if self.collective == "gather" else 2
        if not self.sends:
            nothing = np.zeros((len(self.cluster.curves) + 2, len(self.count)))
            return nothing, nothing
        starts = link_starts_s(self.cluster)
        least, starts = starts[:-2].min() * self.count, starts[:, None] * self.count
        # No link starts a message sooner than the least, so that the fewest machines have the least sum.
        spanned = machines or 2
        with np.errstate(over="ignore"):
            inside = twice * (ranks - 1) * (starts + self._rows(1 / (ranks * self.cluster.most_wires)))
            begun = (spanned - 1) * starts + (ranks - spanned) * least
            between = twice * (begun + (ranks - 1) * self._rows(1 / (ranks * nics)))
            if self.collective == "all-reduce":
                levels = np.ceil(np.log2(spanned)) * starts
                steps = levels if machines is None else levels + (np.ceil(ranks / machines) - 1) * least
                between = np.minimum(between, 2 * steps + self._rows(2 / (TREE_EFFICIENCY * nics)))
                if self.cluster.reduces.any():
                    width = float(self.cluster.reduces.max()) * self.cluster.most_wires
                    added = self.count * SWITCH_START_S + self._rows((1 + 1 / ranks) / width)
                    inside = np.minimum(inside, added)
        return inside, between

    def _slowest(self, links: RingLinks, share: float, columns: IntArray | None) -> FloatArray:
        """Return the seconds `[.., x]` that a share of each message takes over the slowest link, after its start."""
        tables = [self._rows(share / width) for width in links.widths.tolist()]
        table = np.concatenate(tables)
        if columns is not None:
            return np.asarray(table[links.row, np.asarray(columns)[..., None]].max(axis=-1, keepdims=True))
        if links.row.size * table.shape[1] <= GATHERED:
            return np.asarray(table[links.row].max(axis=-2))
        # Rings over the same links take equally long.
        flat = np.sort(links.row.reshape(-1, links.row.shape[-1]), axis=1)
        different, which = np.unique(flat, axis=0, return_inverse=True)
        slowest = np.array([table[np.unique(row)].max(axis=0) for row in different])
        return np.asarray(slowest[which.ravel()].reshape(*links.machines.shape, -1))

    def _rows(self, share: float) -> FloatArray:
        """Return the seconds of a share of each message over each type of link after its start, `[c + 2, x]`."""
        if share not in self.known:
            size = np.where(self.times > 0, self.size_bytes, 0.0) if len(self.times) else self.size_bytes
            started = np.where(size > 0, link_starts_s(self.cluster)[:, None], 0.0)
            self.known[share] = self._sum(link_rows(self.cluster, size * share) - started)
        return self.known[share]

    def _sum(self, values: FloatArray) -> FloatArray:
        """Return values `[.., L]` of messages added up by stage."""
        if len(self.times):
            values = np.multiply(values, self.times, out=np.zeros(values.shape), where=self.times > 0)
        return values if self.begins is None else np.asarray(np.add.reduceat(values, self.begins, axis=-1))
