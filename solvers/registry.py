"""The solvers by name: searches, Ocean samplers, and those that other packages register."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.objective_arrays import NetArrays, ObjectiveArrays, RingHops
from tiger.model.problem import Problem
from tiger.model.seams import Search, Stop, Usage
from tiger.model.window import Block
from tiger.model.wording import describe

if TYPE_CHECKING:
    from dimod.core.sampler import Sampler

GROUP = "tiger.samplers"
# Free tasks from which on the multilevel search is in the portfolio, and from which on a quick one comes first; and up
# to which annealing of random moves goes on beside it. Where memory or forbidden pairs leave few moves, it goes on
# beyond and takes the place of the refinement, for 1,000 tasks end 0 to 12 % lower with it, and the multilevel search
# only leads it: in later rounds it gained nothing that the annealing had not, for a third to two thirds of the time.
MULTILEVEL_FROM, QUICK_FROM, ANNEALED_UP_TO = 48, 1024, 200
# Free tasks from which on clusters are bisected in place of tasks where they may be: in 0.5 to 0.7 of the time, but 4
# to 5 % dearer on stencils and tasks near each other, of 8,192 to 131,072, and -2 to +1 % on triangulated ones.
CLUSTERED_FROM = 200_000
# Pairs of tasks that exchange traffic, for each task, up to which all tasks are bisected twice before the multilevel
# search, in place of clusters, or of a refinement, which gains 1 % where boundaries are few: roads of 4,096 to 65,536
# tasks cost 13 % less in the time of SharedMap's `eco`.
CHAINED_UP_TO = 1.5
# Free tasks with few neighbours above which a bisection begins with a traversal, as time may end it before it has cut
# enough. Up to 4,096 on 256 nodes it is finished once it has begun, in 0.1 s (`late` in `MultilevelParams`).
TRAVERSED_FROM = 4096
# Solvers of which several find more than one, as the seed plays a part in every round.
SEEDED = ("auto", "search", "random")
DWAVE = ("dwave", "leap-bqm", "leap-cqm", "leap-nl")


@dataclass(frozen=True, slots=True)
class SolverInfo:
    """Describe a solver for listings."""

    name: str
    kind: Literal["portfolio", "search", "sampler"]
    description: str


BUILT_IN = (
    SolverInfo("auto", "portfolio", "exact when tiny, else native search joined by tuned QUBO windows"),
    SolverInfo("search", "portfolio", "native search: memetic where dense, multilevel where large and sparse"),
    SolverInfo("exact", "search", "branch and bound with proof, for about a dozen tasks"),
    SolverInfo("greedy", "search", "most traffic first, cheapest node first"),
    SolverInfo("random", "search", "random feasible mappings"),
    SolverInfo("identity", "search", "the baseline mapping as it is"),
    SolverInfo("neal", "sampler", "D-Wave's simulated annealing on the tuned QUBO, repaired and polished"),
    SolverInfo("tabu", "sampler", "D-Wave's tabu search on the QUBO at its safe bound, repaired and polished"),
    SolverInfo("dwave", "sampler", "a D-Wave QPU on windows of the QUBO, embedded as cliques, repaired and polished"),
    SolverInfo("leap-bqm", "sampler", "D-Wave's Leap hybrid solver on the QUBO, repaired and polished"),
    SolverInfo("leap-cqm", "search", "D-Wave's Leap hybrid solver on the problem as a constrained quadratic model"),
    SolverInfo("leap-nl", "search", "D-Wave's Leap hybrid solver on the problem as a nonlinear model"),
)


SEARCHES = {
    "exact": ("exact", "Exact"),
    "greedy": ("greedy", "Greedy"),
    "random": ("baselines", "Random"),
    "identity": ("baselines", "Identity"),
    "leap-cqm": ("samplers.leap", "CqmSearch"),
    "leap-nl": ("samplers.leap", "NlSearch"),
}


def list_solvers() -> tuple[SolverInfo, ...]:
    """Return every solver that `solver=` accepts by name, those of the entry-point group `tiger.samplers` last.

    The description of one whose software is not installed says how to get it.
    """
    known = {info.name for info in BUILT_IN}
    others = sorted({entry.name for entry in entry_points(group=GROUP)} - known)
    registered = (SolverInfo(name, "sampler", "registered by another package") for name in others)
    return (*map(_add_note, BUILT_IN), *registered)


def kind_of(name: str) -> Literal["portfolio", "search", "sampler"]:
    """Return the kind of a solver; raise InputError for one that does not exist."""
    for info in BUILT_IN:
        if info.name == name:
            return info.kind
    if entry_points(group=GROUP, name=name):
        return "sampler"
    raise InputError("solver", f"expected one of {', '.join(info.name for info in list_solvers())}, got {name!r}")


def is_sampler(solver: object) -> bool:
    """Return whether a solver, a name or an object, is a sampler; raise InputError for a name that does not exist."""
    return not isinstance(solver, str) or kind_of(solver) == "sampler"


def check_solver(solver: object) -> None:
    """Raise InputError for the name of no solver, and TypeError for what is neither a name nor a sampler."""
    if isinstance(solver, str):
        kind_of(solver)
    elif isinstance(solver, type):
        raise TypeError(f"solver: expected a sampler, got its class: pass {solver.__name__}()")
    elif not callable(getattr(solver, "sample", None)):
        raise TypeError(f"solver: expected a name or a dimod sampler, got {describe(solver)}")
    elif not isinstance(getattr(solver, "parameters", None), Mapping):
        raise TypeError(f"solver: expected a sampler whose `parameters` are a mapping, got {type(solver).__name__}")


def search(name: str) -> Search:
    """Return a search by name; its kernels are imported here and no earlier."""
    module, kind = SEARCHES[name]
    made: Callable[[], Search] = getattr(import_module(f"tiger.solvers.{module}"), kind)
    return made()


def native_searches(problem: Problem) -> tuple[tuple[str, Search], ...]:
    """Return the searches on a problem itself that suit it, by the names of their stages, in the order of a round."""
    from tiger.solvers.annealing import dense
    from tiger.solvers.geometry import geometry
    from tiger.solvers.matching import graph_matching, transposed
    from tiger.solvers.rings import ring_order

    searches: list[tuple[str, Search]] = []
    if ring_order.applies(problem):
        searches.append(("ring", ring_order.RingOrder()))
    regular = geometry.applies(problem)
    if regular:
        searches.append(("geometry", geometry.Geometry(_search_of_boxes if maps_boxes(problem) else None)))
    if graph_matching.applies(problem):
        searches.append(("embedding", graph_matching.GraphMatching()))
    elif transposed.applies(problem):
        searches.append(("embedding", transposed.TransposedMatching()))
    if dense.applies(problem):
        return (*searches, ("dense", dense.Dense()))
    from tiger.solvers.annealing import shared_annealing
    from tiger.solvers.annealing.local import Annealing
    from tiger.solvers.annealing.refinement import COOL, SHORT, WARM, Refinement, RefineParams
    from tiger.solvers.multilevel import kway, multilevel

    large = multilevel.applies(problem) and problem.free.size >= MULTILEVEL_FROM
    leader = None
    if large and problem.free.size >= QUICK_FROM:
        quick = _quick_searches(problem)
        leader = quick[0][0]
        searches += quick
    few, annealed = problem.free.size <= ANNEALED_UP_TO, shared_annealing.applies(problem)
    tight = annealed and _is_tight(problem)
    if large and tight:
        searches.append(("multilevel", multilevel.Multilevel(finish=Refinement(), usage=Usage(rounds="first"))))
    elif large:
        # Where a quick mapping is dearer than what there is, a launch order that fits or one by geometry, a thorough
        # one seldom is cheaper: what there is is refined in its place. FFT and CG patterns on a dragonfly cost 0.6 and
        # 0.4 % less so (`python -m benchmarks ranks`), in about half of the time.
        refinement = Refinement(usage=Usage(rounds="later", leader=leader))
        if regular and geometry.has_holes(problem):
            refinement = Refinement(COOL if geometry.is_close(problem) else WARM, Usage())
        searches.append(("refinement", refinement))
        thorough = Usage(parts=2, leader=leader)
        shared = problem.free.size > len(problem.topology.hosts)
        whole = multilevel.Multilevel(finish=Refinement(SHORT if shared else RefineParams()), usage=thorough)
        clusters = kway.KWay(kway.THOROUGH, finish=Refinement(), usage=thorough)
        huge = problem.free.size >= CLUSTERED_FROM and kway.applies(problem, kway.THOROUGH)
        searches.append(("multilevel", clusters if huge else whole))
    if few or tight or not large:
        searches.append(("annealing", shared_annealing.SharedAnnealing() if annealed else Annealing()))
    return tuple(searches)


def _quick_searches(problem: Problem) -> tuple[tuple[str, Search], ...]:
    """Return the searches of the first round alone, for a good mapping of many tasks soon, the quickest first."""
    from tiger.solvers.annealing.refinement import BRIEF, BRIEFEST, Refinement
    from tiger.solvers.multilevel import kway
    from tiger.solvers.multilevel.multilevel import MEDIUM, QUICK, Multilevel
    from tiger.solvers.multilevel.traversal import Traversal

    first = Usage(rounds="first")
    if _has_chains(problem):
        begin = Traversal() if problem.free.size > TRAVERSED_FROM else None
        bisection = Multilevel(QUICK, begin=begin, usage=first)
        return ("bisection", bisection), ("bisections", Multilevel(MEDIUM, usage=first))
    if kway.applies(problem):
        return (("clusters", kway.KWay(finish=Refinement(BRIEFEST))),)
    return (("bisection", Multilevel(QUICK, finish=Refinement(BRIEF), usage=first)),)


def _has_chains(problem: Problem) -> bool:
    """Return whether tasks share nodes without other constraints, and few of them exchange traffic with each other."""
    constrained = problem.tasks.memory is not None or len(problem.banned) or problem.pinned or problem.groups
    shared = problem.free.size > len(problem.topology.hosts)
    return shared and not constrained and problem.tasks.traffic.nnz <= CHAINED_UP_TO * problem.free.size


def maps_boxes(problem: Problem) -> bool:
    """Return whether geometry has boxes of tasks mapped by a search, as it may where hardware is no grid or tree.

    With fewer tasks the other searches find as much.
    """
    structured = isinstance(problem.topology.metric, GridMetric | TreeMetric)
    return problem.free.size >= QUICK_FROM and not problem.groups and not structured


def _search_of_boxes(problem: Problem) -> Search:
    """Return a quick search for mappings of boxes of tasks, one a node."""
    from tiger.solvers.annealing import dense
    from tiger.solvers.annealing.refinement import BRIEF, Refinement
    from tiger.solvers.multilevel import multilevel

    if dense.applies(problem) or not multilevel.applies(problem):
        return dense.Dense()
    return multilevel.Multilevel(multilevel.QUICK, finish=Refinement(BRIEF))


def _is_tight(problem: Problem) -> bool:
    """Return whether memory or forbidden pairs rule moves out."""
    memory = problem.tasks.memory is not None and problem.topology.memory is not None
    return memory or len(problem.banned) > 0


def search_near(home: IntArray, most: int, origin: IntArray | None = None, price: float = 0.0) -> Search:
    """Return the search among the mappings that differ from `home[n]` in at most so many tasks, each for a price.

    Tasks whose home is -1 may go anywhere; `origin[n]` is a mapping within the limit, home without one.
    """
    from tiger.solvers.annealing.limited_moves import LimitedMoves

    return LimitedMoves(home, most, origin, price)


def build_exact(visits: int) -> Search:
    """Return branch and bound limited to `visits` partial placements at effort 1."""
    from tiger.solvers.exact import Exact

    return Exact(visits)


def maps_nets(problem: Problem) -> bool:
    """Return whether tasks with hyperedges are mapped by these, and not from a mapping of a low cost of pairs."""
    from tiger.solvers.multilevel import net_kway

    return net_kway.applies(problem) and not net_kway.has_tiers(problem)


def objective_searches(arrays: ObjectiveArrays, problem: Problem, *, first: bool) -> tuple[tuple[str, Search], ...]:
    """Return the searches for another objective than the cost: for orders of rings, by clusters, or annealing.

    They are named as their stages are; `first` says that no round has come before.
    """
    if isinstance(arrays, NetArrays):
        from tiger.solvers.annealing.net_annealing import QUICK, NetAnnealing
        from tiger.solvers.multilevel import net_kway

        annealing = ("anneal", NetAnnealing(arrays))
        if not net_kway.applies(problem):
            return (annealing,)
        # A mapping of a low cost of pairs is refined once: where tiers led to it, mappings anew seldom are better.
        by_pairs = first and net_kway.has_tiers(problem)
        params = net_kway.NetKWayParams(passes=1) if by_pairs else net_kway.NetKWayParams()
        quick = (("anneal", NetAnnealing(arrays, QUICK)),) if by_pairs else ()
        return (*quick, ("nets", net_kway.NetKWay(arrays, params, led=by_pairs or not first)), annealing)
    if isinstance(arrays, RingHops):
        from tiger.solvers.rings.ring_set import RingSet

        return (("ring", RingSet(slowest=arrays.bound)),)
    from tiger.solvers.annealing.objective_annealing import ObjectiveAnnealing

    return (("anneal", ObjectiveAnnealing(arrays)),)


def polish(problem: Problem) -> Callable[[IntArray, Block, Stop], IntArray]:
    """Return descent on a problem: from feasible places and the block whose tasks may move to a local optimum."""
    from tiger.solvers.annealing.local import Polish

    return Polish(problem).improve


def bisect(problem: Problem, seed: int, stop: Stop) -> IntArray | None:
    """Return places by one quick recursive bisection, which keep pins and slots; None once `stop` says so."""
    from tiger.solvers.instance import instance_of
    from tiger.solvers.multilevel import multilevel

    return multilevel.dissect(problem, instance_of(problem), multilevel.QUICK, seed, stop)


def sampler(name: str) -> "Sampler":
    """Return a sampler by name; an entry point is loaded and, where it is a class, called without arguments."""
    if name == "neal":
        from dwave.samplers import SimulatedAnnealingSampler

        return _instantiate(SimulatedAnnealingSampler)
    if name == "tabu":
        from dwave.samplers import TabuSampler

        return _instantiate(TabuSampler)
    if name == "dwave":
        from tiger.solvers.samplers.dwave import QpuSampler

        return QpuSampler()
    if name == "leap-bqm":
        from tiger.solvers.samplers.leap import LeapSampler

        return LeapSampler()
    return _instantiate(next(entry for entry in entry_points(group=GROUP) if entry.name == name).load())


def _add_note(info: SolverInfo) -> SolverInfo:
    """Return a solver, with a note where it is one of D-Wave's and the software for it is missing."""
    if info.name not in DWAVE or find_spec("dwave.system"):
        return info
    return replace(info, description=f"{info.description}; needs pip install 'tiger-mapper[dwave]'")


def _instantiate(sampler: "Sampler | type[Sampler]") -> "Sampler":
    """Return the sampler itself, or one of the class."""
    return sampler() if isinstance(sampler, type) else sampler
