"""Reports with figures made up, for tests of what is said of them."""

from dataclasses import replace

from tiger.circuits.entry.report import CircuitReport
from tiger.expert_maps.report import DeviceLoads, ExpertObjective, ExpertReport, ExpertStage, RoutingCost
from tiger.expert_maps.slots.advice import Advice
from tiger.expert_maps.slots.objective import ExpertCost
from tiger.objectives.shortest_paths import LinkLoad
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.stage import Link, PlacedStage
from tiger.planning.breakdown import Breakdown
from tiger.planning.calibration.report import CalibratedRun, CalibrationReport, FittedFactor
from tiger.planning.report import Degrees, PlanReport, RankedPlan, RuledOut
from tiger.rebalancing.decision import Decision
from tiger.rebalancing.moving import Move
from tiger.rebalancing.report import IntervalReport, RebalanceReport
from tiger.routing.ising.movement import DataMovement
from tiger.run.report import Baselines, Report
from tiger.run.stage import Stage
from tiger.training.timings.costs import Factors

MAPPING = Report(
    mapping={"t0": "a", "t1": "b"},
    cost=12.0,
    compute_cost=3.0,
    communication_cost=9.0,
    baseline_cost=24.0,
    baselines=Baselines(block=24.0, cyclic=16.0, random=18.5),
    baseline_max_link_load=2.0,
    lower_bound=6.0,
    feasible=True,
    solver="auto",
    rule="one-to-one",
    seed=7,
    metrics={"dilation": 3.0, "mean_dilation": 1.5, "max_link_load": 5.0},
    links=(
        LinkLoad(a="a", b="b", load=5.0, share=1.0, before=2.0),
        LinkLoad(a="b", b="c", load=1.0, share=0.2, before=2.0),
    ),
    stages=(
        Stage(name="baseline", cost=24.0, seconds=0.1),
        Stage(name="greedy", cost=15.0, seconds=0.1, detail={"effort": 2}),
        Stage(name="dense", cost=12.0, seconds=0.1, detail={"effort": 2}),
    ),
    seconds=0.3,
)
CIRCUIT = CircuitReport(
    initial_layout={0: 1, 1: 2},
    final_layout={0: 2, 1: 1},
    swaps=2,
    bridges=1,
    extra_cx=9,
    depth=20,
    data_movement=DataMovement(trivial=10, static_qubo=8, levels=6, routed=6),
    baseline_extra_cx=12,
    baseline_depth=18,
    success_probability=0.5,
    baseline_success_probability=0.5,
    feasible=True,
    solver="auto",
    level=2,
    objective="cx",
    seed=3,
    stages=(Stage(name="known", cost=15.0, seconds=0.1), Stage(name="proposals", cost=9.0, seconds=0.1)),
    seconds=1.0,
)


def _stage(device: str, compute_s: float, memory_bytes: float) -> PlacedStage:
    """Return a stage on one device."""
    return PlacedStage(
        device=device,
        ops=("x", "y"),
        compute_s=compute_s,
        communication_s=0.01,
        memory_bytes=memory_bytes,
        capacity_bytes=10e9,
        devices=((device,),),
    )


PLACEMENT = PlacementReport(
    stages=(_stage("g0", 0.03, 5e9), _stage("g1", 0.04, 9.5e9)),
    bottleneck_s=0.05,
    iteration_s=0.4,
    bubble=0.25,
    uniform_bottleneck_s=0.06,
    uniform_iteration_s=0.6,
    uniform_feasible=True,
    lower_bound_s=0.05,
    iteration_bound_s=0.3,
    feasible=True,
    schedule="1f1b",
    microbatches=8,
    solver="auto",
    seed=5,
    links=(Link(a="g0", b="g1", sent_bytes=2e9),),
    progress=(Stage(name="uniform", cost=0.6, seconds=0.1), Stage(name="order", cost=0.4, seconds=0.1)),
    seconds=1.0,
)
BEST = RankedPlan(
    degrees=Degrees(pipeline=2, tensor=1, data=4, schedule="1f1b", virtual=1, microbatches=8, microbatch=1),
    iteration_s=1.0,
    memory_share=0.95,
    bubble=0.2,
    breakdown=Breakdown(compute_s=0.7, tensor_s=0.0, messages_s=0.02, gradients_s=0.08, waiting_s=0.2),
    bound_s=0.9,
    searched=True,
    tokens_per_s=1000.0,
    why="the best",
)
PLAN = PlanReport(
    batch=32,
    lower_bound_s=0.8,
    heuristic=replace(BEST, iteration_s=2.0, why="1 s slower: more waiting"),
    feasible=True,
    ranked=(BEST, replace(BEST, iteration_s=1.1, why="0.1 s slower")),
    pruned=(RuledOut(reason="work", choices=30, closest=None, bound_s=None, need_bytes=None, why=""),),
    choices=40,
    placement=PLACEMENT,
    seed=0,
    seconds=1.0,
)

