"""Tests of samples that a solve keeps, and of what they come to later."""

import json
from dataclasses import replace

import dimod
import networkx as nx
import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.mapping.exchange.decode_windows import decode_windows
from tiger.mapping.exchange.sample_file import read_windows
from tiger.mapping.exchange.sample_folder import SampleFolder, list_files
from tiger.objectives.cost import cost_of
from tiger.qubo.params import IsingParams, Sampling

FEW = IsingParams(
    whole=Sampling(rounds=3, reads=4, sweeps=20),
    window=Sampling(rounds=1, reads=4, sweeps=20),
    passes=1,
    window_size=36,
)
RULES = ("one-to-one", "levels", "capacity")


@pytest.fixture(params=RULES)
def problem(request, random_problem):
    """Return a problem of every rule, with a pin."""
    return random_problem(request.param, 3, tasks=8, nodes=9, pins=True)


def solve(problem, folder, **changes):
    """Solve by simulated annealing, keeping samples."""
    return tiger.solve(problem, solver="neal", seed=1, ising=replace(FEW, samples=folder, **changes))


@pytest.mark.parametrize("whole", [1600, 1], ids=["whole", "windows"])
def test_every_call_is_kept_and_read_back(problem, whole, tmp_path):
    """Tests that there is a file a call, and that they come to no more than what was known at the last."""
    report = solve(problem, tmp_path / "new" / "folder", whole_variables=whole)
    kept = read_windows(tmp_path / "new" / "folder")
    assert len(kept) == report.sampling.calls > 0
    assert sum(len(rows.samples.bits) for rows in kept) == report.sampling.reads
    again = decode_windows(problem, kept)
    assert again.feasible
    index = {node: number for number, node in enumerate(problem.topology.names)}
    known = np.array([index[kept[-1].mapping[task]] for task in problem.tasks.names])
    assert again.cost <= cost_of(problem, known).total + 1e-9
    assert again.stages[-1].detail["reads"] == report.sampling.reads


def test_a_file_is_a_sample_set_of_the_window(random_problem, tmp_path):
    """Tests that energies and variables are the model's, by name."""
    problem = random_problem("one-to-one", 3, tasks=4, nodes=4)
    solve(problem, tmp_path)
    stored = dimod.SampleSet.from_serializable(json.loads((tmp_path / "0001.json").read_text()))
    assert stored.info["variables"][:2] == [[problem.tasks.names[0], node] for node in problem.topology.names[:2]]
    assert stored.info["mapping"].keys() == set(problem.tasks.names)
    assert np.isfinite(stored.record.energy).all()
    assert "beta_range" in stored.info["figures"]


def test_runs_share_a_folder(random_problem, tmp_path):
    """Tests that a second run adds files, and overwrites none."""
    problem = random_problem("one-to-one", 3, tasks=4, nodes=4)
    solve(problem, tmp_path)
    before = {path: path.read_text() for path in list_files(tmp_path)}
    solve(problem, tmp_path)
    after = {path: path.read_text() for path in list_files(tmp_path)}
    assert len(after) == 2 * len(before)
    assert after.items() >= before.items()


def test_fewer_nodes_keep_samples_of_the_problem_as_stated(tmp_path):
    """Tests that samples drawn while nodes are chosen are read back for all of them."""
    tasks = nx.gnm_random_graph(6, 12, seed=1)
    report = tiger.assign(tasks, "grid:3x3", nodes=6, solver="neal", ising=replace(FEW, samples=tmp_path))
    problem = tiger.assign(tasks, "grid:3x3", solver="identity").problem
    assert decode_windows(problem, read_windows(tmp_path)).cost <= report.cost


