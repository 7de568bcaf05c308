"""The rebalancer: times of layers or stages come in, and the plan stays or moves."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.placement.params import PlaceParams
from tiger.placement.search.problem import MICROBATCHES
from tiger.rebalancing.balancing import Balanced, Interval, balance_exactly, balance_locally
from tiger.rebalancing.decision import Decision, explain_kept, explain_moves
from tiger.rebalancing.layer_times import LayerTimes, check_loads
from tiger.rebalancing.line_costs import Cuts, LineCosts, PipelineCosts
from tiger.rebalancing.moving import homes_of, list_moves, prices_s
from tiger.rebalancing.packing import pack_line, quickest_plan
from tiger.rebalancing.params import MOST_LAYERS, MOST_STAGES, RebalanceOptions
from tiger.rebalancing.replacement import Start, lines_anew, lines_without, place_in_time
from tiger.rebalancing.state import RebalancerState, find_devices, plan_by_names
from tiger.training.arguments import Hardware, Model
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.limits import COST_LIMIT
from tiger.training.models.layers import Layers
from tiger.training.pairing import pair_layers
from tiger.training.sources import chain_model_of, cluster_of, require_cluster

DEFAULTS = RebalanceOptions()
NO_PLAN = "no plan was found on the devices that are left"


class Rebalancer:
    """Keep the plan of a pipeline, or move layers, as their times change: pruning, freezing, early exit, experts.

    Model and cluster are what `place` takes for a chain. The first `plan` is the one given, or the best by the times of
    the model. `step` takes what layers or stages took since the last step, and decides with what the rest of the
    interval costs: iterations by the simulator of the schedule, and moves by the bytes that layers hold all the time
    over the links between the devices. Every plan fits the memory of the devices with the microbatches that the
    schedule has in flight; layers keep their order, and devices theirs. `lose` replans where a device is gone, `pack`
    frees devices. Same arguments, same decisions, unless the search for a first plan, or for one anew where devices are
    lost, is ended after ten seconds. A step takes a few milliseconds at 128 layers and 8 devices.

    `OnlinePlanner` is for costs that stay and are not known: it learns them, and the slowdowns of devices, from stages,
    one move at a time, and tries plans to learn. A `Rebalancer` is for costs that are measured and drift: it trusts
    every measurement, moves all layers at once, and only where that pays.

    Raises InputError that names the field at fault, also where no plan fits into memory, and TypeError.
    Source: the setting of DynMo, arXiv:2505.14864, with an exact program, prices of moves, and simulated choices.
    """

    def __init__(
        self,
        model: Model,
        cluster: Hardware,
        *,
        plan: Plan | None = None,
        options: RebalanceOptions = DEFAULTS,
    ) -> None:
        layers, devices = pair_layers(chain_model_of(model), require_cluster(cluster_of(cluster)))
        _check_kinds(plan, options)
        _check_sizes(layers, devices)
        self._options, self._times, self._lost = options, LayerTimes.of(layers), set[int]()
        first = _first_plan(layers, devices, options) if plan is None else plan
        order = line_of(first, layers, devices)
        self._line = PipelineCosts(
            layers=layers,
            cluster=devices,
            devices=order,
            schedule=options.schedule,
            microbatches=options.microbatches or MICROBATCHES * len(order),
        )
        self._cuts: Cuts = first.cuts
        if not self._line.fits(self._cuts):
            raise InputError("plan", "expected stages that fit into memory and have links, got others")

    @classmethod
    def restore(
        cls, model: Model, cluster: Hardware, state: RebalancerState, *, options: RebalanceOptions = DEFAULTS
    ) -> Self:
        """Return a rebalancer that goes on from a state, by the model, the cluster and the options that led there.

        It decides as the one that had the state would have. Raises InputError of `state` or below for a state of
        another model or cluster, and as for a new one.
        """
        devices = require_cluster(cluster_of(cluster))
        plan = plan_by_names(state.cuts, state.devices, devices.names, "state")
        restored = cls(model, devices, plan=plan, options=replace(options, microbatches=state.microbatches))
        restored._times = state.times(restored.line.layers.size)
        restored._lost = set(find_devices(state.lost, devices.names, "state/lost"))
        return restored

    @property
    def state(self) -> RebalancerState:
        """Return what `restore` goes on from, as a document of plain values: `to_dict` and `from_dict`."""
        names = self._line.cluster.names
        return RebalancerState(
            cuts=self._cuts,
            devices=tuple(names[k] for k in self._line.devices),
            lost=tuple(names[k] for k in sorted(self._lost)),
            microbatches=self._line.microbatches,
            forward_s=tuple(self._times.forward_s.tolist()),
            backward_s=tuple(self._times.backward_s.tolist()),
        )

    @property
    def options(self) -> RebalanceOptions:
        """Return the options it was made with."""
        return self._options

    @property
    def plan(self) -> Plan:
        """Return the plan in use."""
        return Plan.line(self._cuts, self._line.devices)

    @property
    def line(self) -> PipelineCosts:
        """Return the devices in a row, with the model and the schedule on them."""
        return self._line

    @property
    def times(self) -> LayerTimes:
        """Return the times of layers as last measured, at speed 1."""
        return self._times

    def step(self, loads: ArrayLike) -> Decision:
        """Take the seconds of each layer, or of each stage of `plan`, for one microbatch, and decide.

        One row is of forward and backward passes together, two rows are of the forward and of the backward ones;
        messages are not in it. Of stages, all layers of one are taken to have changed alike. Raises InputError of
        `loads`.
        """
        begun = time.perf_counter()
        self._check_devices()
        seconds = check_loads(loads, self._line.layers.size, self._line.positions)
        self._times = self._measure(seconds)
        interval = self._interval(self._line)
        found = self._balance(interval, self._cuts) or interval.judge(self._cuts)
        kept, steps = interval.judge(self._cuts), self._options.iterations
        total = steps * found.iteration_s + found.moving_s
        if steps * kept.iteration_s * (1 - self._options.threshold) <= total:
            why = explain_kept(kept.iteration_s, found.iteration_s, self._options.threshold)
            return self._report(Balanced(self._cuts, kept.iteration_s, 0.0), kept, found, why, begun)
        return self._adopt(self._line, found, kept, begun)

    def lose(self, device: str) -> Decision:
        """Plan anew without a device, by its name, that is gone for good, and say what moves.

        Its layers come from a checkpoint or a replica, over no link that is priced. A spare device of the cluster may
        take its place. Raises InputError of `device` for one that is unknown or gone already.
        """
        begun, names = time.perf_counter(), self._line.cluster.names
        if device not in names or names.index(device) in self._lost:
            known = ", ".join(name for k, name in enumerate(names) if k not in self._lost)
            raise InputError("device", f"expected one of {known}, got {describe(device)}")
        number = names.index(device)
        self._lost.add(number)
        if not self._lost.intersection(self._line.devices):
            kept = self._interval(self._line).judge(self._cuts)
            return self._report(kept, kept, kept, f"{device} held no layers", begun)
        homes = tuple(None if home in self._lost else home for home in homes_of(self._cuts, self._line.devices))
        found = self._best_line(lines_without(self._line, self._lost), homes)
        found = found or self._best_line(lines_anew(self._line, self._lost, self._times), homes)
        return _stop(begun) if found is None else self._adopt(*found, None, begun, homes)

    def pack(self, target_s: float) -> Decision:
        """Move to as few devices as keep an iteration within `target_s` seconds, by the times last measured.

        The fewest devices are searched for as `pack_line` says; of equal ones those at the end of the line go. They are
        spare from then on. The plan stays where none can go. Raises InputError of `target_s`.
        """
        begun = time.perf_counter()
        self._check_devices()
        if isinstance(target_s, bool) or not isinstance(target_s, int | float) or not 0 < target_s <= COST_LIMIT:
            raise InputError(
                "target_s", f"expected a number above 0 and at most {COST_LIMIT:g}, got {describe(target_s)}"
            )
        homes = homes_of(self._cuts, self._line.devices)
        kept = self._interval(self._line).judge(self._cuts)
        packed = pack_line(self._line, self._times, target_s)
        quickest = quickest_plan(packed, self._times)
        if packed.positions == self._line.positions or quickest is None:
            return self._report(kept, kept, kept, f"no device can go within {target_s:g} s an iteration", begun)
        interval = self._interval(packed, homes)
        found = self._balance(interval, None)
        # The plan with fewer moves may be a little slower than the time allows.
        if found is None or found.iteration_s > target_s:
            found = interval.judge(quickest.cuts)
        return self._adopt(packed, found, kept, begun, homes)

    def _check_devices(self) -> None:
        """Raise InputError where the plan in use has a lost device, as no other was found."""
        if self._lost.intersection(self._line.devices):
            raise InputError("cluster/devices", f"expected devices that can hold the layers, but {NO_PLAN}")

    def _measure(self, seconds: np.ndarray) -> LayerTimes:
        """Return times of layers that agree with a measurement [1 or 2, L or p]."""
        slowdown = 1 / self._line.cluster.speed[list(self._line.devices)]
        if seconds.shape[1] == self._line.layers.size:
            return self._times.measure(seconds, np.repeat(slowdown, np.diff(self._cuts)))
        return self._times.scale(seconds, self._cuts, slowdown)

    def _interval(self, line: PipelineCosts, homes: tuple[int | None, ...] | None = None) -> Interval:
        """Return the costs of the interval on a line, from where layers are."""
        held = homes_of(self._cuts, self._line.devices) if homes is None else homes
        return Interval(LineCosts(line=line, times=self._times), prices_s(line, held), self._options.iterations)

    def _balance(self, interval: Interval, now: Cuts | None) -> Balanced | None:
        """Return the plan that the balancer finds."""
        balance = balance_exactly if self._options.balancer == "exact" else balance_locally
        return balance(interval, now)

    def _best_line(self, starts: list[Start], homes: tuple[int | None, ...]) -> tuple[PipelineCosts, Balanced] | None:
        """Return the line whose iterations and moves take least, with its plan; None where none can hold the layers."""
        steps = self._options.iterations
        plans = ((line, self._balance(self._interval(line, homes), cuts)) for line, cuts in starts)
        found = [(line, plan) for line, plan in plans if plan is not None]
        return min(found, key=lambda one: steps * one[1].iteration_s + one[1].moving_s, default=None)

    def _adopt(
        self,
        line: PipelineCosts,
        found: Balanced,
        kept: Balanced | None,
        begun: float,
        homes: tuple[int | None, ...] | None = None,
    ) -> Decision:
        """Return the decision to move, and use the plan from now on."""
        held = homes_of(self._cuts, self._line.devices) if homes is None else homes
        moves = list_moves(line, held, found.cuts)
        left = [k for k in self._line.devices if k not in line.devices and k not in self._lost]
        self._line, self._cuts = line, found.cuts
        why = explain_moves(moves, None if kept is None else kept.iteration_s, found.iteration_s)
        decision = self._report(found, kept, found, why, begun)
        saved = 0.0 if kept is None else kept.iteration_s - found.iteration_s
        return replace(
            decision,
            action="move",
            moves=moves,
            moved_layers=sum(move.layers for move in moves),
            moved_bytes=sum(move.moved_bytes for move in moves),
            moving_s=sum(move.seconds for move in moves),
            break_even=found.moving_s / saved if saved > 0 else None,
            freed=tuple(line.cluster.names[k] for k in left),
        )

    def _report(self, used: Balanced, kept: Balanced | None, best: Balanced, why: str, begun: float) -> Decision:
        """Return the decision for the plan in use."""
        names = self._line.cluster.names
        return Decision(
            action="keep",
            why=why,
            cuts=used.cuts,
            devices=tuple(names[k] for k in self._line.devices),
            iteration_s=used.iteration_s,
            kept_s=None if kept is None else kept.iteration_s,
            best_s=best.iteration_s,
            lower_bound_s=LineCosts(line=self._line, times=self._times).lower_bound_s(),
            plan=self.plan,
            seconds=time.perf_counter() - begun,
        )


def _stop(begun: float) -> Decision:
    """Return the decision where no plan is left."""
    return Decision(
        action="stop",
        why=NO_PLAN,
        cuts=(),
        devices=(),
        iteration_s=None,
        kept_s=None,
        best_s=None,
        lower_bound_s=None,
        seconds=time.perf_counter() - begun,
    )


def _check_kinds(plan: object, options: object) -> None:
    """Raise InputError that names what is of another kind than it has to be."""
    if not isinstance(plan, Plan | None):
        raise InputError("plan", f"expected a Plan, got {describe(plan)}")
    if not isinstance(options, RebalanceOptions):
        raise InputError("options", f"expected RebalanceOptions, got {describe(options)}")


def _check_sizes(layers: Layers, cluster: Cluster) -> None:
    """Raise InputError for more layers than are decided on in seconds, and for numbers whose products may overflow."""
    if layers.size > MOST_LAYERS:
        raise InputError("model", f"expected at most {MOST_LAYERS} layers, got {layers.size}")
    for name in ("forward_s", "backward_s"):
        most = float(getattr(layers, name).max())
        if most > COST_LIMIT:
            raise InputError(f"model/{name}", f"expected numbers from 0 to {COST_LIMIT:g}, got {most:g}")
    wild = cluster.speed[(cluster.speed > COST_LIMIT) | (cluster.speed < 1 / COST_LIMIT)]
    if wild.size:
        what = f"expected numbers from {1 / COST_LIMIT:g} to {COST_LIMIT:g}, got {wild[0]:g}"
        raise InputError("cluster/devices/speed", what)


def _first_plan(layers: Layers, cluster: Cluster, options: RebalanceOptions) -> Plan:
    """Return the best plan by the times of the model."""
    params = PlaceParams(schedule=options.schedule, microbatches=options.microbatches, pipeline=options.pipeline)
    if options.pipeline is not None and options.pipeline > min(layers.size, cluster.size):
        most = f"at most {min(layers.size, cluster.size)}, the devices and layers there are"
        raise InputError("pipeline", f"expected {most}, got {options.pipeline}")
    placed = place_in_time(layers, cluster, params)
    if placed.plan is None or placed.violations:
        said = "; ".join(violation.message for violation in placed.violations)
        raise InputError("cluster/devices", f"expected devices that can hold the layers, got {said}")
    return placed.plan


def line_of(plan: Plan, layers: Layers, cluster: Cluster) -> tuple[int, ...]:
    """Return the devices of a plan of one stage and one device a position, or raise InputError of `plan`."""
    order: Sequence[int] = plan.grid.ravel().tolist()
    if plan.grid.size != plan.positions or plan.virtual != 1 or plan.style != "loop":
        raise InputError("plan", "expected one device and one stage a position, got more")
    if plan.cuts[0] != 0 or plan.cuts[-1] != layers.size or not all(0 <= k < cluster.size for k in order):
        raise InputError("plan", f"expected cuts from 0 to {layers.size} on devices of the cluster, got others")
    if len(order) > MOST_STAGES:
        raise InputError("pipeline", f"expected at most {MOST_STAGES} stages, got {len(order)}")
    return tuple(order)
