r"""Devices of operators as a QUBO: one bit per group and device, and the sum of the squares of the loads.

With :math:`x_{cd} = 1` for group c on device d, T the work divided evenly, w the work in units of T and s what is sent,

.. math::
    E = \sum_d \Bigl(\sum_c w_{dc} x_{cd} - 1\Bigr)^2 + 2 \sum_{cd} (w_{dc} - \min_h w_{hc})\, x_{cd}
        + 2 \sum_{a \to b} \sum_{d \ne h} \sum_{u \in a} \Bigl(p_h + \frac{p_d}{|R_u|}\Bigr) \frac{s_{dhu}}{T}\,
          x_{ad} x_{bh}
        + \sum_d M_d \Bigl(\sum_c \frac{m_c}{K_d} x_{cd} - \phi\Bigr)^2 + \sum_c A_c \Bigl(1 - \sum_d x_{cd}\Bigr)^2

over groups b in R_u, which read operator u. Up to a constant the first lines are the squares of the loads, to first
order in what is sent, counted once for every group that reads it. Memory m is drawn to the share :math:`\phi` of all
memory K that is needed, without slack bits, so that repair has the last word.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import dimod
import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import BitArray, BoolArray, FloatArray, IntArray, distinct
from tiger.placement.operators.bounds.balance import balance_s
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.terms import Terms
from tiger.qubo.encode import COUPLER_LIMIT
from tiger.qubo.penalties import MARGIN, TYPICAL, Penalties
from tiger.training.hardware.cluster import NO_LINK

# In units of the square of an even load: the weight of memory, and the energy of a message without a link; SMALL is the
# least penalty of a group in parts of the root mean square, or light groups would be left hot at the end of annealing.
MEMORY, FAR, SMALL = 2.0, 4.0, 0.1


class Traffic(NamedTuple):
    """Hold pairs of groups, the second reading of the first, and energies [k, k, pairs] on every two devices."""

    source: IntArray
    target: IntArray
    energy: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoding:
    """Hold the bits: `index[C, k]` is the variable of a group on a device, -1 where it may not go; and the energies.

    `work[k, C]` is in units of an even share, `memory[k, C]` in parts of what a device has, 0 where it cannot overflow,
    and `fill` what part of it is to be used.
    """

    index: IntArray
    work: FloatArray
    memory: FloatArray
    fill: float
    traffic: Traffic

    @property
    def penalties(self) -> Penalties:
        """Return weights at which no sample gains by leaving a group out, and in `aim` those to tune."""
        sent = np.zeros(len(self.index))
        most = self.traffic.energy.max(axis=(0, 1), initial=0.0)
        np.add.at(sent, self.traffic.source, most)
        np.add.at(sent, self.traffic.target, most)
        work, spread = self.work.max(axis=0), np.ptp(self.work, axis=0)
        held = self.memory.max(axis=0)
        near = work * work + 2 * spread + MEMORY * held * held
        together = 2 * work * self.work.sum(axis=1).max() + 2 * MEMORY * held * self.memory.sum(axis=1).max()
        devices = np.ones(self.index.shape[1])
        # Geometric mean of each group's own level and the common one.
        level = float(np.sqrt(np.mean((near + sent / 2) ** 2))) or 1.0
        aim = TYPICAL * np.sqrt(np.maximum(near + sent / 2, SMALL * level) * level)
        safe = np.maximum((near + together + sent) * MARGIN, aim)
        scale = float(aim.mean() / safe.mean())
        weights = Penalties(one_hot=safe, exclusive=0 * devices, capacity=MEMORY * devices)
        return replace(weights, aim=replace(weights, one_hot=aim, scale=scale))

    def bqm(self, penalties: Penalties) -> dimod.BinaryQuadraticModel:
        """Return the binary quadratic model at the given penalties; O(C^2 k + e k^2)."""
        linear = np.zeros(int(self.index.max(initial=-1)) + 1)
        known, one_hot = self.index >= 0, penalties.one_hot
        weight = penalties.capacity[:, None]
        extra = self.work - np.where(known.T, self.work, np.inf).min(axis=0)
        own = self.work * (self.work - 2) + 2 * extra + weight * self.memory * (self.memory - 2 * self.fill)
        linear[self.index[known]] = (own.T - one_hot[:, None])[known]
        pairs = [self._pair_together(penalties.capacity), self._pair_devices(one_hot), self._pair_apart()]
        row, col, value = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        offset = len(self.work) + float(penalties.capacity[self.memory.any(axis=1)].sum()) * self.fill**2
        keep = (row >= 0) & (col >= 0) & (value != 0)
        return dimod.BinaryQuadraticModel.from_numpy_vectors(
            linear, (row[keep], col[keep], value[keep]), offset + float(one_hot.sum()), dimod.BINARY
        )

    def sample(self, place: IntArray) -> BitArray:
        """Return the bits of a place [C]."""
        bits = np.zeros(int(self.index.max(initial=-1)) + 1, np.int8)
        bits[self.index[np.arange(len(place)), place]] = 1
        return bits

    def decode(self, samples: BitArray) -> BoolArray:
        """Return bits[r, C, k], which devices samples [r, variables] choose for the groups."""
        bits = np.zeros((len(samples), *self.index.shape), np.bool_)
        bits[:, self.index >= 0] = samples[:, self.index[self.index >= 0]] > 0
        return bits

    def _pair_together(self, weight: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the pairs of groups that share a device, for its work and memory."""
        first, second = np.triu_indices(len(self.index), 1)
        value = 2 * self.work[:, first] * self.work[:, second]
        value += 2 * weight[:, None] * self.memory[:, first] * self.memory[:, second]
        return self.index[first].T.ravel(), self.index[second].T.ravel(), value.ravel()

    def _pair_devices(self, one_hot: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the pairs of devices that one group may not both have."""
        first, second = np.triu_indices(self.index.shape[1], 1)
        value = np.repeat(2 * one_hot, len(first))
        return self.index[:, first].ravel(), self.index[:, second].ravel(), value

    def _pair_apart(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the pairs of groups on different devices, for what one sends to the other."""
        source, target, energy = self.traffic
        one, other = np.nonzero(~np.eye(self.index.shape[1], dtype=np.bool_))
        return self.index[source][:, one].ravel(), self.index[target][:, other].ravel(), energy[one, other].T.ravel()


def encode(terms: Terms) -> Encoding:
    """Return the encoding of the devices of C groups; O(C k + e k^2); InputError above 5 million couplers."""
    source, target, operator, readers = _reads(terms)
    key, pair = np.unique(source * terms.groups + target, return_inverse=True)
    k = terms.devices
    couplers = k * terms.groups**2 // 2 + terms.groups * k * (k - 1) // 2 + len(key) * k * (k - 1)
    if couplers > COUPLER_LIMIT:
        what = f"expected a model of at most {COUPLER_LIMIT:,} couplers for a sampler, this one has {couplers:,}"
        raise InputError("solver", f"{what}; choose the solver auto, or colocate operators")
    share_s = balance_s(DeviceTypeCosts.of(terms)) or 1.0
    work = np.array([np.bincount(terms.group_of, row, terms.groups) for row in terms.work]) / share_s
    tight = np.isfinite(terms.capacity) & (terms.allowed.T @ terms.memory > terms.capacity)
    room = np.where(tight & (terms.capacity > 0), terms.capacity, np.inf)
    total = float(terms.capacity.sum())
    energy = np.zeros((k, k, len(key)))
    for d, h in zip(*np.nonzero(~np.eye(k, dtype=np.bool_)), strict=True):
        curve, paid = terms.link[d, h], terms.pays[h] + terms.pays[d] / readers
        sent = terms.send[curve, operator] / share_s if curve != NO_LINK else np.full(len(operator), FAR / 2)
        energy[d, h] = np.bincount(pair, 2 * paid * sent, len(key))
    index = np.full(terms.allowed.shape, -1)
    index[terms.allowed] = np.arange(int(terms.allowed.sum()))
    return Encoding(
        index=index,
        work=work,
        memory=terms.memory / room[:, None],
        fill=min(float(terms.memory.sum()) / total, 1.0) if total > 0 else 1.0,
        traffic=Traffic(key // terms.groups, key % terms.groups, energy),
    )


def _reads(terms: Terms) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return, for each operator and other group that reads it: its group, that group, itself, and how many read it."""
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    goal = terms.group_of[terms.consumer]
    key = distinct((producer * terms.groups + goal)[terms.group_of[producer] != goal])
    operator, target = key // terms.groups, key % terms.groups
    return terms.group_of[operator], target, operator, np.bincount(operator, minlength=1)[operator]