EXPERTS = ExpertReport(
    kind="trace",
    layers=2,
    experts=2,
    replicas=2,
    top_k=1,
    tokens=90,
    held_out_tokens=10,
    devices=("x", "y"),
    slots=((0, 1, 1, 0), (0, 1, 0, 1)),
    stages=(
        ExpertStage(device="x", ops=("0:0", "0:1", "1:0", "1:1"), load=90.0, load_before=100.0),
        ExpertStage(device="y", ops=("0:0", "0:1", "1:0", "1:1"), load=90.0, load_before=80.0),
    ),
    objective=ExpertObjective(
        unit="s",
        before=ExpertCost(load=0.4, links=0.2, moves=0.0),
        after=ExpertCost(load=0.3, links=0.1, moves=0.01),
        bound=ExpertCost(load=0.3, links=0.0, moves=0.0),
    ),
    loads=DeviceLoads(before=((50.0, 40.0), (50.0, 40.0)), after=((45.0, 45.0), (45.0, 45.0)), bound=(45.0, 45.0)),
    verdict=Advice(
        advice="move",
        reason="a step gains 33 %, and the moves are paid after 50 of 1000 steps",
        gain=1 / 3,
        gain_s=0.2,
        moves=3,
        move_s=10.0,
        break_even_steps=50.0,
    ),
    placed=RoutingCost(crossing=0.5, hops=0.5, held_out_crossing=0.6, held_out_hops=0.6),
    contiguous=RoutingCost(crossing=0.8, hops=0.8, held_out_crossing=0.8, held_out_hops=0.8),
    greedy=None,
    flat=None,
    seed=3,
    progress=(Stage(name="loads", cost=0.5, seconds=0.1), Stage(name="annealing", cost=0.41, seconds=0.2)),
    warnings=(),
    seconds=0.3,
)
MOVED = Decision(
    action="move",
    why="1 layer (2 GB) in 1 moves make an iteration 200 ms instead of 300 ms",
    cuts=(0, 3, 4),
    devices=("x", "y"),
    iteration_s=0.2,
    kept_s=0.3,
    best_s=0.2,
    lower_bound_s=0.15,
    moves=(Move(first="l2", last="l2", layers=1, source="y", target="x", moved_bytes=2e9, seconds=0.5),),
    moved_layers=1,
    moved_bytes=2e9,
    moving_s=0.5,
    break_even=5.0,
)
KEPT = Decision(
    action="keep",
    why="the best plan found would save 1.00% of an iteration",
    cuts=(0, 3, 4),
    devices=("x", "y"),
    iteration_s=0.2,
    kept_s=0.2,
    best_s=0.198,
    lower_bound_s=0.15,
)
REBALANCING = RebalanceReport(
    layers=4,
    stages=2,
    schedule="1f1b",
    microbatches=8,
    iterations=10,
    threshold=0.02,
    balancer="exact",
    uniform_cuts=(0, 2, 4),
    static_cuts=(0, 3, 4),
    uniform_s=6.0,
    static_s=5.0,
    rebalanced_s=4.5,
    moving_s=0.5,
    lower_bound_s=3.0,
    gain=6.0 / 4.5,
    static_gain=5.0 / 4.5,
    largest_gain=1.5,
    cap=2,
    rebalances=1,
    moved_layers=1,
    moved_bytes=2e9,
    intervals=(
        IntervalReport(uniform_s=0.3, static_s=0.25, lower_bound_s=0.15, workers=2, decision=MOVED),
        IntervalReport(uniform_s=0.3, static_s=0.25, lower_bound_s=0.15, workers=1, decision=KEPT),
    ),
    seconds=0.1,
)
CALIBRATION = CalibrationReport(
    factors=Factors(products=1.2, between=1.05),
    fitted=(
        FittedFactor(name="products", factor=1.2, deviation=0.05, told=0.98),
        FittedFactor(name="between", factor=1.05, deviation=0.4, told=0.03),
    ),
    runs=tuple(
        CalibratedRun(line=line, plan=f"tp={line}", measured_s=2.0, before_s=1.6, after_s=2.0, left_out_s=1.9)
        for line in (2, 3, 4)
    ),
    warnings=("no run tells between",),
    seconds=0.1,
)
