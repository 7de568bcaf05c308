"""What is asked of a placement of experts, read and checked: loads, transitions, devices, prices and the map in use."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiger.errors import InputError
from tiger.expert_maps.arguments import ExpertArguments, Source
from tiger.expert_maps.costs import ExpertProblem
from tiger.expert_maps.hops import LONG_BYTES, hop_weights, hosts_of_experts
from tiger.expert_maps.loads_file import FIELD as LOADS
from tiger.expert_maps.loads_file import read_batches
from tiger.expert_maps.maps.expert_map import FIELD as MAP
from tiger.expert_maps.maps.formats import read_map
from tiger.expert_maps.params import ExpertOptions
from tiger.expert_maps.replicas.loads import SLOTS_MAX, ExpertLoads, check_map
from tiger.expert_maps.rooms import SlotDemand, explain_equal_lack, explain_lack, share_slots
from tiger.expert_maps.shares.draws import Batches, DrawParams, draw_batches, weigh_batches
from tiger.expert_maps.slots.objective import SlotProblem
from tiger.expert_maps.traces import read_trace, split_trace
from tiger.expert_maps.transitions import count_transitions
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.options import narrow
from tiger.model.violation import Violation
from tiger.model.wording import describe
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.sources import cluster_of, require_cluster

IN_USE = "in_use"
# The drawn batches that maps with balanced shares are judged on; runs number those that they are made on.
JUDGED = 2**31
# Slots in all layers of all batches, given or drawn: those of 94 layers of 2,788 slots, searched in 1 GB.
BATCH_SLOTS_MAX = 2**24
# Seconds of a step, transitions by their hops, or tokens of largest loads.
Unit = Literal["s", "hops", "tokens"]


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """Hold what a step asks for: `weight` [L, E] tokens of experts, and how many tokens say so.

    `weight` is the mean of the `batches`, one of them where only that is known. `problem` has the transitions of the
    tokens and the hops of devices, `tests` those of the tokens that are held out; None for loads alone, and without
    such tokens.
    """

    weight: FloatArray
    batches: Batches
    problem: ExpertProblem | None = None
    tests: FloatArray | None = None
    tokens: int = 0
    held_out_tokens: int = 0
    top_k: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ExpertInputs:
    """Hold what a step asks for, the devices of a cluster that hold experts, prices in a unit, and checked options.

    `violations` say what does not fit into memory.
    """

    demand: Demand
    cluster: Cluster
    devices: IntArray
    slots: SlotProblem
    unit: Unit
    options: ExpertOptions
    violations: tuple[Violation, ...] = ()

    @property
    def transitions_alone(self) -> ExpertProblem | None:
        """Return the transitions where nothing else counts, and each expert is on one device; None elsewhere."""
        loads = self.slots.loads
        beside = self.options.replicas or self.slots.in_use is not None or loads.pools > 1 or loads.room is not None
        return None if beside or self.unit != "hops" else self.demand.problem


def read_request(call: ExpertArguments, options: ExpertOptions) -> ExpertInputs:
    """Return what is asked; raise InputError that names the field at fault, or TypeError."""
    batches = weigh_batches(read_batches(call.trace), options.decay) if options.kind == "loads" else None
    trace = read_trace(call.trace) if batches is None else None
    cluster = require_cluster(cluster_of(call.cluster, narrow(HostArguments, call)))
    devices = hosts_of_experts(cluster)
    hops = hop_weights(cluster, devices)
    experts = options.experts or 0 if batches is None else batches.loads.shape[2]
    if options.experts not in (None, experts):
        raise InputError("experts", f"expected {experts}, those of the loads, got {options.experts}")
    nodes = 1 if options.groups is None else _count_machines(cluster.machine[devices], options.groups, experts)
    _check_slots(options, experts, len(devices), nodes)
    demand = _count_trace(trace, options, hops) if batches is None else Demand(batches.mean, batches)
    _check_batches(options, demand)
    wanted = _count_slots(demand, options, cluster, devices)
    room, violations = _share_slots(wanted, options, call.in_use, [cluster.names[k] for k in devices.tolist()])
    loads = _load_devices(demand.weight, options, nodes, _relate_speeds(cluster.speed[devices]), (len(devices), room))
    in_use = None if call.in_use is None else _read_in_use(call.in_use, loads)
    _check_in_use(options, in_use)
    unit, slots = _price(demand, loads, options, cluster.table_s(LONG_BYTES)[np.ix_(devices, devices)], in_use)
    return ExpertInputs(demand, cluster, devices, slots, unit, options, violations)


def array_of_rows(field: str, rows: list[object]) -> NDArray[np.generic]:
    """Return nested lists as an array; raise InputError of a field for lists that are not of one length."""
    try:
        return np.array(rows)
    except (ValueError, OverflowError) as error:
        raise InputError(field, "expected lists of numbers, all of one length, got others") from error


def _count_slots(demand: Demand, options: ExpertOptions, cluster: Cluster, devices: IntArray) -> SlotDemand:
    """Return how many slots layers need, and what devices have for them."""
    layers, experts = demand.weight.shape
    return SlotDemand(
        layers=layers,
        slots=experts + options.replicas,
        most=experts * options.duplicates,
        shares=np.ones(len(devices)) if options.slots_by == "device" else cluster.speed[devices],
        expert_bytes=options.expert_bytes or 0.0,
        memory_bytes=cluster.memory_bytes[devices] - options.reserved_bytes,
    )


def _share_slots(
    wanted: SlotDemand, options: ExpertOptions, in_use: Source | None, names: Sequence[str]
) -> tuple[IntArray | None, tuple[Violation, ...]]:
    """Return the slots of devices in layers, [L, G], None for as many on all, and what memory does not hold."""
    if in_use is not None and options.slots_by == "speed":
        raise InputError("slots_by", "expected no map in_use beside it, which has as many slots on every device")
    if in_use is not None or options.groups is not None:
        lack = explain_equal_lack(wanted, names)
        return None, () if lack is None else (lack,)
    room, violations = share_slots(wanted), tuple[Violation, ...]()
    if room is None:
        room, violations = share_slots(wanted._replace(expert_bytes=0.0)), (explain_lack(wanted),)
    return None if room is None or (room == room[0, 0]).all() else room, violations


def _load_devices(
    weight: FloatArray,
    options: ExpertOptions,
    nodes: int,
    speed: FloatArray | None,
    slots: tuple[int, IntArray | None],
) -> ExpertLoads:
    """Return the loads for devices of speeds, of a number and with slots in each layer, or with as many slots each."""
    devices, room = slots
    if room is None:
        number = weight.shape[1] + options.replicas
        return ExpertLoads(weight, number, options.groups or 1, nodes, devices, options.duplicates, speed)
    number = devices * int(room.max())
    if number > SLOTS_MAX:
        what = f"expected at most {SLOTS_MAX} slots a layer, if all devices had as many as one, got {number}"
        raise InputError("replicas" if options.replicas else "experts", what)
    whole = np.pad(weight, ((0, 0), (0, 1)))
    return ExpertLoads(whole, number, 1, 1, devices, options.duplicates, speed, room)


def _relate_speeds(speed: FloatArray) -> FloatArray | None:
    """Return the speeds of devices over the largest, None where all are the same."""
    return None if (speed == speed[0]).all() else np.asarray(speed / speed.max())


def _check_slots(options: ExpertOptions, experts: int, devices: int, nodes: int) -> None:
    """Raise InputError unless all devices have as many slots, no more than the experts of a node may fill."""
    slots = experts + options.replicas
    if slots % devices and options.slots_by == "device":
        what = f"expected a multiple of the {devices} accelerators"
        if not options.replicas:
            raise InputError("experts", f"{what}, got {describe(experts)}")
        raise InputError("replicas", f"{what} with the {experts} experts, got {options.replicas}")
    if slots > SLOTS_MAX:
        raise InputError("replicas" if options.replicas else "experts", f"expected at most {SLOTS_MAX} slots a layer")
    held = experts // nodes
    if slots > devices * held * options.duplicates:
        where = " of a machine" if nodes > 1 else ""
        raise InputError(
            "replicas",
            f"expected at most {held * options.duplicates} slots a device for {held} experts{where} and "
            f"{options.duplicates} of each, got {-(-slots // devices)}",
        )


def _check_batches(options: ExpertOptions, demand: Demand) -> None:
    """Raise InputError for more batches, layers and slots than can be searched."""
    batches, layers, experts = demand.batches.loads.shape
    if batches == 1 and options.sharing == "equal":
        return
    number = max(batches, DrawParams().batches)
    if (slots := number * layers * (experts + options.replicas)) > BATCH_SLOTS_MAX:
        what = f"expected at most {BATCH_SLOTS_MAX:,} slots in all layers of {number:,} batches, got {slots:,}"
        raise InputError("trace" if options.kind == "trace" else LOADS, what)


def _count_machines(machine: IntArray, groups: int, experts: int) -> int:
    """Return how many machines there are; raise InputError of `groups` unless each can have as many of them."""
    if experts % groups:
        raise InputError("groups", f"expected a divisor of the {experts} experts, got {groups}")
    names = list(dict.fromkeys(machine.tolist()))
    if not np.array_equal(machine, np.repeat(names, len(machine) // len(names))):
        raise InputError("groups", "expected machines of as many accelerators each, one after another, got others")
    if groups % len(names):
        raise InputError("groups", f"expected a multiple of the {len(names)} machines, got {groups}")
    return len(names)


def _count_trace(trace: NDArray[np.integer] | None, options: ExpertOptions, hops: FloatArray) -> Demand:
    """Return what the tokens of a trace ask for."""
    if trace is None or options.experts is None:
        raise InputError("trace", "expected a trace, got none")
    training, held_out = split_trace(trace, options.held_out)
    counts = count_transitions(training, options.experts)
    top_k = trace.shape[2]
    tokens = len(training) if options.step_tokens is None else options.step_tokens
    weight = np.vstack([counts.sum(axis=2), counts[-1:].sum(axis=1)]) / top_k * (tokens / len(training))
    return Demand(
        weight=weight,
        batches=weigh_batches(weight[None], 1.0),
        problem=ExpertProblem(counts, hops),
        tests=count_transitions(held_out, options.experts, len(training)) if len(held_out) else None,
        tokens=len(training),
        held_out_tokens=len(held_out),
        top_k=top_k,
    )


def _read_in_use(source: Source, loads: ExpertLoads) -> IntArray:
    """Return the map in use [L, S] of an array or a file; raise InputError of `in_use`, or a place in it."""
    if isinstance(source, np.ndarray):
        return check_map(loads, IN_USE, source)
    if not isinstance(source, str | Path):
        raise TypeError(f"expected in_use as an array or a path, got {type(source).__name__}")
    try:
        found = read_map(Path(source), loads.num_gpus, loads.experts).phy2log
    except InputError as error:
        # Readers of maps name places in a file as such; "gpus" is what the file says beside the cluster.
        raise InputError(error.field.replace(MAP, IN_USE, 1) if MAP in error.field else IN_USE, error.reason) from None
    return check_map(loads, IN_USE, found)


def _check_in_use(options: ExpertOptions, in_use: IntArray | None) -> None:
    """Raise InputError for an option of moves where nothing is in use."""
    if options.most_moves is not None and in_use is None:
        raise InputError("most_moves", "expected the map in_use beside it, got none")


def _price(
    demand: Demand, loads: ExpertLoads, options: ExpertOptions, seconds: FloatArray, in_use: IntArray | None
) -> tuple[Unit, SlotProblem]:
    """Return what is made small and its unit, from the `seconds` [G, G] of long messages between devices.

    All devices send and receive at a time, so that links and moves count as means over devices.
    """
    unit: Unit = "tokens" if demand.problem is None else "hops"
    if options.token_s is not None or options.token_bytes is not None:
        unit = "s"
    per_byte = seconds / LONG_BYTES / len(seconds)
    counts, hops = np.zeros((0, loads.experts, loads.experts)), np.zeros_like(seconds)
    if demand.problem is not None and unit == "hops":
        counts, hops = demand.problem.counts, demand.problem.hops / demand.problem.counts.sum()
    elif demand.problem is not None and options.token_bytes is not None:
        counts = demand.problem.counts * ((options.step_tokens or demand.tokens) / demand.tokens)
        hops = per_byte * options.token_bytes
    if loads.room is not None and len(counts):
        counts = np.pad(counts, ((0, 0), (0, 1), (0, 1)))
    return unit, SlotProblem(
        loads=loads,
        counts=counts,
        token=1.0 if unit == "tokens" else options.token_s or 0.0,
        hops=hops,
        receipts=per_byte * ((options.expert_bytes or 0.0) if unit == "s" else 0.0) / options.steps,
        in_use=in_use,
        most_moves=options.most_moves,
        batches=_judge(pad_batches(demand.batches, loads), options),
        sharing=options.sharing,
    )


def _judge(given: Batches, options: ExpertOptions) -> Batches | None:
    """Return the batches that maps are judged on: drawn ones for balanced shares, else those given, if several."""
    if options.sharing == "balanced":
        return draw_batches(given, DrawParams(), options.seed, JUDGED)
    return given if len(given.weights) > 1 else None


def pad_batches(given: Batches, loads: ExpertLoads) -> Batches:
    """Return batches with the last expert of the loads where that is none."""
    extra = loads.experts - given.loads.shape[2]
    return Batches(np.pad(given.loads, ((0, 0), (0, 0), (0, extra))), given.weights)
