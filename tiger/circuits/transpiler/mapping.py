"""The mapping of a Qiskit circuit on a device: model, Qiskit's own answer, search, and the routed circuit."""

import logging
import os
import time
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import CouplingMap, Target, TranspilerError

from tiger.circuits.incumbent import Mapped
from tiger.circuits.optimization_levels import PARAMS_OF_LEVEL
from tiger.circuits.params import FusingParams, LayoutParams
from tiger.circuits.solve import HOLDING_LEVEL, map_along_path, map_circuit
from tiger.circuits.transpiler.aim import RouteAim, aim_of
from tiger.circuits.transpiler.blocks import price_swaps
from tiger.circuits.transpiler.emission import Emission, emit
from tiger.circuits.transpiler.exits import NEEDS_SWAPS, has_exits, keeps_exits
from tiger.circuits.transpiler.fitting import choose_coupling, list_apart, list_fitting
from tiger.circuits.transpiler.flow import Blocks, count_cx, route_in_place
from tiger.circuits.transpiler.model import CircuitModel, model_of
from tiger.circuits.transpiler.panic import catch_panics, may_panic
from tiger.circuits.transpiler.sabre import find_vf2_layout, route_of, run_sabre, run_sabre_routing
from tiger.circuits.transpiler.sabre_passes import estimate_layout_s, run_sabre_passes
from tiger.circuits.transpiler.source import copy_circuit
from tiger.circuits.transpiler.target import find_faulty_qubits, listed_coupling, map_of, restrict_pairs, working_device
from tiger.errors import InputError
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.embedding import EmbeddingParams, needs_swaps
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.objectives import RouteObjective
from tiger.routing.route import Route
from tiger.routing.swaps.linear import place_on_path

LOG = logging.getLogger(__name__)

# A time limit that is over is this long, as limits are above 0.
SHORT_S = 1e-3
# Level 0 promises nothing and is quick; from level 1 on SABRE's answer is known before the search.
INCUMBENT_LEVEL = 1
# The variable that has Qiskit run as many trials of SABRE as there are threads.
MORE_TRIALS = "QISKIT_SABRE_ALL_THREADS"
# The level at which blocks of control flow are routed, by that of the circuit: there may be many of them.
BLOCK_LEVELS = (0, 0, 0, 1)


class Mapping(NamedTuple):
    """Return the routed circuit with its places, what the search says of it, and SABRE's circuit if that was asked.

    `coupling` has the pairs of the device that it may use. `perfect` says that the layout is the one without SWAPs that
    Qiskit's VF2 finds best by the error rates of the device, behind which its presets look for no other qubits. `plain`
    is SABRE's circuit where it is that of Qiskit's own layout stage, and `is_plain` says that it is the routed circuit.
    """

    emission: Emission
    mapped: Mapped
    sabre: Emission | None
    coupling: Coupling
    perfect: bool = False
    plain: Emission | None = None
    is_plain: bool = False


def find_mapping(
    dag: DAGCircuit, device: Target | CouplingMap, params: LayoutParams, fixed: IndexArray | None = None
) -> Mapping:
    """Map a circuit of n qubits on a device of N.

    `fixed` says that the circuit is on device qubits already and keeps its layout; it is the identity on N. From level
    1 on there are never more CX gates than after Qiskit's own layout and routing, or its routing alone, with the same
    level and seed on the same pairs of the device, or there is no less of another objective. Faulty pairs are used
    where the circuit fits on no others. InputError for circuits that cannot be mapped.
    """
    begun = time.perf_counter()
    model = _read(dag, params)
    careful, *others = list_fitting(device, model, fixed)
    try:
        return _map_on(careful, model, device, _shorten(params, time.perf_counter() - begun), fixed)
    except InputError:
        # Loops that are left early fit where they need no SWAP, which may be on other pairs alone.
        wider = dict.fromkeys((*others, listed_coupling(device))) if has_exits(dag) else {}
        wider.pop(careful, None)
        for coupling in wider:
            with suppress(InputError):
                return _map_on(coupling, model, device, _shorten(params, time.perf_counter() - begun), fixed)
        raise


