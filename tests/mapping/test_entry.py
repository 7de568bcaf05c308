"""Tests of the Python entry: what it takes, and what it refuses."""

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import tiger
from tiger.errors import InputError
from tiger.mapping.entry import assign, problem_of
from tiger.model.metrics import GridMetric
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.qubo.params import Sampling

QAP = "3\n\n0 1 2\n1 0 1\n2 1 0\n\n0 5 0\n5 0 1\n0 1 0\n"


def chain(size: int) -> TaskGraph:
    """Return tasks 0, 1, .. where each sends one unit to the next."""
    ends = np.arange(size - 1)
    traffic = sp.csr_array((np.ones(size - 1), (ends, ends + 1)), shape=(size, size))
    return TaskGraph(names=tuple(map(str, range(size))), traffic=traffic)


def line(*slots: int) -> Topology:
    """Return nodes a, b, .. in a row with these slots."""
    names = tuple(chr(ord("a") + k) for k in range(len(slots)))
    return Topology(names=names, metric=GridMetric((len(slots),), (False,)), slots=np.array(slots))


def test_the_function_stays_a_function() -> None:
    """The package hands out the function each time, never a module of that name."""
    assert tiger.assign is tiger.assign is assign


def test_networkx_graphs_are_taken_as_they_are() -> None:
    """A grid of 16 tasks fits a grid of 16 nodes with every edge on one link."""
    report = tiger.assign(nx.grid_2d_graph(4, 4), nx.grid_2d_graph(4, 4), seed=1)
    assert report.feasible
    assert sorted(report.mapping) == sorted(report.mapping.values())
    assert report.cost is not None
    assert report.cost >= 24


def test_a_specification_names_a_topology() -> None:
    """A string that names a kind of hardware is built."""
    assert set(assign(chain(4), "grid:2x2").mapping.values()) == {"0,0", "0,1", "1,0", "1,1"}


def test_value_types_are_taken_as_they_are() -> None:
    """A chain on a line costs one hop per message."""
    assert assign(chain(4), line(1, 1, 1, 1)).cost == 3


@pytest.mark.parametrize("source", [str, Path])
def test_a_dat_file_brings_its_distances(source: Callable[[str], str], tmp_path: Path) -> None:
    """The first matrix is the hardware, the second the traffic; both chains match at 5 + 5 + 1 + 1."""
    (tmp_path / "small.dat").write_text(QAP)
    assert assign(source(str(tmp_path / "small.dat"))).cost == 12


def test_a_dat_file_takes_no_other_topology(tmp_path: Path) -> None:
    """Two sets of distances cannot both hold."""
    (tmp_path / "small.dat").write_text(QAP)
    with pytest.raises(InputError, match=r"topology: expected none, as the task file brings its own distances"):
        assign(str(tmp_path / "small.dat"), "grid:3")


def test_a_topology_must_come_from_somewhere() -> None:
    """Tasks alone are no problem."""
    with pytest.raises(InputError, match=r"topology: expected a specification such as 'torus:4x4'"):
        assign(chain(2))


@pytest.fixture
def ram(tmp_path: Path) -> str:
    """Return the path of a task file of the original tool: 0 to 1 and 2, and those to 3."""
    path = tmp_path / "diamond.ram"
    tasks = "".join(f"{task} 0 1 1 1\n" for task in range(4))
    path.write_text(f"/* notes */\nAppName diamond\n4 4\n0\n10\n{tasks}0 0 1 1\n1 0 2 1\n2 1 3 1\n3 2 3 1\n")
    return str(path)


def test_a_ram_file_asks_for_levels(ram: str) -> None:
    """The original tool's rule goes with its files."""
    assert assign(ram, "grid:2x2").rule == "levels"


def test_a_rule_goes_before_that_of_the_file(ram: str) -> None:
    """What the caller asks for wins, and slots ask for capacity."""
    assert assign(ram, "grid:2x2", rule="one-to-one").rule == "one-to-one"
    assert assign(ram, "grid:2x2", slots=2).rule == "capacity"