def test_a_folder_that_cannot_be_is_refused(random_problem, tmp_path):
    """Tests a file in its place."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="ising/samples: expected a folder that can be written"):
        solve(random_problem("one-to-one", 3, tasks=4, nodes=4), tmp_path / "taken")


def test_samples_that_cannot_be_kept_are_used_all_the_same(random_problem, tmp_path, monkeypatch):
    """Tests a disk that is full: the mapping is there, and a warning."""

    def fail(*_):
        raise InputError("ising/samples", "no space is left")

    monkeypatch.setattr(SampleFolder, "keep", fail)
    report = solve(random_problem("one-to-one", 3, tasks=4, nodes=4), tmp_path)
    assert report.sampling.calls > 0
    assert "not all samples were kept: no space is left" in report.warnings


@pytest.mark.parametrize("solver", ["auto", "search", "greedy"])
@pytest.mark.parametrize("asked", [{"samples": "none"}, {"sampler": {"num_reads": 3}}, {"dry_run": True}])
def test_what_samplers_alone_do_is_refused_of_others(solver, asked, random_problem, tmp_path, monkeypatch):
    """Tests that no option is without effect, and that no folder is made."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="expected a sampler as solver beside it") as caught:
        tiger.solve(random_problem("one-to-one", 3), solver=solver, ising=IsingParams(**asked))
    assert caught.value.field == f"ising/{next(iter(asked))}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", ["", "a\0b"])
def test_names_of_no_folder_are_refused(folder, random_problem):
    """Tests an empty text, as of a variable of the shell that is not set, and one that no system takes."""
    with pytest.raises(InputError, match="ising/samples: expected a folder"):
        solve(random_problem("one-to-one", 3, tasks=4, nodes=4), folder)


def test_a_folder_of_another_problem_is_refused(random_problem, tmp_path):
    """Tests that samples which were paid for are not mixed with others, before anything is drawn."""
    solve(random_problem("one-to-one", 3, tasks=4, nodes=4), tmp_path)
    before = list_files(tmp_path)
    with pytest.raises(InputError, match="ising/samples: expected a new folder, or one with samples of this problem"):
        solve(random_problem("one-to-one", 4, tasks=4, nodes=4), tmp_path)
    assert list_files(tmp_path) == before


def test_a_folder_of_something_else_is_refused(random_problem, tmp_path):
    """Tests a file of the name of samples that is no text."""
    (tmp_path / "0001.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="ising/samples"):
        solve(random_problem("one-to-one", 3, tasks=4, nodes=4), tmp_path)


def test_a_write_that_fails_leaves_nothing(random_problem, tmp_path, monkeypatch):
    """Tests that other samples are decoded still, and that other files of the folder do not matter."""
    problem = random_problem("one-to-one", 3, tasks=4, nodes=4)
    solve(problem, tmp_path)
    before = list_files(tmp_path)
    (tmp_path / "report.json").write_text("{}")
    monkeypatch.setattr("tiger.mapping.exchange.sample_folder._link", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        solve(problem, tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "report.json"])
    assert decode_windows(problem, read_windows(tmp_path)).feasible


def test_samples_of_another_problem_are_refused(random_problem, tmp_path):
    """Tests another fingerprint."""
    solve(random_problem("one-to-one", 3, tasks=4, nodes=4), tmp_path)
    with pytest.raises(InputError, match="samples: expected samples of this problem, fingerprint"):
        decode_windows(random_problem("one-to-one", 4, tasks=4, nodes=4), read_windows(tmp_path))


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda info: info.pop("variables"), "the variables and the mapping that a solve keeps"),
        (lambda info: info.update(variables=info["variables"][1:]), "the variables and the mapping"),
        (lambda info: info.update(mapping=[]), "the variables and the mapping"),
        (lambda info: info["mapping"].popitem(), "a mapping of all tasks"),
        (
            lambda info: info.update(mapping=dict.fromkeys(info["mapping"], next(iter(info["mapping"].values())))),
            "a mapping that is feasible",
        ),
        (lambda info: info["variables"].__setitem__(0, ["t0", "nowhere"]), "variables of tasks and nodes"),
    ],
)
def test_files_that_were_changed_are_refused(change, wanted, random_problem, tmp_path):
    """Tests what is missing, and names that the problem does not have."""
    problem = random_problem("one-to-one", 3, tasks=4, nodes=4)
    solve(problem, tmp_path)
    stored = json.loads((tmp_path / "0001.json").read_text())
    change(stored["info"])
    (tmp_path / "0001.json").write_text(json.dumps(stored))
    with pytest.raises(InputError, match=wanted) as caught:
        decode_windows(problem, read_windows(tmp_path))
    assert caught.value.field == "samples"


def test_an_empty_folder_is_refused(tmp_path):
    """Tests that it is named."""
    with pytest.raises(InputError, match="samples: expected a folder in which a solve has kept samples"):
        read_windows(tmp_path)
