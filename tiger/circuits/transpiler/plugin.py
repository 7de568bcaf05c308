"""Qiskit's transpiler plugins: `layout_method="tiger"` and `routing_method="tiger"`."""

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from qiskit.passmanager import ConditionalController, PropertySet
from qiskit.passmanager.base_tasks import Task
from qiskit.transpiler import (
    CouplingMap,
    PassManager,
    PassManagerConfig,
    Target,
    TranspilerError,
)
from qiskit.transpiler.passes import BarrierBeforeFinalMeasurements, SetLayout
from qiskit.transpiler.preset_passmanagers import common
from qiskit.transpiler.preset_passmanagers.plugin import PassManagerStagePlugin

from tiger.circuits.params import LEVELS, FusingParams, LayoutParams
from tiger.circuits.stopping import STOP
from tiger.circuits.transpiler.allowed import CheckQubits, allow_qubits
from tiger.circuits.transpiler.blocks import basis_of
from tiger.circuits.transpiler.environment import (
    QUBITS,
    read_effort,
    read_objective,
    read_qubits,
    read_solver,
    read_time_limit,
)
from tiger.circuits.transpiler.faults import NoteFaults, has_faults
from tiger.circuits.transpiler.faulty_gates import AvoidFaultyGates
from tiger.circuits.transpiler.lone import build_lone_placement
from tiger.circuits.transpiler.own_stages import OwnStages, build_own_preset
from tiger.circuits.transpiler.passes import (
    TigerLayout,
    TigerMapping,
    TigerPathMapping,
    TigerRerouting,
    TigerRouting,
    TigerSabreMapping,
)
from tiger.circuits.transpiler.preset import PLACED, SOURCE, KeepBest, Rivals, TryVariants
from tiger.circuits.transpiler.quiet import quiet_qiskit
from tiger.circuits.transpiler.resynthesis import VariantStages
from tiger.circuits.transpiler.source import KeepSource
from tiger.circuits.transpiler.target import find_faulty_gates, has_errors, has_rates
from tiger.model.seeds import derive

NAME = "tiger"
# Qiskit's own default level; the level from which the preset is compared with; that from which its optimization fuses
# SWAPs with the gates beside them, so that their blocks count; and that from which commuting gates change places.
DEFAULT_LEVEL, COMPARING_LEVEL, FUSING_LEVEL, COMMUTING_LEVEL = 2, 1, 2, 3
# The level from which circuits are written in other ways before they are mapped, and how hard those are to be judged.
REWRITING_LEVEL, JUDGING_LEVEL = 3, 1
# By level: how many circuits of ours, each of another seed, are compared by what they end as where the search does all
# of its work. Else it is one: a second takes twice as long for 0.2 % (a third of the programs of `delivered`, a grid).
CANDIDATES = (1, 1, 1, 2)
# How many along paths are compared, too, where ours is deeper than Qiskit's.
SHALLOW = 3
SABRE_NAMES = (None, "default", "sabre")
BARRIER = "qiskit.transpiler.internal.routing.protection.barrier"


class TigerLayoutPlugin(PassManagerStagePlugin):  # type: ignore[misc]  # Qiskit has no types
    """Lay circuits out with TIGER, and route them as well where the routing stage is TIGER's, too.

    With another routing stage the layout is measured by what that makes of it: from level 1 on the circuit is routed
    here, and Qiskit's own layout is taken where the preset ends better from there. The environment variable
    TIGER_LAYOUT_OBJECTIVE says what is better: "auto" is fewer two-qubit gates, then less depth of these, then more
    estimated success where the Target has error rates; where the circuit with the fewest gates is deeper than Qiskit's,
    depth above Qiskit's weighs as gates. "depth" and "success" put these first. TIGER_LAYOUT_EFFORT multiplies the
    iterations, and TIGER_LAYOUT_SOLVER names what samples the Ising proposals. TIGER_LAYOUT_TIME_S ends a search, and
    TIGER_LAYOUT_QUBITS are the device qubits that a circuit may use.
    """

    @quiet_qiskit()
    def pass_manager(
        self, pass_manager_config: PassManagerConfig, optimization_level: int | None = None
    ) -> PassManager:
        """Return the layout stage; an initial layout wins, and without pairs of qubits nothing else is chosen."""
        pass_manager_config, check = _allow(pass_manager_config)
        device, given = _device(pass_manager_config), pass_manager_config.initial_layout
        if device is None or not _has_pairs(device):
            embed = common.generate_embed_passmanager(device)
            return PassManager(SetLayout(given)) if given is None else PassManager(SetLayout(given)) + embed
        params = _params(pass_manager_config, optimization_level)
        routed_later = params.level >= COMPARING_LEVEL and pass_manager_config.routing_method == NAME
        # A stage of ours that comes later compares with Qiskit's circuit itself.
        asks = not routed_later or (params.level >= REWRITING_LEVEL and _trusts_trials(device, params))
        own = _own_stages(pass_manager_config, params) if asks else None
        stage = _build_layout_stage(device, pass_manager_config, params, own)
        return PassManager(KeepSource(SOURCE)) + stage if routed_later else stage + check