def _map_on(
    coupling: Coupling,
    model: CircuitModel,
    device: Target | CouplingMap,
    params: LayoutParams,
    fixed: IndexArray | None,
) -> Mapping:
    """Map a circuit on some pairs of a device, as `find_mapping` does."""
    begun = time.perf_counter()
    _check(model, coupling, fixed)
    own, known, rated = _ask_qiskit(model, coupling, device, params, fixed)
    params = _shorten(params, time.perf_counter() - begun)
    aim = aim_of(params.objective, model, coupling, device)
    held = aim.objective is None and all(route.extra_cx for route in own)
    below = _ask_below(model, coupling, device, params, fixed) if held else ()
    mapped = _check_start(
        map_circuit(model.gate_dag, coupling, params, fixed=fixed, known=own, below=below, objective=aim.objective),
        fixed,
    )
    perfect = rated and mapped.route is own[0]
    route = mapped.route if fixed is not None else _settle(mapped.route, model, coupling, device, aim.objective)
    if known is not None and own and route is own[0]:
        emission = known if aim.objective is None else _emit_again(model, route, coupling, params, aim, known)
    else:
        route, emission = _emit_first(model, (route, *own), coupling, params)
    mapped = replace(mapped, route=route)
    # Priced routes are compared by their prices, where SABRE's circuit is one.
    counted = emission is not known and not (_basis_of(params) and own)
    if known is not None and counted and aim.loss(known.dag) < aim.loss(emission.dag):
        emission = known
    plain = known if known is not None and _is_plain(model, coupling, device, params, fixed) else None
    is_plain = plain is emission
    if is_plain:
        # Later stages write into the circuit that they get.
        plain = emission._replace(dag=copy_circuit(emission.dag))
    return Mapping(emission, mapped, known, coupling, perfect, plain, is_plain)


def tell_failures(mapping: Mapping) -> Mapping:
    """Return a mapping, and log where its sampler failed or time ended it: a pass has no report to say so."""
    for warning in mapping.mapped.answers.warnings:
        LOG.warning("%s", warning)
    ended = [stage.name for stage in mapping.mapped.stages if stage.detail.get("shortened")]
    if ended:
        LOG.warning("the time limit shortened the search (%s): the circuit depends on time", ", ".join(ended))
    return mapping


def find_start(dag: DAGCircuit, device: Target | CouplingMap, params: LayoutParams) -> list[int]:
    """Return where the N qubits of a mapping start, for routing by Qiskit, which gets loops that are left early wrong.

    InputError where such a circuit needs SWAPs, and for those that cannot be mapped.
    """
    found = tell_failures(find_mapping(dag, device, params)).emission
    if has_exits(dag) and count_cx(found.dag) != count_cx(dag):
        raise InputError("circuit", NEEDS_SWAPS)
    return found.start


def find_path_mapping(dag: DAGCircuit, device: Target | CouplingMap, params: LayoutParams) -> Emission:
    """Map a circuit along a path of the device; InputError where none of as many qubits as meet others is found."""
    model = model_of(dag, commute=params.commute)
    coupling = choose_coupling(device, model)
    _check(model, coupling, None)
    calls = EmbeddingParams(calls=PARAMS_OF_LEVEL[params.level].embedding_calls, seed=params.seed)
    start = place_on_path(model.gate_dag, coupling, calls)
    if start is None:
        raise InputError("topology", "expected a path of as many qubits as meet others, found none")
    # Prices take ten times as long to find as that there is no path.
    model = _price(model, params)
    route = map_along_path(model.gate_dag, coupling, params, start)
    return _emit(model, _settle(route, model, coupling, device), coupling, params)


def _emit_first(
    model: CircuitModel, routes: tuple[Route, ...], coupling: Coupling, params: LayoutParams
) -> tuple[Route, Emission]:
    """Return the first of some routes on which loops that are left early need no SWAP, and its circuit.

    Raises InputError of the first where there is none.
    """
    first, *others = routes
    try:
        return first, _emit(model, first, coupling, params)
    except InputError:
        for route in others:
            with suppress(InputError):
                return route, _emit(model, route, coupling, params)
        raise


