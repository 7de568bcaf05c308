"""The files that jobs leave, as the work makes them."""

import csv
import json
from typing import Any

import pytest

from tests.api.desk import LIMITS
from tiger.api.routes import files
from tiger.api.routes.entries import Solve
from tiger.api.seams.files import write_files
from tiger.launchers.formats import LAUNCHERS
from tiger.placement.emission.formats import FILES, WRITERS
from tiger.run.progress import ignore

BELL = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[3]; cx q[0],q[1]; cx q[1],q[2]; cx q[0],q[2];'
CHAIN = {"transformer": {"layers": 4, "hidden": 64, "heads": 4, "sequence": 16, "batch": 1, "vocabulary": 100}}
LISTED = {"devices": [{"name": "x"}, {"name": "y", "speed": 2}], "uniform_bandwidth": 1e10}


def solve(kind: str, **asked: object) -> dict[str, str]:
    """Return the files that a job leaves, by name."""
    _, drafts = Solve(LIMITS)(kind, json.dumps(asked).encode(), ignore)
    return {file.name: file.unpack().decode() for file in write_files(drafts)}


def test_a_mapping_is_a_table_and_an_order_of_ranks(line: dict[str, Any]) -> None:
    """For every launcher that takes it, and grid nodes are no hosts to most."""
    found = solve("assign", tasks=line, topology="grid:3")
    rows = dict(csv.reader(found["mapping.csv"].splitlines()))
    assert (rows.pop("task"), sorted(rows), len(set(rows.values()))) == ("node", ["a", "b", "c"], 3)
    assert {"ranks.csv", "ranks.dot", "permutation.txt", "slurm-hosts.txt"} <= found.keys()
    assert "openmpi-rankfile.txt" not in found
    assert "openmpi-rankfile.txt" in solve("assign", tasks=line, topology="grid:3", slots=1)


def test_more_ranks_than_launchers_are_written_for_are_a_table(
    line: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is left to the command line."""
    monkeypatch.setattr(files, "MAX_RANKS", 2)
    assert "ranks.csv" not in solve("assign", tasks=line, topology="grid:3")


def test_tasks_that_take_turns_on_a_node_are_no_ranks(line: dict[str, Any]) -> None:
    """Their mapping is a table alone."""
    found = solve("assign", tasks=line, topology="grid:1", rule="levels")
    assert [name for name in found if not name.startswith("view")] == ["request.json", "mapping.csv"]


def test_what_is_not_feasible_leaves_nothing(line: dict[str, Any]) -> None:
    """There is no mapping to write, and the request stays alone."""
    found = solve("assign", tasks=line, topology="grid:2", rule="one-to-one")
    assert json.loads(found.pop("request.json")) == {"tasks": line, "topology": "grid:2", "rule": "one-to-one"}
    assert found == {}
    assert solve("assign", circuit=BELL, topology="grid:2").keys() == {"request.json"}
    tiny = {"devices": [{"name": "x", "memory_bytes": 1}]}
    assert solve("place", model=CHAIN, cluster=tiny).keys() == {"request.json"}


@pytest.mark.slow
def test_a_circuit_leaves_its_layouts() -> None:
    """As the field of a request takes them, beside the routed circuit."""
    found = solve("assign", circuit=BELL, topology="grid:4", seed=1)
    layouts = json.loads(found["layout.json"])
    assert found["routed.qasm"].startswith("OPENQASM")
    assert sorted(layouts) == ["final_layout", "initial_layout"]
    assert len(set(layouts["initial_layout"])) == 3


def test_a_plan_is_written_for_the_systems_that_take_it() -> None:
    """A layer of which nobody knows what it is keeps most from it."""
    found = solve("place", model=CHAIN, cluster=LISTED)
    assert {"megatron.txt", "deepspeed.py", "vllm.sh", "torch.json"} <= found.keys()


@pytest.mark.long
def test_a_plan_of_degrees_leaves_its_placement() -> None:
    """As the request for that one would have."""
    shape = {"model": CHAIN, "cluster": {**LISTED, "devices": [{"name": name} for name in "ab"]}, "batch": 4}
    assert {"view.json", "trace.json", "megatron.txt"} <= solve("plan", **shape).keys()


def test_every_file_has_a_name_of_its_own() -> None:
    """And a system that a plan can be written for has one."""
    names = [launcher.file for launcher in LAUNCHERS.values()] + list(FILES.values())
    assert len({*names}) == len(names)
    assert FILES.keys() == WRITERS.keys()
