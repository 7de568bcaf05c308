"""The table of launchers where none is installed, and the parts that need none."""

import subprocess

from benchmarks import launcher_programs, launchers
from benchmarks.hosts import describe_machine
from benchmarks.launcher_programs import MISSING, NAMELESS, read_map, read_reordered
from tiger.formats.files import read_hardware
from tiger.launchers.check import RankPlace
from tiger.model.text import FileText


def test_launchers_that_are_not_found_are_rows(tmp_path, monkeypatch) -> None:
    """Nothing is started then."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(launcher_programs, "FOLDER", tmp_path)
    monkeypatch.setattr(launcher_programs.slurm, "SYSTEM", str(tmp_path))
    head, *rows = launchers.table(print, None)
    assert {row[3] for row in rows} <= {MISSING, NAMELESS}
    assert len(rows) == len(launcher_programs.list_absent()) + 6
    assert all(len(row) == len(head) for row in rows)


def test_machines_are_read_as_described() -> None:
    """Two packages of two cores and a GPU each."""
    file = FileText("machine.xml", describe_machine([[[0, 1], [2, 3]], [[4, 5], [6, 7]]], gpus=2))
    assert read_hardware(file, "node").topology({}).names == ("core0", "core1", "core2", "core3")
    assert read_hardware(file, "node", units="gpu").topology({}).names == ("gpu0", "gpu1")


def test_what_programs_print_is_read(tmp_path) -> None:
    """A map of PRRTE, and the lines of the programs that reorder ranks."""
    lines = ["Data for node: a\tState: 3", " Data for proc: [prterun@1,3]", " Binding: package[1][core:L8-9,11]"]
    assert read_map("\n".join(lines), tmp_path) == {3: RankPlace("a", frozenset({8, 9, 11}))}
    assert read_reordered("process 0 on b is rank 5\n", tmp_path) == {5: RankPlace("b", None)}


def test_failures_are_told_by_their_last_line() -> None:
    """Without rules and blank lines."""
    error = subprocess.CalledProcessError(1, "srun", stderr="one\ntwo\n-----\n")
    assert launchers.describe_failure(error) == "two"