def _emit_again(
    model: CircuitModel, route: Route, coupling: Coupling, params: LayoutParams, aim: RouteAim, known: Emission
) -> Emission:
    """Return the circuit that is known of a route, or that of ours where gates that commute lose less in its order."""
    with suppress(InputError):
        own = _emit(model, route, coupling, params)
        return own if aim.loss(own.dag) < aim.loss(known.dag) else known
    return known


def _emit(model: CircuitModel, route: Route, coupling: Coupling, params: LayoutParams) -> Emission:
    """Return the routed circuit, with its blocks of control flow routed in place."""

    def block(gate_dag: GateDag, places: IndexArray) -> Route:
        own_params = replace(params, level=BLOCK_LEVELS[params.level])
        return _check_start(map_circuit(gate_dag, coupling, own_params, fixed=places), places).route

    return emit(model, route, Blocks(coupling=coupling, commute=params.commute, router=block))


def _read(dag: DAGCircuit, params: LayoutParams) -> CircuitModel:
    """Read a circuit, with prices of SWAPs where a later optimization fuses them with gates."""
    return _price(model_of(dag, commute=params.commute), params)


def _price(model: CircuitModel, params: LayoutParams) -> CircuitModel:
    """Return a circuit with these prices."""
    basis = _basis_of(params)
    if not basis:
        return model
    price, layers = price_swaps(model, basis)
    gate_dag = replace(model.gate_dag, price=price, layers=layers)
    return replace(model, build=model.build._replace(gate_dag=gate_dag))


def _basis_of(params: LayoutParams) -> tuple[str, ...]:
    """Return the two-qubit gates that count instead of SWAPs, none where these do."""
    return params.basis if isinstance(params, FusingParams) else ()


def _check(model: CircuitModel, coupling: Coupling, fixed: IndexArray | None) -> None:
    """Raise where the circuit cannot be mapped from where it is."""
    qubits = model.dag.num_qubits()
    if qubits > coupling.size:
        raise InputError("topology", f"expected at least {qubits} qubits for this circuit, found {coupling.size}")
    apart = [] if fixed is None else list_apart(model.gate_dag, coupling, fixed)
    if apart:
        a, b = apart[0]
        raise InputError("layout", f"expected qubits that meet in one part of the device, found {a} and {b}")


class QiskitAnswer(NamedTuple):
    """Hold Qiskit's own routes and circuit, and whether VF2 chose the one of the routes by the device's error rates."""

    routes: tuple[Route, ...]
    circuit: Emission | None
    rated: bool = False


def _ask_qiskit(
    model: CircuitModel,
    coupling: Coupling,
    device: Target | CouplingMap,
    params: LayoutParams,
    fixed: IndexArray | None,
) -> QiskitAnswer:
    """Return Qiskit's own answers on what of the device works: as a route, if it is one, and as a circuit.

    A layout without SWAPs needs no other; SABRE's answer is from level 1 on.
    """
    working = working_device(device, coupling)
    # Not the coupling map: VF2 looks at the error rates of a Target.
    allowed = restrict_pairs(device, coupling) if working is not device and isinstance(device, Target) else working
    searches = fixed is None and not needs_swaps(model.gate_dag, coupling)
    layout = find_vf2_layout(model, allowed, params.level, params.time_limit_s) if searches else fixed
    rated = searches and layout is not None and isinstance(device, Target)
    if layout is None and searches and has_exits(model.dag):
        # Loops that are left early can go nowhere else, at any level and whatever operations the device lists.
        layout = find_vf2_layout(model, map_of(coupling), max(params.level, INCUMBENT_LEVEL), params.time_limit_s)
    route = None if layout is None else route_in_place(model.gate_dag, coupling, layout)
    if route is not None or params.level < INCUMBENT_LEVEL:
        return QiskitAnswer(() if route is None else (route,), None, rated)
    return QiskitAnswer(*_ask_sabre(model, coupling, working, params, fixed))


