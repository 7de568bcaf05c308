"""Tests of how the search on whole routes divides its work."""

from tiger.routing.swaps.phases import Extent, Phase, PhaseParams, PhaseSchedule, plan_attempts, schedule

PARAMS = PhaseParams()


def test_passages_are_the_least_that_is_done() -> None:
    """They make up for work that is too little for a large circuit, and beams are left out."""
    few = Extent(50_000, 32, 512)
    assert schedule(PARAMS, few, 10_000, 0) == PhaseSchedule(2, (Phase(0, 100, 80_000), Phase(0, 20, 80_000)))
    assert schedule(PARAMS, few, 100, 0) == PhaseSchedule(1, (Phase(0, 100, 25_000), Phase(0, 20, 25_000)))


def test_searchers_are_fewer_where_there_is_little_work() -> None:
    """To set up a searcher takes time as well."""
    works = (100_000, 500_000, 2_000_000)
    assert [schedule(PARAMS, Extent(work, 0, 512), 1_000, 0).searchers for work in works] == [1, 2, 4]


def test_ample_work_lets_mappings_race() -> None:
    """Ever fewer of them are routed by ever wider beams, and one routing of the whole fits the widest."""
    ample = Extent(400_000_000, 0, 512)
    searchers, phases = schedule(PARAMS, ample, 100_000, 500_000)
    assert (searchers, [(phase.width, phase.fresh, phase.kept) for phase in phases]) == (
        4,
        [(8, 100, 0), (32, 0, 1), (120, 0, 1), (120, 0, 0)],
    )
    assert 0 <= ample.work // 4 - sum(phase.work for phase in phases) <= len(phases)
    little = Extent(200_000_000, 0, 512)
    assert schedule(PARAMS, little, 100_000, 500_000) == schedule(PARAMS, little, 100_000, 0)


def test_a_race_of_little_work_has_no_rounds_between() -> None:
    """Where the widest beams are hardly wider than the first, the best mappings go on to them at once."""
    _, phases = schedule(PARAMS, Extent(300_000_000, 0, 16), 100_000, 500_000)
    assert [(phase.width, phase.kept) for phase in phases] == [(8, 0), (16, 1), (16, 0)]
    assert 0 <= 75_000_000 - sum(phase.work for phase in phases) <= len(phases)


def test_bug_a_race_routed_fewer_mappings_than_it_kept() -> None:
    """A round of beams of 128 had work for half a mapping, and took four: those not routed went on by former costs."""
    _, phases = schedule(PARAMS, Extent(400_000_000, 0, 512), 100_000, 100_000)
    rounds = [phase for phase in phases[1:-2] if phase.kept > 1]
    assert rounds
    assert all(phase.width * 100_000 * phase.kept <= phase.work for phase in rounds)


def test_bug_the_first_beams_of_a_race_were_wider_than_asked_for() -> None:
    """Beams of eight states raced where the widest allowed has four; and pools of two were to keep four."""
    _, phases = schedule(PARAMS, Extent(400_000_000, 0, 4), 100_000, 500_000)
    assert {phase.width for phase in phases} == {4}
    _, phases = schedule(PhaseParams(routes=2), Extent(400_000_000, 0, 512), 100_000, 100_000)
    assert max(phase.kept for phase in phases) == 2


def test_the_widest_beams_of_a_long_circuit_go_on_in_fewer_lanes() -> None:
    """Under a limit that leaves four searchers 144 states each, two have 288."""
    roomy = PhaseParams(wide_most=192_000_000, enough=512)
    searchers, phases = schedule(roomy, Extent(480_000_000, 0, 1024), 100_000, 500_000)
    assert (searchers, [(phase.width, phase.searchers) for phase in phases]) == (
        4,
        [(8, 0), (32, 0), (288, 2), (288, 2)],
    )
    assert 0 <= 480_000_000 - sum(phase.work * (phase.searchers or searchers) for phase in phases) <= 4 * len(phases)


def test_without_beams_all_routing_is_plain() -> None:
    """As on devices where what moves change finds no room."""
    assert {phase.width for phase in schedule(PARAMS, Extent(10**8, 0, 0), 1_000, 0).phases} == {0}


def test_bug_a_race_of_beams_without_states_never_began() -> None:
    """Rounds of no width were added for ever where a search of ample work was to have no beams."""
    assert {phase.width for phase in schedule(PARAMS, Extent(10**8, 0, 0), 1_000, 1_000).phases} == {0}


def test_a_plan_is_that_of_its_phase() -> None:
    """The kept routes go along with it."""
    plan = plan_attempts(Phase(32, 0, 1_000, 2), PARAMS, 1)
    assert (plan.fresh, plan.fixed, plan.goal, plan.width, plan.ordered, plan.kept) == (0, 1, 1_000, 32, 25, 2)
