"""How the search on whole routes divides its work: phases, in which all searchers use beams of one width."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tiger.routing.swaps.rerouting import ReroutePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseParams:
    """Set how a search divides its work.

    There are two searchers above `two_searchers_work` and four above `four_searchers_work`, each with a pool of
    `routes`. A searcher begins with plain routing, for a share `first_share` of its work; then beams of `narrowest`
    states, twice as many in every later phase, as long as `passes` routings of the whole circuit take at most a share
    `widest_share`. `fresh` says how many per cent of the attempts begin at a new mapping in the first phase, in that of
    the narrowest beams, in the next and in all later ones. `ordered` is how many per cent of the sides of a cut keep
    each qubit's gates in circuit order, with narrow beams and with wide ones: circuits of the Fourier transform need
    them.

    With work for a beam of `wide_least` states through the whole circuit mappings race instead, by successive halving
    (Jamieson, Talwalkar 2016): new ones are routed by beams of `race_narrowest` states for `race_share` of the work,
    and the best `kept` of each searcher forth and back by beams `race_factor` times as wide, then fewer of them by
    wider ones still. For `wide_share` of the work beams are so wide that one routing of the whole takes all of it, in
    fewer searchers where each would have at most half of `enough` states: the longest circuits of `timed` end 0.9 %
    lower in 10 s so than with four. Nothing stops a routing, which takes `wide_most` at most: under a second. Long
    circuits end with fewer extra CX so than with ever wider beams in the same time, as whole routings from different
    mappings differ by 5 to 20 %; `python -m benchmarks record` and `timed` measure them. Their first tenth hardly tells
    the rest: over 40 mappings both correlate by -0.1 to 0.4 (four circuits).
    """

    two_searchers_work: int = 200_000
    four_searchers_work: int = 1_000_000
    routes: int = 6
    first_share: float = 0.05
    narrowest: int = 4
    passes: int = 3
    widest_share: float = 0.2
    fresh: tuple[int, int, int, int] = (100, 50, 20, 5)
    ordered: tuple[int, int] = (50, 25)
    wide_least: int = 512
    wide_share: float = 0.6
    wide_most: int = 64_000_000
    race_narrowest: int = 8
    race_factor: int = 4
    race_share: float = 0.2
    kept: int = 4
    enough: int = 0

    def count_searchers(self, work: int) -> int:
        """Return how many searchers share the work."""
        return 4 if work > self.four_searchers_work else 2 if work > self.two_searchers_work else 1


class Phase(NamedTuple):
    """Hold what the searchers do for a while: how wide beams are, per cent of new mappings, and the work of a searcher.

    Where `kept` is not 0 only that many routes of each searcher stay, the best of all, and are routed again as a whole.
    Where `searchers` is not 0 no more than these go on.
    """

    width: int
    fresh: int
    work: int
    kept: int = 0
    searchers: int = 0


class PhaseSchedule(NamedTuple):
    """Hold how many searchers a search has, and their phases."""

    searchers: int
    phases: tuple[Phase, ...]


class Extent(NamedTuple):
    """Hold how much work a search may do, how many passages it makes at least, and how wide its beams may get."""

    work: int
    passages: int
    width: int


def schedule(params: PhaseParams, extent: Extent, passage: int, beam: int) -> PhaseSchedule:
    """Return the phases of a search; plain routing all along where passages are asked for, which are few.

    `passage` is the work of plain routing, `beam` that of a beam for each of its states, 0 where that is not known.
    """
    work = extent.work
    if extent.passages:
        whole = max(work, extent.passages * passage)
        searchers = min(params.count_searchers(whole), 2)
        half = whole // searchers // 2
        return PhaseSchedule(searchers, (Phase(0, params.fresh[0], half), Phase(0, params.fresh[2], half)))
    searchers = params.count_searchers(work)
    if beam and extent.width and work > params.wide_least * beam:
        return PhaseSchedule(searchers, tuple(_list_race_phases(params, extent, beam, searchers)))
    return PhaseSchedule(searchers, tuple(_list_phases(params, work // searchers, passage, extent.width)))


def plan_attempts(phase: Phase, params: PhaseParams, fixed: int) -> ReroutePlan:
    """Return the plan of a phase's attempts; its work is the goal of a searcher that has done none."""
    ordered = params.ordered[phase.width > params.narrowest]
    return ReroutePlan(phase.fresh, fixed, phase.work, phase.width, ordered, phase.kept)


def _list_phases(params: PhaseParams, work: int, passage: int, width: int) -> Iterator[Phase]:
    """Yield plain routing, then ever wider beams, while several passages fit a phase; none if not even one does."""
    # Too little for a quarter of a passage is better left: the first attempt alone would take four times as long.
    if 4 * work < passage:
        return
    first = Phase(0, params.fresh[0], max(int(params.first_share * work), min(work, 2 * params.passes * passage)))
    yield first
    narrowest = params.narrowest
    widest = min(width, int(params.widest_share * work / (params.passes * passage)))
    widths = [narrowest << k for k in range(16) if narrowest << k <= widest]
    widths = widths or [narrowest if narrowest <= width and narrowest * passage <= work else 0]
    for rank, each in enumerate(widths):
        yield Phase(each, params.fresh[min(rank, 2) + 1], (work - first.work) // len(widths))


def _list_race_phases(params: PhaseParams, extent: Extent, beam: int, searchers: int) -> Iterator[Phase]:
    """Yield narrow beams from new mappings, ever wider ones for ever fewer of these, and the widest that fit."""
    work = extent.work // searchers
    wide, narrow = int(params.wide_share * work), int(params.race_share * work)
    between, last = work - narrow - wide, searchers
    # Up to this many states one routing ends lower than the best of two by beams of half the width.
    most = min(min(params.enough, extent.width) * beam, params.wide_most)
    while last > 1 and 2 * wide * searchers // last <= most:
        last //= 2
    wide = wide * searchers // last
    narrowest = min(params.race_narrowest, extent.width)
    widest = min(max(min(wide, params.wide_most) // beam, narrowest), extent.width)
    widths, each = list[int](), narrowest * params.race_factor
    # A round has work for a mapping in every searcher, and beams of half the greatest width at most.
    while 2 * each <= widest and (len(widths) + 1) * each * beam <= between:
        widths.append(each)
        each *= params.race_factor
    yield Phase(narrowest, 100, narrow)
    for k, each in enumerate(widths):
        share = between // len(widths)
        # As many as there is work for, so that no route goes on that was not routed by the beams of its round.
        yield Phase(each, 0, share, max(min(params.kept >> k, params.routes, share // (each * beam)), 1))
    left = wide if widths else wide + between * searchers // last
    yield Phase(widest, 0, left // 2, 1, last)
    yield Phase(widest, 0, left // 2, 0, last)
