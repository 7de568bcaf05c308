"""The account of a placement of experts: what the map that was found makes of a step, beside others."""

import time

import numpy as np

from tiger.expert_maps.assignment import place_greedily
from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_loads
from tiger.expert_maps.report import (
    DeviceLoads,
    ExpertObjective,
    ExpertReport,
    ExpertStage,
    RoutingCost,
    SharedLoads,
    TokenShares,
)
from tiger.expert_maps.request import ExpertInputs, pad_batches
from tiger.expert_maps.shares.draws import Batches
from tiger.expert_maps.shares.solution import fix_shares, share_equally, share_loads, solve_shares
from tiger.expert_maps.slots.objective import price_slots, spread, sum_flow
from tiger.expert_maps.slots.starts import order_slots
from tiger.expert_maps.solve import ExpertAnswer, order_by_place
from tiger.model.arrays import FloatArray, IntArray
from tiger.training.plausibility import warn_implausible


def report_answer(request: ExpertInputs, answer: ExpertAnswer, begun: float) -> ExpertReport:
    """Report the answer to a request that began at some time."""
    demand, problem, loads = request.demand, request.slots, request.slots.loads
    order = order_slots(loads)
    before = order if problem.in_use is None else problem.in_use
    single = demand.problem if not request.options.replicas and loads.room is None else None
    held = DeviceLoads(
        before=_rows(_load_devices(request, before)),
        after=_rows(_load_devices(request, answer.slots)),
        bound=None if answer.found.largest is None or not problem.token else tuple(answer.found.largest.tolist()),
        speed=None if loads.speed is None else tuple(loads.speed.tolist()),
    )
    names = tuple(request.cluster.names[device] for device in request.devices.tolist())
    return ExpertReport(
        kind=request.options.kind,
        layers=loads.layers,
        experts=demand.weight.shape[1],
        replicas=request.options.replicas,
        top_k=demand.top_k,
        tokens=demand.tokens,
        held_out_tokens=demand.held_out_tokens,
        devices=names,
        slots=() if request.violations else _list_slots(loads, answer.slots),
        slots_of_devices=None if loads.room is None or request.violations else tuple(map(tuple, loads.room.tolist())),
        stages=() if request.violations else _list_stages(request, names, answer.slots, held),
        objective=ExpertObjective(
            unit=request.unit,
            before=price_slots(problem, before),
            after=price_slots(problem, answer.slots),
            bound=answer.found.bound,
        ),
        loads=held,
        shares=None if problem.sharing == "equal" or request.violations else _share_tokens(request, answer.slots),
        verdict=answer.verdict,
        placed=_cost(request, answer.slots),
        contiguous=_cost(request, order),
        greedy=None if single is None else _cost(request, order_by_place(place_greedily(single))),
        flat=None if answer.flat is None else _cost(request, answer.flat),
        feasible=not request.violations,
        violations=request.violations,
        seed=request.options.seed,
        progress=tuple(answer.found.stages),
        warnings=(*warn_implausible(request.cluster), *answer.remarks),
        seconds=time.perf_counter() - begun,
        flows=_flows(request, before, answer.slots),
    )


def _load_devices(request: ExpertInputs, slots: IntArray) -> FloatArray:
    """Return the loads of devices [L, G] under a map, by the best shares where these are balanced."""
    loads = request.slots.loads
    if request.slots.sharing == "equal":
        return gpu_loads(loads, slots)
    return np.asarray(share_loads(loads, slots, fix_shares(loads, slots, loads.weight), loads.weight[None])[0])


def _share_tokens(request: ExpertInputs, slots: IntArray) -> TokenShares:
    """Return the best shares of a map for mean loads, and what equal, fixed and solved ones make of batches."""
    problem, loads = request.slots, request.slots.loads
    shares = fix_shares(loads, slots, loads.weight)
    padded = pad_batches(request.demand.batches, loads)
    return TokenShares(
        batches=len(padded.weights),
        slots=tuple(tuple(row[real].tolist()) for row, real in zip(shares, loads.real, strict=True)),
        given=_compare_shares(loads, slots, shares, padded),
        drawn=_compare_shares(loads, slots, shares, problem.batches or padded),
    )