def test_pins_are_kept_by_any_id() -> None:
    """Tuples and numbers name nodes of the graphs that they are ids of."""
    tasks, hardware = nx.grid_2d_graph(2, 2), nx.grid_graph((2, 2, 2))
    assert assign(tasks, hardware, pinned={(0, 0): (1, 0, 1)}).mapping["0,0"] == "1,0,1"
    assert assign(nx.path_graph(3), nx.path_graph(3), pinned={0: 1, 1: "2"}).mapping == {"0": "1", "1": "2", "2": "0"}


def test_forbidden_pairs_are_kept_by_any_id() -> None:
    """A task that may not lie at two of three nodes lies at the third."""
    report = assign(nx.path_graph(3), nx.path_graph(3), forbidden=[(1, 1), ["1", 2]])
    assert report.mapping["1"] == "0"


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("pinned/9", {"pinned": {9: 0}}),
        ("pinned/0", {"pinned": {0: 9}}),
        ("pinned/0", {"pinned": {0: 1, "0": 2}}),
        ("pinned", {"pinned": {None: 0}}),
        ("pinned/0", {"pinned": {0: float("nan")}}),
        ("forbidden/0/1", {"forbidden": [(0, None)]}),
        ("forbidden/1/1", {"forbidden": [(0, 0), (0, 9)]}),
        ("forbidden/0/0", {"forbidden": [(9, 0)]}),
        ("forbidden/1", {"forbidden": [(0, 0), (0, 1, 2)]}),
        ("rule", {"rule": "two-to-two"}),
        ("solver", {"solver": "nobody"}),
        ("objective", {"objective": "latency"}),
        ("objective", {"objective": "makespan"}),
        ("seed", {"seed": -1}),
        ("effort", {"effort": 0}),
        ("time_limit_s", {"time_limit_s": 0.0}),
    ],
)
def test_bad_values_name_their_field(field: str, arguments: dict[str, object]) -> None:
    """Every argument that cannot be used is named."""
    with pytest.raises(InputError) as caught:
        assign(nx.path_graph(3), "grid:3", **arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "arguments",
    [
        {"tasks": 3},
        {"topology": [1, 2]},
        {"pinned": [(0, 0)]},
        {"forbidden": {0: 0}},
        {"forbidden": "00"},
        {"forbidden": 3},
        {"forbidden": ["00"]},
        {"levels": "node=20"},
    ],
    ids=str,
)
def test_bad_types_are_named(arguments: dict[str, object]) -> None:
    """A value of another type is a programming error, and the message names it."""
    with pytest.raises(TypeError, match=f"expected {next(iter(arguments))}"):
        assign(**{"tasks": chain(3), "topology": "grid:3", **arguments})


def test_objectives_are_handed_on() -> None:
    """A star on a row loads both links of its hub at best, wherever the cost would be the same."""
    report = assign(nx.star_graph(2), "grid:3", objective="max-link-load")
    assert report.objective is not None
    assert (report.objective.value, report.cost) == (1, 2)


def test_inputs_are_left_alone() -> None:
    """Neither graphs nor pins are changed."""
    tasks, pins = nx.path_graph(3), {0: 1}
    assign(tasks, nx.path_graph(3), pinned=pins)
    assert nx.utils.graphs_equal(tasks, nx.path_graph(3))
    assert pins == {0: 1}


HARD = nx.gnm_random_graph(9, 20, seed=2)


def rounds(report: tiger.Report) -> list[dict[str, object]]:
    """Return the rounds of the QUBO of the whole problem."""
    stage = next(stage for stage in report.stages if stage.name == "qubo")
    return stage.to_dict()["rounds"]  # type: ignore[return-value]


@pytest.mark.long
@pytest.mark.parametrize("scale", [0.3, 1, 2.5])
def test_a_penalty_scale_holds_in_every_round(scale: float) -> None:
    """What was asked for is what every round reports, and costs are centred below the safe bound alone."""
    asked = tiger.IsingParams(penalty_scale=scale, whole=Sampling(rounds=3, reads=2, sweeps=20))
    found = rounds(assign(HARD, "grid:3x3", solver="neal", ising=asked))
    assert [(row["penalty_scale"], row["centred"]) for row in found] == [(scale, scale < 1)] * 3


@pytest.mark.slow
def test_temperatures_are_those_asked_for() -> None:
    """Every round reports them."""
    asked = tiger.IsingParams(beta_range=(0.25, 4.0), whole=Sampling(rounds=2, reads=2, sweeps=20))
    found = rounds(assign(HARD, "grid:3x3", solver="neal", ising=asked))
    assert [row["beta_range"] for row in found] == [[0.25, 4.0]] * 2