def _is_plain(
    model: CircuitModel,
    coupling: Coupling,
    device: Target | CouplingMap,
    params: LayoutParams,
    fixed: IndexArray | None,
) -> bool:
    """Return whether Qiskit's own layout stage asks SABRE the same: on all of the device, with its trials.

    It takes the layout of qubits in order where that needs no SWAP.
    """
    if fixed is not None or params.time_limit_s is not None or MORE_TRIALS in os.environ:
        return False
    trivial = np.arange(model.dag.num_qubits(), dtype=np.int32)
    return working_device(device, coupling) is device and route_in_place(model.gate_dag, coupling, trivial) is None


def _ask_below(
    model: CircuitModel,
    coupling: Coupling,
    device: Target | CouplingMap,
    params: LayoutParams,
    fixed: IndexArray | None,
) -> tuple[Route, ...]:
    """Return SABRE's answer at the level below, where the search holds what that level finds from it."""
    if params.level < HOLDING_LEVEL or params.time_limit_s is not None:
        return ()
    lower = replace(params, level=params.level - 1)
    return _ask_sabre(model, coupling, working_device(device, coupling), lower, fixed)[0]


def _ask_sabre(
    model: CircuitModel,
    coupling: Coupling,
    working: Target | CouplingMap,
    params: LayoutParams,
    fixed: IndexArray | None,
) -> tuple[tuple[Route, ...], Emission | None]:
    """Return SABRE's answer on what of a device works, as a route, if it is one, and as a circuit."""
    if fixed is None and may_panic(model.dag, coupling):
        return (), None
    limit_s = params.time_limit_s
    late = limit_s is not None and 2 * estimate_layout_s(model.dag.num_qubits(), coupling.size) > limit_s
    try:
        with catch_panics():
            if fixed is None and late:
                known = run_sabre_passes(model, coupling, working, params)
            else:
                sabre = run_sabre if fixed is None else run_sabre_routing
                known = sabre(model.dag, working, params.level, params.seed, limit_s)
    except TranspilerError:
        return (), None
    own = route_of(model, coupling, known)
    return (() if own is None else (own,)), known if keeps_exits(model.dag, known.dag) else None


def _shorten(params: LayoutParams, spent_s: float) -> LayoutParams:
    """Return the parameters with what is left of a time limit."""
    limit_s = params.time_limit_s
    return params if limit_s is None else replace(params, time_limit_s=max(limit_s - spent_s, SHORT_S))


def _check_start(mapped: Mapped, fixed: IndexArray | None) -> Mapped:
    """Return what was found; a route from elsewhere would silently be another circuit."""
    if fixed is not None and (mapped.route.start[: len(fixed)] != fixed).any():
        raise RuntimeError("the search left the layout that it was given")
    return mapped


def _settle(
    route: Route,
    model: CircuitModel,
    coupling: Coupling,
    device: Target | CouplingMap,
    objective: RouteObjective | None = None,
) -> Route:
    """Return a route that leaves no circuit qubit on a device qubit without pairs, as far as others are spare.

    Where too few are, qubits without operations give way, and faulty device qubits are left first. What would lose more
    by an objective stays where it is.
    """
    lone = coupling.neighbours[:, 0] < 0
    if coupling.size == 1 or not lone.any():
        return route
    rank = lone.astype(np.int32)
    rank[[*find_faulty_qubits(device) & set(np.flatnonzero(lone).tolist())]] = 2
    start, qubits = route.start, model.dag.num_qubits()
    busy = np.zeros(coupling.size, np.bool_)
    busy[[qubit for touched in model.qubits for qubit in touched]] = True
    here = rank[start]
    spare = sorted(np.flatnonzero(~busy), key=lambda k: (here[k], k < qubits))
    for a in sorted(np.flatnonzero(here[:qubits]), key=lambda k: (not busy[k], -here[k])):
        b = next((b for b in spare if here[b] < here[a] and (busy[a] or b >= qubits)), None)
        if b is not None:
            moved = start.copy()
            moved[[a, b]] = start[[b, a]]
            before, after = (replace(route, start=places) for places in (start, moved))
            if objective is None or objective.loss(after) <= objective.loss(before):
                start = moved
                spare.remove(b)
    return replace(route, start=start)