def _compare_shares(loads: ExpertLoads, slots: IntArray, shares: FloatArray, batches: Batches) -> SharedLoads:
    """Return the largest loads of a map in batches by how replicas share tokens."""
    equal, fixed = (
        share_loads(loads, slots, some, batches.loads) / loads.speeds
        for some in (share_equally(slots, loads.experts), shares)
    )
    solved = solve_shares(loads, slots, batches.loads).largest
    return SharedLoads(
        equal=float(batches.weights @ equal.max(axis=2).sum(axis=1)),
        fixed=float(batches.weights @ fixed.max(axis=2).sum(axis=1)),
        solved=float(batches.weights @ solved.sum(axis=1)),
        mean=float(batches.mean.sum() / loads.speeds.sum()),
    )


def _flows(request: ExpertInputs, *maps: IntArray) -> tuple[FloatArray, ...] | None:
    """Return the transitions between devices [G, G] under maps, None for loads alone."""
    problem = request.demand.problem
    if problem is None:
        return None
    return tuple(sum_flow(problem.counts, _spread(request, slots)) for slots in maps)


def _spread(request: ExpertInputs, slots: IntArray) -> FloatArray:
    """Return which share of each expert's replicas is on each device, [L, E, G]."""
    return spread(request.slots.loads, slots)[:, : request.demand.weight.shape[1]]


def _rows(table: FloatArray) -> tuple[tuple[float, ...], ...]:
    """Return the rows of a table."""
    return tuple(tuple(row) for row in table.tolist())


def _list_slots(loads: ExpertLoads, slots: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the experts of the slots that devices have."""
    return tuple(tuple(row[real].tolist()) for row, real in zip(slots, loads.real, strict=True))


def _list_stages(
    request: ExpertInputs, names: tuple[str, ...], slots: IntArray, loads: DeviceLoads
) -> tuple[ExpertStage, ...]:
    """Return the experts of every device, by layer, its loads, and what it holds."""
    parts = slots.reshape(len(slots), len(names), -1)
    size = request.options.expert_bytes
    held = request.slots.loads.real.reshape(parts.shape).sum(axis=(0, 2)).tolist()
    room = np.maximum(request.cluster.memory_bytes[request.devices] - request.options.reserved_bytes, 0.0)
    after, before = np.sum(loads.after, axis=0).tolist(), np.sum(loads.before, axis=0).tolist()
    return tuple(
        ExpertStage(
            device=name,
            ops=tuple(
                f"{layer}:{expert}"
                for layer, row in enumerate(parts[:, k].tolist())
                for expert in sorted(set(row) - {request.slots.loads.blank})
            ),
            load=after[k],
            load_before=before[k],
            memory_bytes=None if size is None else size * held[k],
            capacity_bytes=None if size is None or not np.isfinite(room[k]) else float(room[k]),
        )
        for k, name in enumerate(names)
    )


def _cost(request: ExpertInputs, slots: IntArray) -> RoutingCost | None:
    """Return what a map comes to on the counts of both parts of the tokens, None for loads alone."""
    problem, tests = request.demand.problem, request.demand.tests
    if problem is None:
        return None
    share = _spread(request, slots)
    crossing, hops = _means(sum_flow(problem.counts, share), problem.hops)
    test = (None, None) if tests is None else _means(sum_flow(tests, share), problem.hops)
    return RoutingCost(crossing=crossing, hops=hops, held_out_crossing=test[0], held_out_hops=test[1])


def _means(flow: FloatArray, hops: FloatArray) -> tuple[float, float]:
    """Return the share of transitions that change device, and their mean hop."""
    every = float(flow.sum())
    return float(flow[hops > 0].sum()) / every, float((flow * hops).sum()) / every