@pytest.mark.long
def test_capacities_may_go_without_slack_bits() -> None:
    """The QUBO has a variable less for every slack bit."""
    sizes = []
    for encoding in ("slack", "slack-free"):
        asked = tiger.IsingParams(capacity=encoding, whole=Sampling(rounds=1, reads=2, sweeps=20))
        report = assign(HARD, "grid:2x2", slots=3, solver="neal", ising=asked)
        sizes.append(next(stage.detail["variables"] for stage in report.stages if stage.name == "qubo"))
    assert sizes == [36 + 4 * 2, 36]


def test_options_of_the_ising_path_must_be_its_own_type() -> None:
    """A dictionary is a programming error."""
    with pytest.raises(TypeError, match="ising: expected IsingParams, got dict"):
        assign(chain(2), "grid:2", ising={"penalty_scale": 1})


def test_the_problem_is_the_one_that_is_solved(ram: str) -> None:
    """Rule, slots, pins and forbidden pairs are read as `assign` reads them."""
    assert problem_of(ram, "grid:2x2").rule == "levels"
    stated = problem_of(chain(3), line(1, 1), slots=2, pinned={0: "b"}, forbidden=[(1, "a")])
    assert (stated.rule, stated.pinned, stated.forbidden) == ("capacity", {"0": "b"}, {("1", "a")})
    assert stated.topology.slots.tolist() == [2, 2]


CORNERS = [(0, 0), (0, 3), (3, 0), (3, 3)]


def test_an_allocation_leaves_its_nodes_to_the_tasks() -> None:
    """Defaults count the four corners alone: four tasks go one to one, eight with two on each; hops stay hops."""
    few = assign(chain(4), "grid:4x4", allocation=CORNERS, seed=1)
    many = assign(chain(8), "grid:4x4", allocation=CORNERS, seed=1)
    assert sorted(few.mapping.values()) == ["0,0", "0,3", "3,0", "3,3"]
    assert (few.rule, few.cost, few.lower_bound) == ("one-to-one", 9, 9)
    assert (many.rule, many.cost, set(many.mapping.values())) == ("capacity", 9, set(few.mapping.values()))


