"""What a sampler contributed, counted and in words, and that counting changes no answer."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

import tiger
from tiger.mapping.mapper import solve
from tiger.mapping.summary import summary
from tiger.qubo.params import IsingParams, Sampling
from tiger.run.report import Report
from tiger.run.samples import BestReads, SampleCount, SamplingReport

ROOT = Path(__file__).parents[2]
FEW = IsingParams(whole=Sampling(rounds=3, reads=8, sweeps=50), window=Sampling(rounds=1, reads=4, sweeps=50), passes=2)


def test_counts_add_up() -> None:
    """Reads, shares by reads, seconds where they are known, and the least costs of both kinds."""
    count = SampleCount()
    count.add(10, 0.5, {})
    count.add(30, 0.1, {"qpu_access_time_us": 250_000})
    count.add(10, 0.0, {"qpu_access_time_us": 0.5e6, "other": "text"})
    count.compare(10, BestReads(repaired=9.0, polished=5.0), BestReads(repaired=12.0, polished=7.0))
    count.compare(30, BestReads(raw=8.0, repaired=8.0, polished=6.0), BestReads(repaired=10.0, polished=5.0))
    found = count.report(3, estimated=False)
    assert (found.calls, found.reads, found.compared_reads) == (3, 50, 40)
    assert found.feasible_share == pytest.approx(8 / 50)
    assert found.access_time_s == pytest.approx(0.75)
    assert found.cost_of_reads == BestReads(raw=8.0, repaired=8.0, polished=5.0)
    assert found.cost_of_control == BestReads(raw=None, repaired=10.0, polished=5.0)
    assert SampleCount().report(0, estimated=False) == SamplingReport()


@pytest.mark.parametrize(
    ("own", "other", "text"),
    [
        (5.0, 5.0, "coin flips reach the same"),
        (4.0, 5.0, "coin flips cost 25.0% more"),
        (5.0, 4.0, "coin flips cost 20.0% less"),
        (0.0, 1.0, "coin flips cost more"),
        (0.1 + 0.2, 0.3, "coin flips reach the same"),
        (10000.0, 10001.0, "coin flips cost less than 0.1% more"),
        (None, 1.0, None),
    ],
)
def test_the_verdict_is_said_in_words(own: float | None, other: float, text: str | None) -> None:
    """None where nothing can be compared."""
    found = SamplingReport(cost_of_reads=BestReads(polished=own), cost_of_control=BestReads(polished=other))
    assert found.verdict == text
    assert SamplingReport().verdict is None


@pytest.mark.parametrize("rule", ["one-to-one", pytest.param("levels", marks=pytest.mark.slow), "capacity"])
def test_the_control_changes_no_answer(random_problem, rule: str) -> None:
    """With and without coin flips: the same mapping, and costs in order on their way."""
    problem = random_problem(rule, 2, tasks=12, nodes=16, hardware="grid")
    with_control = solve(problem, solver="neal", seed=3, ising=FEW)
    without = solve(problem, solver="neal", seed=3, ising=replace(FEW, control=False))
    assert with_control.mapping == without.mapping
    found, other = with_control.sampling, without.sampling
    assert found.calls == other.calls > 0
    assert found.reads == other.reads > found.compared_reads > 0 == other.compared_reads
    for costs in (found.cost_of_reads, found.cost_of_control):
        known = [cost for cost in (costs.raw, costs.repaired, costs.polished) if cost is not None]
        assert known == sorted(known, reverse=True)
    assert found.cost_of_reads.polished >= with_control.cost * (1 - 1e-12)
    assert (other.cost_of_reads, other.cost_of_control) == (None, None)
    assert "  best coin flips" in summary(with_control)
    assert Report.from_dict(with_control.to_dict()).sampling == found


@pytest.mark.slow
def test_the_documented_run_on_a_machine_submits() -> None:
    """Calls, reads and seconds of D-Wave's mock, as it states them and as the page on samplers says."""
    testing = pytest.importorskip("dwave.system.testing")
    from tiger.solvers.samplers.dwave import QpuSampler

    machine = testing.MockDWaveSampler(topology_type="zephyr", topology_shape=[12])
    calls, spent_us, draw = 0, 0.0, machine.sample

    def sample(bqm, **options):
        nonlocal calls, spent_us
        answer = draw(bqm, **options)
        calls, spent_us = calls + 1, spent_us + answer.info["timing"]["qpu_access_time"]
        return answer

    machine.sample = sample
    examples, page = ROOT / "examples", (ROOT / "docs" / "samplers.md").read_text(encoding="utf-8")
    report = tiger.assign(examples / "butko11.ram", examples / "mesh_2x2_het.arc", solver=QpuSampler(machine))
    assert report.sampling.calls == calls
    assert report.sampling.access_time_s == pytest.approx(spent_us / 1e6)
    assert f"makes {calls} submissions, for {spent_us / 1e6:.2f} s of QPU access time" in page
    assert f"ends\nat {report.cost:g}, the optimum" in page
    assert "s on the machine" in summary(report)


def test_solvers_that_do_not_sample_say_nothing_of_it() -> None:
    """Native search has no samples, and a sampler that was not needed says why."""
    assert tiger.assign(nx.path_graph(2), "grid:1x2", solver="search").sampling is None
    report = tiger.assign(nx.path_graph(2), "grid:1x2", solver="neal")
    assert report.sampling == SamplingReport()
    assert "none: the mapping was proved optimal before" in summary(report)
