"""Reports that were saved, read again with what they answer."""

import json
from pathlib import Path

import pytest

import tiger
from tests.reports import CALIBRATION, CIRCUIT
from tiger.cli.app import run
from tiger.errors import InputError

ASKED = {"tasks": "ring:4", "topology": "grid:4", "slots": 1}
SHAPE = {"transformer": {"layers": 4, "hidden": 64, "heads": 4, "sequence": 16, "batch": 1, "vocabulary": 100}}
DEVICES = {"devices": [{"name": "x"}, {"name": "y", "speed": 2}], "uniform_bandwidth": 1e10}
LOADS = {"kind": "loads", "trace": [[9.0, 1, 1, 1]], "replicas": 2}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return the file of a report, beside which is its request."""
    report = tiger.assign("ring:4", "grid:4", slots=1)
    (tmp_path / "request.json").write_text(json.dumps(ASKED))
    (tmp_path / "report.json").write_text(json.dumps(report.to_dict()))
    (tmp_path / "ranks.txt").write_text(report.emit("openmpi"))
    return tmp_path / "report.json"


def test_a_saved_mapping_is_emitted_by_its_request_or_its_arguments(saved: Path) -> None:
    """As it was when it was made."""
    text = (saved.parent / "ranks.txt").read_text()
    by_request = tiger.load_report(saved, saved.parent / "request.json")
    by_arguments = tiger.load_report(json.loads(saved.read_text()), tasks="ring:4", topology="grid:4", slots=1)
    for report in (by_request, by_arguments, tiger.load_report(str(saved), ASKED)):
        assert isinstance(report, tiger.Report)
        assert report.emit("openmpi") == text
    alone = tiger.load_report(saved)
    assert isinstance(alone, tiger.Report)
    with pytest.raises(InputError, match=r"emit: expected its request beside it, as tiger\.load_report"):
        alone.emit("openmpi")


def test_a_saved_placement_is_emitted() -> None:
    """By model and cluster, or by the request."""
    made = tiger.place(SHAPE, DEVICES)
    loaded = [
        tiger.load_report(made.to_dict(), {"model": SHAPE, "cluster": DEVICES}),
        tiger.load_report(made.to_dict(), model=SHAPE, cluster=DEVICES),
    ]
    for report in loaded:
        assert isinstance(report, tiger.PlacementReport)
        assert report.emit("megatron") == made.emit("megatron")


@pytest.mark.parametrize(
    ("report", "request_", "arguments", "field"),
    [
        ({"schema": "tiger.report/9"}, None, {}, "report/schema"),
        ({}, ASKED, {"tasks": "ring:4"}, "request"),
        (CALIBRATION.to_dict(), ASKED, {}, "request"),
        (tiger.assign("ring:4", "grid:4").to_dict(), {"tasks": 3, "topology": "grid:4"}, {}, "request/tasks"),
        (tiger.assign("ring:4", "grid:4").to_dict(), {"tasks": "ring:5", "topology": "grid:5"}, {}, "report"),
    ],
)
def test_what_does_not_go_together_is_refused(
    report: dict[str, object], request_: dict[str, object] | None, arguments: dict[str, object], field: str
) -> None:
    """With the name of what is at fault."""
    with pytest.raises(InputError) as caught:
        tiger.load_report(report, request_, **arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        ({"tasks": "ring:4", "zz": 1}, "request/zz: expected a known field, got an unknown one"),
        ({"tasks": "ring:4", "effort": "x"}, "request/effort: expected a whole number, got"),
    ],
)
def test_bug_faults_of_a_request_are_worded_as_the_service_does(request_: dict[str, object], fault: str) -> None:
    """And not as the library that reads it."""
    with pytest.raises(InputError, match=fault):
        tiger.load_report(tiger.assign("ring:4", "grid:4").to_dict(), {"topology": "grid:4", **request_})


def test_the_command_writes_a_saved_report(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To standard output, or to a file."""
    text = (saved.parent / "ranks.txt").read_text()
    arguments = ["emit", str(saved), "--as", "openmpi", "--request", str(saved.parent / "request.json")]
    assert run(arguments) == 0
    assert capsys.readouterr() == (text, "")
    assert run([*arguments, "-o", str(saved.parent / "out.txt")]) == 0
    assert (saved.parent / "out.txt").read_text() == text


def test_the_command_writes_maps_of_experts_to_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That of numpy is no text."""
    from tiger.api.routes.entries import EXPERTS
    from tiger.api.schemas.limits import Limits

    body = json.dumps(LOADS | {"cluster": DEVICES}).encode()
    (tmp_path / "report.json").write_bytes(EXPERTS.answer(body, Limits(max_tasks=9, max_time_s=9.0)).report)
    assert run(["emit", str(tmp_path / "report.json"), "--as", "vllm"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert run(["emit", str(tmp_path / "report.json"), "--as", "eplb"]) == 2
    assert "output: expected a file beside --as eplb" in capsys.readouterr().err
    assert run(["emit", str(tmp_path / "report.json"), "--as", "eplb", "-o", str(tmp_path / "map.npz")]) == 0
    assert (tmp_path / "map.npz").read_bytes()[:2] == b"PK"


def test_the_command_names_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A circuit has no launcher, and a mapping no name that is not known."""
    (tmp_path / "circuit.json").write_text(json.dumps(CIRCUIT.to_dict()))
    assert run(["emit", str(tmp_path / "circuit.json"), "--as", "slurm"]) == 2
    assert "report: expected one of a mapping" in capsys.readouterr().err
    (tmp_path / "request.json").write_text(json.dumps(ASKED))
    (tmp_path / "report.json").write_text(json.dumps(tiger.assign("ring:4", "grid:4", slots=1).to_dict()))
    pair = [str(tmp_path / "report.json"), "--request", str(tmp_path / "request.json")]
    assert run(["emit", *pair, "--as", "sluurm"]) == 2
    assert "emit: expected one of openmpi" in capsys.readouterr().err
