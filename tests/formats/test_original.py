"""Files of the original tool."""

from pathlib import Path

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.formats.original import read_mesh, read_task_graph

DATA = Path(__file__).resolve().parents[2] / "../shared/data/tiger"
RAM = """/****
 * comment
 ****/
AppName pair
2 9
0
10
0 0 1 5 1
1 0 1 6 1
0 0 1 2
1 0 1 3"""
ARC = """/* comment */
ArcName x
Topology\t\tMesh
TotalProcNum 4
RowNum 2
ColumnNum\t2
LayerNum 1
ProcCost 0-15\t\t1,2,3,4
CommCost 0-3 2.5
FlitSize 32
"""


def test_tasks_and_edges_are_read():
    """The fourth number of a task is its work; all edge lines count, whatever the header says."""
    tasks = read_task_graph(RAM)
    assert (tasks.names, tasks.work.tolist(), tasks.directed) == (("0", "1"), [5, 6], True)
    assert tasks.traffic.toarray().tolist() == [[0, 5], [0, 0]]


def test_tasks_keep_their_ids():
    """Ids need not be in order; edges go by id."""
    tasks = read_task_graph(
        RAM.replace("0 0 1 5 1", "7 0 1 5 1").replace(" 0 1 2", " 7 1 2").replace(" 0 1 3", " 1 7 3")
    )
    assert tasks.names == ("7", "1")
    assert tasks.traffic.toarray().tolist() == [[0, 2], [3, 0]]


def test_a_graph_may_have_no_edges():
    """One task and nothing else."""
    assert read_task_graph("AppName x\n1 0\n0\n0\n0 0 1 1 1\n").traffic.nnz == 0


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (" ****/", "", "expected the opening comment to end in */"),
        ("AppName", "Appname", "expected 'AppName NAME'"),
        ("2 9", "2", "line 5: expected counts of tasks and edges, got 1 words"),
        ("2 9", "2 x", "line 5: expected numbers, got 'x'"),
        ("2 9", "0 9", "line 5: expected 1 to 4 tasks, got 0"),
        ("2 9", "99999999999 9", "line 5: expected 1 to 4 tasks, got 99999999999"),
        ("2 9", "1.5 9", "line 5: expected whole numbers"),
        ("2 9", "3 9", "line 10: expected a task as"),
        ("2 9", "1 9", "line 9: expected an edge as"),
        ("\n10\n", "\nten\n", "line 7: expected numbers, got 'ten'"),
        ("0 0 1 5 1", "0 0 1 5", "line 8: expected a task as"),
        ("0 0 1 5 1", "0 0 1 -5 1", "line 8: expected finite numbers >= 0"),
        ("0 0 1 5 1", "1 0 1 5 1", "line 9: expected different task ids, got '1' again"),
        ("0 0 1 5 1", "0.5 0 1 5 1", "line 8: expected whole numbers"),
        ("0 0 1 2\n", "0 0 1\n", "line 10: expected an edge as"),
        ("0 0 1 2\n", "0 0 2 2\n", "line 10: expected the id of a task, got '2'"),
        ("0 0 1 2\n", "0 5 1 2\n", "line 10: expected the id of a task, got '5'"),
        ("0 0 1 2\n", "1 0 1 2\n", "line 11: expected different edge ids, got '1' again"),
        ("0 0 1 2\n", "0 0 1 nan\n", "line 10: expected numbers, got 'nan'"),
        ("0 0 1 2\n", "-1 0 1 2\n", "line 10: expected finite numbers >= 0"),
    ],
)
def test_malformed_task_files_are_refused(old, new, reason):
    """Every fault is reported for the tasks, most with their line."""
    with pytest.raises(InputError) as caught:
        read_task_graph(RAM.replace(old, new))
    assert caught.value.field == "tasks"
    assert reason in caught.value.reason