class TigerRoutingPlugin(PassManagerStagePlugin):  # type: ignore[misc]  # Qiskit has no types
    """Route circuits with TIGER, then look for better qubits for the result by VF2PostLayout, as the presets do.

    Without error rates there are none, and VF2PostLayout does not run. From level 1 on Qiskit's own circuit is taken
    where the preset ends better from there, by the objective as for layouts.
    """

    @quiet_qiskit()
    def pass_manager(
        self, pass_manager_config: PassManagerConfig, optimization_level: int | None = None
    ) -> PassManager:
        """Return the routing stage; it leaves alone what needs no routing."""
        pass_manager_config, check = _allow(pass_manager_config)
        device = _device(pass_manager_config)
        params = _params(pass_manager_config, optimization_level)
        if device is None or not _has_pairs(device):
            return PassManager()
        stage = _build_routing_stage(device, pass_manager_config, params)
        own, end = _own_stages(pass_manager_config, params), PassManager(_end(device, params)) + check
        if own is None:
            return stage + end
        keep = KeepBest(device, own, read_objective(), _build_rivals(device, pass_manager_config, params))
        return PassManager(KeepSource(PLACED)) + stage + PassManager(keep) + end


def _build_layout_stage(
    device: Target | CouplingMap, config: PassManagerConfig, params: LayoutParams, own: OwnStages | None
) -> PassManager:
    """Return the stage that applies a layout that there is, and chooses one where there is none."""
    embed = common.generate_embed_passmanager(device).to_flow_controller()
    stage = PassManager(
        [SetLayout(config.initial_layout), ConditionalController(embed, condition=_has_layout_to_apply)]
    )
    stage.append(ConditionalController(_choice(device, config, params, own), condition=_has_no_layout))
    return stage


def _build_routing_stage(device: Target | CouplingMap, config: PassManagerConfig, params: LayoutParams) -> PassManager:
    """Return the stage that routes, with what the presets do around it."""
    ours = None if config.layout_method == NAME else config.layout_method
    # Those of level 3 are for a minute.
    level = params.level if params.time_limit_s is None else min(params.level, DEFAULT_LEVEL)
    limits = common.get_vf2_limits(level, ours if has_errors(device) else NAME, config.initial_layout)
    stage = common.generate_routing_passmanager(
        TigerRouting(device, params),
        config.target,
        coupling_map=config.coupling_map,
        vf2_call_limit=limits.call_limit,
        vf2_max_trials=limits.max_trials,
        seed_transpiler=-1,
        check_trivial=params.level == 1 and config.layout_method != NAME,
        use_barrier_before_measurement=True,
    )
    if has_faults(device):
        stage += PassManager(TigerRerouting(device, params))
    # The search above leaves qubits that meet no other in places that differ from call to call.
    settles = config.layout_method == NAME and config.initial_layout is None and has_rates(device)
    return stage + build_lone_placement(device) if settles else stage


def _build_rivals(device: Target | CouplingMap, config: PassManagerConfig, params: FusingParams) -> Rivals:
    """Return the stages of ours once more, for other seeds; a layout of another stage's stays."""
    stages, places = list[PassManager](), config.layout_method == NAME
    if params.time_limit_s is not None:
        return Rivals(SOURCE if places else PLACED)
    for number in range(1, CANDIDATES[params.level] if params.effort >= STOP.all_work_effort else 1):
        again = replace(params, seed=derive(params.seed % 2**64, number))
        routing = _build_routing_stage(device, config, again)
        stages.append(_build_layout_stage(device, config, again, None) + routing if places else routing)
    begin, shallow = SOURCE if places else PLACED, tuple(_build_shallow(device, config, params))
    return Rivals(begin, tuple(stages), shallow, _build_variants(device, config, params) if places else None)


def _build_variants(
    device: Target | CouplingMap, config: PassManagerConfig, params: LayoutParams
) -> VariantStages | None:
    """Return the stages that map a circuit written in other ways, from the level on that tries some."""
    if params.level < REWRITING_LEVEL:
        return None
    quick, full = (
        _build_layout_stage(device, config, each, None) + _build_routing_stage(device, config, each)
        for each in (replace(params, level=JUDGING_LEVEL), params)
    )
    return VariantStages(quick, full)


def _trusts_trials(device: Target | CouplingMap, params: LayoutParams) -> bool:
    """Return whether a circuit may go without a search in full where variants have far fewer gates.

    Not where all work is asked for or other figures come first, nor where a variant may be refused for what it uses.
    """
    whole = params.effort >= STOP.all_work_effort or params.time_limit_s is not None
    return not whole and read_objective() == "auto" and not has_faults(device)