@pytest.mark.parametrize("given", ["3,3 0,0", "3,3;0,0", Path("two.txt"), "two.txt", iter([(3, 3), "0,0"])])
def test_an_allocation_is_ids_or_text_or_a_file(given: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launch order takes the nodes in the order of the list."""
    (tmp_path / "two.txt").write_text("3,3\n0,0\n")
    monkeypatch.chdir(tmp_path)
    assert assign(chain(2), "grid:4x4", allocation=given, solver="identity").mapping == {"0": "3,3", "1": "0,0"}


def test_a_set_of_nodes_has_no_order() -> None:
    """The launch order is that of the topology, in every process."""
    report = assign(chain(4), "grid:4x4", allocation={"3,3", (0, 3), "0,0", "3,0"}, solver="identity")
    assert [*report.mapping.values()] == ["0,0", "0,3", "3,0", "3,3"]


def test_bug_the_verdict_knew_no_order_but_that_of_the_topology() -> None:
    """Hosts listed in turns of two racks: neighbours in blocks are apart, and in turns of the four hosts as well."""
    given = assign("ring:8", "tree:2x2@1,10", slots=2, allocation="0,0 1,0 0,1 1,1", solver="identity")
    sorted_ = assign("ring:8", "tree:2x2@1,10", slots=2, solver="identity")
    assert (given.baselines.block, sorted_.baselines.block) == (40, 22)
    assert given.baselines.cyclic == 80
    assert [*given.mapping.values()] == ["0,0", "0,0", "1,0", "1,0", "0,1", "0,1", "1,1", "1,1"]


@pytest.mark.parametrize("given", [{(3, 3): 3, "0,0": 1}, "3,3:3 0,0", ["3,3", (3, 3), "0,0", "3,3"]])
def test_an_allocation_may_have_slots(given: object) -> None:
    """Blocks fill them in the order of the hosts, and turns leave out those that are full."""
    report = assign(chain(4), "grid:4x4", allocation=given, solver="identity")
    assert [*report.mapping.values()] == ["3,3", "3,3", "3,3", "0,0"]
    assert (report.rule, report.baselines.block, report.baselines.cyclic) == ("capacity", 6, 12)


def test_slots_beside_those_of_an_allocation_are_refused() -> None:
    """Unless they are the same; rule one-to-one leaves them free."""
    with pytest.raises(InputError, match="as '0' with 3, got 2") as caught:
        problem_of(chain(4), "ring:4", allocation={"1": 2, "0": 3}, slots=2)
    assert caught.value.field == "slots"
    assert problem_of(chain(4), "ring:4", allocation={"1": 2, "0": 2}, slots=2).topology.slots.tolist() == [2, 2, 0, 0]


def test_imbalance_scales_what_an_allocation_gives() -> None:
    """Three slots each by default or as stated, half more, rounded down; none elsewhere."""
    for slots in (None, 3):
        problem = problem_of(chain(6), "ring:5", allocation=["1", "3"], slots=slots, imbalance=0.5)
        assert problem.topology.slots.tolist() == [0, 4, 0, 4, 0]


def test_traffic_keeps_off_links_that_others_use(tmp_path: Path) -> None:
    """Of a ring's two ways between free nodes the idle one is taken, by triples and by a file."""
    (tmp_path / "busy.csv").write_text("0,1,0.5\n")
    for running in ([(0, 1, 0.5)], tmp_path / "busy.csv", str(tmp_path / "busy.csv")):
        report = assign(chain(2), "ring:6", allocation=["0", "1", "2"], running=running)
        assert {*report.mapping.values()} == {"1", "2"}


@pytest.mark.parametrize(
    ("running", "reason"),
    [
        ("busy.csv", "running: cannot read"),
        ([(0, 1, 1)], "running/0: expected a share"),
        ([(0, 9, 0.5)], "got '0' and '9'"),
    ],
)
def test_shares_of_links_that_cannot_be_are_refused(running: object, reason: str) -> None:
    """The position is named."""
    with pytest.raises(InputError, match=reason):
        assign(chain(2), "ring:6", running=running)


@pytest.mark.parametrize("running", [{0: 1}, 7, [(0, 1)], [(0, 1, "half")], [(0, 1, True)]])
def test_shares_of_links_of_another_type_are_refused(running: object) -> None:
    """It is a mistake in the program, not in the data."""
    with pytest.raises(TypeError, match="running"):
        assign(chain(2), "ring:6", running=running)


def test_a_pin_outside_the_allocation_cannot_be_met() -> None:
    """The violation names the task, the node and the reason."""
    report = assign(chain(2), "ring:4", allocation=["0", "1"], pinned={"0": "2"})
    said = "task '0' is pinned to node '2', which has 0 slots: it is a switch, or outside the allocation"
    assert [violation.message for violation in report.violations] == [said]


@pytest.mark.parametrize("given", [{"0": "1"}, {"0": True}, 3])
def test_an_allocation_of_another_type(given: object) -> None:
    """A mapping to anything but numbers says too much, and a number too little."""
    with pytest.raises(TypeError, match=r"expected allocation( as nodes, a mapping|\['0'\] as a whole number)"):
        assign(chain(2), "ring:4", allocation=given)


@pytest.mark.parametrize(
    ("given", "field"),
    [([], "allocation"), (["0", "9"], "allocation/1"), ([[]], "allocation/0"), ({"0": 0}, "allocation")],
)
def test_allocations_are_checked(given: object, field: str) -> None:
    """Unknown and missing nodes are bad input, and so are slots that are none."""
    with pytest.raises(InputError) as caught:
        assign(chain(2), "ring:4", allocation=given)
    assert caught.value.field == field


def test_the_order_of_ranks_is_emitted_for_a_launcher():
    """As the report itself emits it; what a launcher cannot take is refused before anything is solved."""
    hosts = nx.path_graph(["n0", "n1", "n2", "n3"])
    report = tiger.assign("ring:4", hosts, emit="slurm")
    assert report.emitted == report.emit("slurm") == "".join(f"{report.mapping[str(rank)]}\n" for rank in range(4))
    steps = []
    with pytest.raises(InputError, match=r"^emit: expected cores in the hardware"):
        tiger.assign("ring:4", hosts, emit="openmpi", progress=steps.append)
    assert steps == []