def test_a_mesh_is_read():
    """Rows times columns without wrap-around, hops CommCost long, node costs in reading order."""
    topology = read_mesh(ARC)
    assert (topology.names, topology.cost.tolist()) == (("0,0", "0,1", "1,0", "1,1"), [1, 2, 3, 4])
    assert topology.metric.between(np.array(0), np.arange(4)).tolist() == [0, 2.5, 2.5, 5]
    assert topology.links.weight.tolist() == [2.5] * 4


def test_costs_may_be_separated_by_blanks():
    """Commas, blanks and tabs all separate values."""
    assert read_mesh(ARC.replace("1,2,3,4", "1, 2\t3 ,4")).cost.tolist() == [1, 2, 3, 4]


def test_communication_may_be_free():
    """A CommCost of 0 leaves a mesh where all distances are 0, and no links."""
    topology = read_mesh(ARC.replace("2.5", "0"))
    assert (topology.metric.between(np.array(0), np.array(3)), topology.links) == (0, None)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("*/", "", "expected the opening comment to end in */"),
        ("RowNum 2", "", "expected a line RowNum, got none"),
        ("RowNum 2", "RowNum 2\nRowNum 2", "line 6: expected RowNum once"),
        ("RowNum 2", "Rows 2", "line 5: expected a key out of TotalProcNum, RowNum"),
        ("RowNum 2", "RowNum 2 2", "line 5: expected RowNum and one number, got 2"),
        ("RowNum 2", "RowNum", "line 5: expected RowNum and one number, got 0"),
        ("RowNum 2", "RowNum two", "line 5: expected numbers, got 'two'"),
        ("RowNum 2", "RowNum 1.5", "line 5: expected whole numbers"),
        ("RowNum 2", "RowNum 3", "got 3 x 2, TotalProcNum 4 and 4 costs"),
        ("RowNum 2", "RowNum 99999999999", "got 99999999999 x 2"),
        ("TotalProcNum 4", "TotalProcNum 5", "TotalProcNum 5 and 4 costs"),
        ("1,2,3,4", "1,2,3", "TotalProcNum 4 and 3 costs"),
        ("1,2,3,4", "1,2,3,x", "line 8: expected numbers, got 'x'"),
        ("1,2,3,4", "1,2,3,-4", "line 8: expected finite numbers >= 0"),
        ("0-15\t\t1,2,3,4", "1,2,3,4", "line 8: expected ProcCost, a label and values, got 1"),
        ("0-3 2.5", "0-3 2.5 2.5", "line 9: expected one number after the label of CommCost, got 2"),
        ("0-3 2.5", "0-3 inf", "line 9: expected numbers, got 'inf'"),
    ],
)
def test_malformed_meshes_are_refused(old, new, reason):
    """Every fault is reported for the topology, most with their line."""
    with pytest.raises(InputError) as caught:
        read_mesh(ARC.replace(old, new, 1))
    assert caught.value.field == "topology"
    assert reason in caught.value.reason


def test_a_mesh_has_at_least_one_node():
    """No rows, no costs: nothing to map to."""
    text = ARC.replace("RowNum 2", "RowNum 0").replace("TotalProcNum 4", "TotalProcNum 0").replace("1,2,3,4", ",")
    with pytest.raises(InputError, match=r"^topology: expected extents >= 1"):
        read_mesh(text)


@pytest.mark.skipif(not DATA.exists(), reason="the original files are not here")
def test_original_files_are_read():
    """Eleven tasks of work 228 and fifteen edges of traffic 74; ten meshes."""
    tasks = read_task_graph((DATA / "example1.ram").read_text())
    assert (tasks.size, tasks.work.sum(), tasks.traffic.nnz, tasks.traffic.sum()) == (11, 228, 15, 74)
    meshes = [read_mesh(path.read_text()) for path in sorted(DATA.glob("*.arc"))]
    assert [topology.size for topology in meshes] == [2, 4, 4, 6, 8, 9, 16, 16, 64, 64]
