"""Which searches and samplers a solver consists of."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from tiger.mapping.previous import Anew
from tiger.mapping.request import Request
from tiger.mapping.sampler_policy import ising_of, limit
from tiger.model.problem import Problem
from tiger.model.seams import Search, Usage
from tiger.qubo.ising import Ising
from tiger.qubo.params import IsingParams, Sampling
from tiger.solvers import registry

if TYPE_CHECKING:
    from dimod.core.sampler import Sampler

# Exact search joins for its proofs, 8 of 30 on random graphs of 8 to 20 tasks where there are none without it; costs
# stay the same (`python -m benchmarks.vary tiger.mapping.portfolio:EXACT_TASKS 24 0`). At effort 1 it visits this many
# cells.
EXACT_TASKS, EXACT_CELLS = 24, 2_000_000
# Windows join up to so many task-node pairs: without them layered graphs cost up to 0.4 % more, and nothing is gained
# above (`python -m benchmarks.vary tiger.mapping.portfolio:WINDOWED 4096 0 16384`).
WINDOWED = 1 << 12
# Free tasks from which on a bisection does without a greedy mapping before it, which takes 0.07 to 0.2 s for 4,096 to
# 8,000 tasks on as many nodes. For 1,100 to 3,000 it takes 0.02 s at most, finds and proves the best mapping of a star
# at once, which is 3.6 to 3.8 % dearer without it, and makes rings on grids 0.8 to 2.1 % cheaper (three seeds each).
LED_FROM = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Portfolio:
    """Hold what a round of a solver runs, in this order: searches by the names of their stages, then samplers.

    `whole` samples the QUBO of the whole problem, `windows` those of its windows; None for neither. Windows that join
    searches go on as long as they gain.
    """

    searches: tuple[tuple[str, Search], ...] = ()
    whole: Ising | None = None
    windows: Ising | None = None

    @property
    def long(self) -> str | None:
        """Return the name of the only search of later rounds if it finds most in one long round, else None."""
        usages = [(name, getattr(search, "usage", Usage())) for name, search in self.searches]
        later = [(name, usage.long) for name, usage in usages if usage.covers(1)]
        alone = len(later) == 1 and self.whole is None and self.windows is None
        return later[0][0] if alone and later[0][1] else None


def portfolio_of(request: Request, problem: Problem, anew: Anew | None = None) -> Portfolio:
    """Return what the solver of a request consists of for a problem, near a mapping with few moves if there is one."""
    if request.home is not None and request.max_moves is not None:
        return Portfolio(searches=(("moves", registry.search_near(request.home, request.max_moves)),))
    if anew is not None:
        return _near(request, anew)
    by_nets = request.objective == "multicast" and request.solver in ("auto", "search")
    if by_nets and registry.maps_nets(problem):
        return Portfolio()
    if request.answers.error is not None:
        # A sampler that has failed in an earlier search of the same use is not connected to again.
        return Portfolio(searches=registry.native_searches(problem) if request.solver == "auto" else ())
    if request.solver == "auto":
        return _auto(request, problem)
    if request.solver == "search":
        return Portfolio(searches=registry.native_searches(problem))
    if isinstance(request.solver, str) and registry.kind_of(request.solver) == "search":
        return Portfolio(searches=((request.solver, registry.search(request.solver)),))
    ising = _ising(request, request.answers.connect(partial(_sampler, request)), problem, request.ising)
    return Portfolio(whole=ising, windows=ising)


def _near(request: Request, anew: Anew) -> Portfolio:
    """Return the search near a mapping with few moves, none where no task may move that can stay."""
    price, most = request.move_cost, anew.moves + (request.max_moves or 0)
    if price is not None and request.max_moves is None:
        most = len(anew.places)
    if not most:
        return Portfolio()
    return Portfolio(searches=(("moves", registry.search_near(anew.homes.home, most, anew.places, price or 0.0)),))


def _sampler(request: Request) -> "Sampler":
    """Return the sampler that is asked for, within the limits that are set of a machine."""
    sampler = registry.sampler(request.solver) if isinstance(request.solver, str) else request.solver
    return limit(sampler, request.ising)


def _auto(request: Request, problem: Problem) -> Portfolio:
    """Return greedy, exact search where tiny, native search, and tuned windows for at most a quarter of the work."""
    tasks, nodes = len(problem.free), len(problem.topology.hosts)
    native = registry.native_searches(problem)
    # Where it need not be repaired, a bisection is as fast, and seldom leaves a greedy mapping anything to give.
    led = (
        bool({"bisection", "clusters"} & dict(native).keys())
        and problem.tasks.memory is None
        and not len(problem.banned)
    )
    led &= tasks >= LED_FROM
    searches = [] if led else [("greedy", registry.search("greedy"))]
    if 0 < tasks <= EXACT_TASKS:
        searches.append(("exact", registry.build_exact(visits=max(EXACT_CELLS // (tasks * nodes), 1))))
    few = IsingParams(
        window=Sampling(rounds=1, reads=4, sweeps=100),
        passes=1,
        windows=max(tasks // (64 if problem.rule == "levels" else 16), 1),
        starts=0,
        control=False,
        penalty_scale=request.ising.penalty_scale,
        beta_range=request.ising.beta_range,
        capacity=request.ising.capacity,
    )
    small = tasks * nodes <= WINDOWED
    return Portfolio(
        searches=(*searches, *native),
        windows=_ising(request, registry.sampler("neal"), problem, few) if small else None,
    )


def _ising(request: Request, sampler: "Sampler", problem: Problem, params: IsingParams) -> Ising:
    """Return the Ising path for a sampler, whose answers are those of the request, as its report warns of a failure."""
    keep = None if request.folder is None else request.folder.of(problem).keep
    return replace(ising_of(sampler, problem, params, request.executor), answers=request.answers, keep=keep)
