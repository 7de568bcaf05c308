"""A plan that follows measured times, a move at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, check_amounts
from tiger.model.checking import check_values
from tiger.model.wording import describe
from tiger.placement.params import PlaceParams
from tiger.placement.solve import place_layers
from tiger.rebalancing.online.costs import DeviceCuts, FixedCosts, LayerCosts
from tiger.rebalancing.online.estimates import Estimates
from tiger.rebalancing.online.moves import distance, moves
from tiger.rebalancing.online.target import Targets
from tiger.run.options import SearchOptions
from tiger.training.arguments import Hardware, Model
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.limits import COST_LIMIT
from tiger.training.models.layers import Layers
from tiger.training.pairing import pair_layers
from tiger.training.sources import chain_model_of, cluster_of, require_cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialParams:
    """Set which plans are tried; gains are shares of the tolerance.

    Expected gains are means over `draws` of costs; the best lines by `goals` of them are goals several moves away. A
    move is tried for an expected gain of `first` at least, `growth` times as much after every step without a gain, as
    equally good plans go on promising a little, and at most `settled`, which holds once settled. A goal has to promise
    `far` of that, and to go on promising `kept` of that on the way. Once settled, a plan is left for a better one whose
    path leads through worse plans at `leaving` tolerances.
    """

    draws: int = 64
    goals: int = 16
    first: float = 0.02
    settled: float = 0.25
    growth: float = 1.15
    far: float = 0.5
    kept: float = 0.5
    leaving: float = 2.0


PARAMS = TrialParams()


class DistantTrial(NamedTuple):
    """Hold a line several moves away that is to be tried, the line that it is to beat, and the gain that is enough."""

    goal: DeviceCuts
    home: DeviceCuts
    least: float


class OnlinePlanner:
    """Adjust the plan of a pipeline to measured times of its stages, a move at a time.

    Model and cluster are what `place` takes for a chain. Costs of layers may be rough, or relative such as FLOPs, and
    speeds of devices guesses. The first `plan` is the best by these. `step` takes what was measured under `plan` and
    returns the next one, which differs by a move: one boundary between stages elsewhere, gone or new (its device is
    left out, or comes in), or two devices exchanged, one of which may be spare. Every plan fits the memory of the
    devices, of which it needs what layers hold all the time. Once nothing is known that would be better by `tolerance`,
    and no move promises to be, the planner is `settled` and the plan stays, until measurements change. `noise` is the
    relative error of a measurement. Same arguments, same plans. A step takes about 5 milliseconds at 32 layers and 8
    devices, and tens at 128.

    It is for costs that stay and are not known. `Rebalancer` is for costs that are measured and drift.

    Raises InputError that names the field at fault, also where no plan fits into memory, and TypeError.
    The setting is that of Shisha, arXiv:2202.11575, which gives layers of the slowest stage to a lighter neighbour.
    """

    def __init__(
        self, model: Model, cluster: Hardware, *, seed: int = 0, tolerance: float = 0.02, noise: float = 0.02
    ) -> None:
        check_values(SearchOptions(seed=seed))
        layers, devices = pair_layers(chain_model_of(model), require_cluster(cluster_of(cluster)))
        self._tolerance, self._count = _share("tolerance", tolerance), devices.size
        self._terms = FixedCosts.of(layers, devices)
        self._targets = Targets(layers, devices, self._terms, tolerance)
        slowdown = 1 / devices.speed
        self._estimates = Estimates(layers.forward_s + layers.backward_s, slowdown, _share("noise", noise))
        self._rng = np.random.default_rng(seed)
        self._line = _first_line(layers, devices, seed)
        self._least_s, self._enough = np.inf, PARAMS.first
        self._trial: DistantTrial | None = None
        # Whether trials several moves away may begin: until it has settled, and after a surprise.
        self._exploring = True
        self.settled, self.evaluations = False, 0

    @property
    def plan(self) -> Plan:
        """Return the plan to run next."""
        return Plan.line(*self._line)

    @property
    def bottleneck_s(self) -> float:
        """Return how long the slowest stage of the plan is estimated to take for one microbatch."""
        return float(self._terms.bottlenecks_s(self._estimates.costs, [self._line])[0])

    def step(self, times: Sequence[float]) -> Plan:
        """Take the seconds of each stage of `plan` for one microbatch, messages included, and return the next plan."""
        seconds = check_amounts("times", times, len(self._line.devices))
        if not seconds.any():
            raise InputError("times", f"expected {len(seconds)} seconds of which some are > 0, got all 0")
        if seconds.max() > COST_LIMIT:
            raise InputError("times", f"expected numbers from 0 to {COST_LIMIT:g}, got {seconds.max():g}")
        self.evaluations += 1
        self._estimates.measure(self._line, self._terms.messages_s([self._line])[0], seconds)
        self._raise_threshold()
        chosen = self._line if self._estimates.doubtful else self._choose_next()
        self.settled, self._line = chosen == self._line and not self._estimates.doubtful, chosen
        self._exploring = (self._exploring or self._estimates.doubtful) and not self.settled
        return self.plan

    def _raise_threshold(self) -> None:
        """Ask trials for more after a step without a gain; begin again after one with a gain, or a surprise."""
        if self._estimates.doubtful or self.bottleneck_s < self._least_s * (1 - self._tolerance):
            self._least_s, self._enough = self.bottleneck_s, PARAMS.first
        else:
            self._enough = min(PARAMS.settled, self._enough * PARAMS.growth)

    def _choose_next(self) -> DeviceCuts:
        """Return the line that is a move towards a better one, or that may be better, or the line itself."""
        near = self._list_moves()
        onward = self._continue_trial(near)
        if onward is not None:
            return onward
        best_s, target = self._targets.find_best(self._estimates.costs, self._line)
        enough = best_s * (1 + self._tolerance)
        # Several moves may lead through worse plans, which takes a clearer gain once settled.
        leave = best_s * (1 + PARAMS.leaving * self._tolerance) if self.settled else enough
        ahead = self._choose_towards(target, enough, near) if self.bottleneck_s > leave else None
        if ahead and self.settled:
            self._least_s, self._enough = np.inf, PARAMS.first
        return ahead or self._most_promising(near)

    def _list_moves(self) -> list[list[DeviceCuts]]:
        """Return the lines a move away that devices can hold, by their numbers of stages."""
        groups = groupby(moves(self._line, self._count), key=lambda line: len(line.devices))
        return [kept for _, lines in groups if (kept := self._terms.feasible_lines(list(lines)))]

    def _choose_towards(self, target: DeviceCuts, enough: float, near: list[list[DeviceCuts]]) -> DeviceCuts | None:
        """Return a line that is good enough, else the best of those nearer to a target, else one that is better."""
        costs = self._estimates.costs
        found = [pair for lines in near for pair in zip(self._terms.bottlenecks_s(costs, lines), lines, strict=True)]
        if not found:
            return None
        found.sort()
        if found[0][0] <= enough:
            return found[0][1]
        left = distance(self._line, target)
        nearer = next((line for _, line in found if distance(line, target) < left), None)
        return found[0][1] if nearer is None and found[0][0] < self.bottleneck_s else nearer

    def _most_promising(self, near: list[list[DeviceCuts]]) -> DeviceCuts:
        """Return the line with the largest expected gain over draws of costs, the present one if that is small."""
        drawn = self._estimates.draw(PARAMS.draws, self._rng)
        least = (PARAMS.settled if self.settled else self._enough) * self._tolerance
        found = self._choose_largest_gain(drawn, near, least)
        if found is None and self._exploring:
            found = self._begin_trial(drawn, near, PARAMS.far * least)
        return found or self._line

    def _begin_trial(self, drawn: LayerCosts, near: list[list[DeviceCuts]], least: float) -> DeviceCuts | None:
        """Return the first move to the most promising of the best lines by some draws, None where none is enough."""
        costs = (LayerCosts(drawn.ahead_s[k], drawn.slowdown[k]) for k in range(PARAMS.goals))
        lines = sorted(
            {self._targets.find_best(each, self._line)[1] for each in costs}, key=lambda line: (len(line.devices), line)
        )
        goal = self._choose_largest_gain(
            drawn, [list(alike) for _, alike in groupby(lines, key=lambda line: len(line.devices))], least
        )
        onward = None if goal is None else self._choose_onward(goal, near)
        self._trial = None if goal is None or onward is None else DistantTrial(goal, self._line, least)
        return onward

    def _continue_trial(self, near: list[list[DeviceCuts]]) -> DeviceCuts | None:
        """Return the next move to the goal, None where there is none that still promises enough."""
        trial, self._trial = self._trial, None
        if trial is None or trial.goal == self._line:
            return None
        gains = self._gains(self._estimates.draw(PARAMS.draws, self._rng), [trial.goal], trial.home)
        onward = self._choose_onward(trial.goal, near) if gains[0] > PARAMS.kept * trial.least else None
        self._trial = None if onward is None else trial
        return onward

    def _choose_largest_gain(
        self, drawn: LayerCosts, groups: list[list[DeviceCuts]], least: float
    ) -> DeviceCuts | None:
        """Return the line with the largest expected gain over the present one, None where none is above the least."""
        most, chosen = least, None
        for lines in groups:
            gains = self._gains(drawn, lines, self._line)
            first = int(gains.argmax())
            if gains[first] > most:
                most, chosen = float(gains[first]), lines[first]
        return chosen

    def _gains(self, drawn: LayerCosts, lines: list[DeviceCuts], home: DeviceCuts) -> FloatArray:
        """Return the expected gains [m] of m lines of p stages each over another one."""
        now = self._terms.bottlenecks_s(drawn, [home])
        return np.asarray(np.maximum(1 - self._terms.bottlenecks_s(drawn, lines) / now, 0).mean(axis=0))

    def _choose_onward(self, goal: DeviceCuts, near: list[list[DeviceCuts]]) -> DeviceCuts | None:
        """Return a goal that is a move away, else the best line that is nearer to it; None where there is none."""
        costs, left = self._estimates.costs, distance(self._line, goal)
        nearer = [line for lines in near for line in lines if distance(line, goal) < left]
        if goal in nearer:
            return goal
        return min(nearer, key=lambda line: self._terms.bottlenecks_s(costs, [line])[0], default=None)


def _first_line(layers: Layers, cluster: Cluster, seed: int) -> DeviceCuts:
    """Return the best line by the guessed costs."""
    placed = place_layers(layers, cluster, PlaceParams(seed=seed))
    if placed.plan is None or placed.violations:
        said = "; ".join(violation.message for violation in placed.violations)
        raise InputError("cluster/devices", f"expected devices that can hold the layers, got {said}")
    return DeviceCuts(placed.plan.cuts, tuple(placed.plan.grid.ravel().tolist()))


def _share(name: str, value: float) -> float:
    """Return a number above 0 and below 1."""
    if not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(name, f"expected a number above 0 and below 1, got {describe(value)}")
    return float(value)