def _build_shallow(
    device: Target | CouplingMap, config: PassManagerConfig, params: FusingParams
) -> Iterator[PassManager]:
    """Yield stages that map a circuit to few layers, where these place it and a later optimization fuses its SWAPs.

    Whatever the objective, SWAPs have the prices of those blocks: for few SWAPs alone windows undo what saves layers.
    """
    if config.layout_method == NAME and config.initial_layout is None and params.level >= FUSING_LEVEL:
        for number in range(SHALLOW):
            again = replace(params, seed=derive(params.seed % 2**64, number), basis=basis_of(device))
            path = PassManager([BarrierBeforeFinalMeasurements(BARRIER), TigerPathMapping(device, again)])
            yield path + _build_routing_stage(device, config, again)


def _choice(
    device: Target | CouplingMap, config: PassManagerConfig, params: LayoutParams, own: OwnStages | None
) -> list[Task]:
    """Return the tasks that choose a layout, and compare it with Qiskit's where no stage of ours comes later."""
    barrier = BarrierBeforeFinalMeasurements(BARRIER)
    if config.routing_method == NAME:
        search: list[Task] = [barrier, TigerMapping(device, params)]
        variants = None if own is None else _build_variants(device, config, params)
        if own is None or variants is None:
            return search
        trials = TryVariants(device, own, variants.quick, read_objective())
        return [trials, ConditionalController(search, condition=_has_no_layout)]
    end = _end(device, params)
    embed = common.generate_embed_passmanager(device).to_flow_controller()
    if own is None:
        if not end or config.routing_method not in SABRE_NAMES:
            return [barrier, TigerLayout(device, params), embed]
        # Qiskit's routing would use faulty pairs as it does others.
        return [barrier, TigerSabreMapping(device, params), *end]
    routed = [own.routing.to_flow_controller(), KeepBest(device, own, read_objective()), *end]
    if config.routing_method in SABRE_NAMES:
        return [KeepSource(SOURCE), barrier, TigerSabreMapping(device, params), *routed]
    return [KeepSource(SOURCE), barrier, TigerLayout(device, params), embed, *routed]


def _end(device: Target | CouplingMap, params: LayoutParams) -> list[Task]:
    """Return the tasks that see to what has error 1, and say what a circuit uses of it; none where nothing has."""
    faulty = isinstance(device, Target) and find_faulty_gates(device)
    turn = [AvoidFaultyGates(device, params.level, params.seed)] if faulty else []
    return [*turn, NoteFaults(device)] if has_faults(device) else turn


def _own_stages(config: PassManagerConfig, params: LayoutParams) -> OwnStages | None:
    """Return Qiskit's own stages for a configuration, None at the level that promises nothing."""
    return build_own_preset(config, params.level, params.seed, NAME) if params.level >= COMPARING_LEVEL else None


def _has_layout_to_apply(properties: PropertySet) -> bool:
    """Return whether there is a layout that has still to be applied."""
    return bool(properties["layout"])


def _has_no_layout(properties: PropertySet) -> bool:
    """Return whether there is no layout yet."""
    return not properties["layout"]


def _allow(config: PassManagerConfig) -> tuple[PassManagerConfig, PassManager]:
    """Return a configuration with the device qubits that circuits may use, and a stage that checks that they do."""
    device = _device(config)
    if device is None:
        return config, PassManager()
    allowed = read_qubits(device.size() if isinstance(device, CouplingMap) else int(device.num_qubits or 0))
    if allowed is None:
        return config, PassManager()
    if config.layout_method != NAME or not _has_pairs(device):
        raise TranspilerError(
            f"{QUBITS}: expected layout_method={NAME!r} and a device that lists pairs of qubits, found"
            f" {config.layout_method!r} and {'some' if _has_pairs(device) else 'none'}"
        )
    return allow_qubits(config, allowed), PassManager(CheckQubits(allowed))


def _device(config: PassManagerConfig) -> Target | CouplingMap | None:
    """Return the device, None if it is not known."""
    return config.coupling_map if config.target is None else config.target


def _has_pairs(device: Target | CouplingMap) -> bool:
    """Return whether a device says which qubits are coupled; if not, all of them are."""
    return isinstance(device, CouplingMap) or device.build_coupling_map() is not None


def _params(config: PassManagerConfig, level: int | None) -> FusingParams:
    """Return the parameters of a search; without a seed every call draws one."""
    level = DEFAULT_LEVEL if level is None else level
    if level not in LEVELS:
        raise TranspilerError(f"optimization_level: expected one of {LEVELS}, found {level}")
    seed, objective = config.seed_transpiler, read_objective()
    fusing = level >= FUSING_LEVEL and config.target is not None and objective == "auto"
    return FusingParams(
        level=level,
        objective="cx" if objective == "auto" else objective,
        effort=read_effort(),
        solver=read_solver(),
        seed=int(np.random.default_rng().integers(2**31)) if seed is None else int(seed),
        threads=os.cpu_count() or 1,
        commute=level >= COMMUTING_LEVEL,
        time_limit_s=read_time_limit(),
        basis=basis_of(config.target) if fusing else (),
    )
