"""The solvers by name: searches, Ocean samplers, and those that other packages register."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Literal

from dimod.core.sampler import Sampler

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Search
from tiger.model.window import Block

GROUP = "tiger.samplers"


@dataclass(frozen=True, slots=True)
class SolverInfo:
    """Describe a solver for listings."""

    name: str
    kind: Literal["portfolio", "search", "sampler"]
    description: str


BUILT_IN = (
    SolverInfo("auto", "portfolio", "exact when tiny, else native search joined by tuned QUBO windows"),
    SolverInfo("search", "search", "annealing on the problem itself, ending in descent"),
    SolverInfo("exact", "search", "branch and bound with proof, for about a dozen tasks"),
    SolverInfo("greedy", "search", "most traffic first, cheapest node first"),
    SolverInfo("random", "search", "random feasible mappings"),
    SolverInfo("identity", "search", "the baseline mapping as it is"),
    SolverInfo("neal", "sampler", "D-Wave's simulated annealing on the tuned QUBO, repaired and polished"),
    SolverInfo("tabu", "sampler", "D-Wave's tabu search on the QUBO at its safe bound, repaired and polished"),
)


def available() -> tuple[SolverInfo, ...]:
    """Return every solver that `solver=` accepts by name, those of the entry-point group `tiger.samplers` last."""
    known = {info.name for info in BUILT_IN}
    others = sorted({entry.name for entry in entry_points(group=GROUP)} - known)
    return BUILT_IN + tuple(SolverInfo(name, "sampler", "registered by another package") for name in others)


def kind_of(name: str) -> Literal["portfolio", "search", "sampler"]:
    """Return the kind of a solver; raise InputError for one that does not exist."""
    for info in BUILT_IN:
        if info.name == name:
            return info.kind
    if entry_points(group=GROUP, name=name):
        return "sampler"
    raise InputError("solver", f"expected one of {', '.join(info.name for info in available())}, got {name!r}")


def search(name: str) -> Search:
    """Return a search by name; its kernels are imported here and no earlier."""
    from tiger.solvers.baselines import Identity, Random
    from tiger.solvers.exact import Exact
    from tiger.solvers.greedy import Greedy
    from tiger.solvers.local import Annealing

    made: dict[str, Callable[[], Search]] = {
        "search": Annealing,
        "exact": Exact,
        "greedy": Greedy,
        "random": Random,
        "identity": Identity,
    }
    return made[name]()


def exact(visits: int) -> Search:
    """Return branch and bound limited to `visits` partial placements at effort 1."""
    from tiger.solvers.exact import Exact

    return Exact(visits)


def polish(problem: Problem) -> Callable[[IntArray, Block], IntArray]:
    """Return descent on a problem: from feasible places and the block whose tasks may move to a local optimum."""
    from tiger.solvers.local import Polish

    return Polish(problem).improve


def sampler(name: str) -> Sampler:
    """Return a sampler by name; an entry point is loaded and, where it is a class, called without arguments."""
    if name == "neal":
        from dwave.samplers import SimulatedAnnealingSampler

        return _made(SimulatedAnnealingSampler)
    if name == "tabu":
        from dwave.samplers import TabuSampler

        return _made(TabuSampler)
    return _made(next(entry for entry in entry_points(group=GROUP) if entry.name == name).load())


def _made(found: Sampler | type[Sampler]) -> Sampler:
    """Return the sampler itself, or one of the class."""
    return found() if isinstance(found, type) else found
