"""Tests of `tiger experts`: what it prints, what it writes, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tiger.cli.app import run
from tiger.expert_maps.explanation import explain_experts
from tiger.expert_maps.report import ExpertReport

Run = Callable[..., tuple[int, str, str]]
PRICES = ("--token-s", "1e-6", "--token-bytes", "1000")


def read(path: str) -> ExpertReport:
    """Return the report of a file."""
    return ExpertReport.from_dict(json.loads(Path(path).read_text()))


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger experts` in a folder with a trace and loads, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("0,2,0\n1,3,1\n3,1,3\n2,0,2\n0,2,0\n")
    (tmp_path / "w.csv").write_text("9,1,1,1\n1,1,1,9\n")
    (tmp_path / "c.json").write_text('{"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}')

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(("experts", *arguments, "--cluster", "c.json"))
        return status, *capsys.readouterr()

    return call


def test_it_is_the_mode_of_place(cli: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """With the same report."""
    own = json.loads(cli("t.csv", "--experts", "4", "--json", "-")[1])
    run(("place", "t.csv", "--mode", "experts", "--experts", "4", "--cluster", "c.json", "--json", "-"))
    assert own | {"seconds": 0, "progress": 0} == json.loads(capsys.readouterr().out) | {"seconds": 0, "progress": 0}


def test_the_parts_of_a_step_are_shown(cli: Run) -> None:
    """Beside the order of numbers and the bound."""
    status, out, err = cli("t.csv", "--experts", "4", *PRICES)
    assert (status, err) == (0, "")
    assert "map, s            load  links  moves  total\n" in out
    assert "\norder of numbers  6 µs  4 µs   0 µs   10 µs\n" in out


def test_shares_are_compared(cli: Run) -> None:
    """On the batches given and on those drawn, solved, fixed and equal, and explained."""
    Path("b.json").write_text("[[[9, 1, 1, 1]], [[1, 1, 1, 9]]]")
    asked = ("b.json", "--kind", "loads", "--replicas", "2", "--sharing", "balanced", "--decay", "0.5")
    status, out, err = cli(*asked, "--json", "r.json")
    assert (status, err) == (0, "")
    lines = [line.split(maxsplit=2)[1:] for line in out.splitlines() if line.startswith("batches ")]
    assert [name for name, _ in lines] == ["given", "drawn"]
    assert all(said.startswith("largest loads over their mean by shares: 1.000 solved, ") for _, said in lines)
    assert "batches drawn around those given, largest loads are" in "".join(explain_experts(read("r.json")).quality)


def test_a_map_that_is_written_can_be_in_use(cli: Run) -> None:
    """And is kept, as nothing is better."""
    asked = ("w.csv", "--kind", "loads", "--replicas", "2")
    assert cli(*asked, "--emit", "vllm", "-o", "map.json")[0] == 0
    out = cli(*asked, "--in-use", "map.json")[1]
    assert out.startswith("keep: no change was found that pays for its moves\n")
    assert "\nmap in use " in out


def test_a_change_that_pays_is_said_to(cli: Run) -> None:
    """With its gain, what moves, and after how many steps that is paid."""
    Path("map.json").write_text("[[0, 1, 2, 3, 1, 2], [0, 1, 2, 3, 1, 2]]")
    asked = ("w.csv", "--kind", "loads", "--replicas", "2", "--token-s", "1e-3", "--expert-bytes", "1e6")
    out = cli(*asked, "--in-use", "map.json")[1]
    assert out.startswith("move: a step gains ")
    assert "\nmoves                3 experts in 2 ms\n" in out
    assert "\npaid after           0.25 steps\n" in out
    assert cli(*asked, "--in-use", "map.json", "--most-moves", "0")[1].startswith("keep: ")


def test_experts_fit_into_memory_or_end_with_1(cli: Run) -> None:
    """With bytes in units, slots of devices by what they hold, and the reason where there are too few."""
    devices = '[{"name": "x", "memory_bytes": "3GB"}, {"name": "y", "memory_bytes": "2GB"}]'
    Path("c.json").write_text(f'{{"devices": {devices}, "uniform_bandwidth": 1e9}}')
    asked = ("w.csv", "--kind", "loads", "--emit", "vllm", "-o", "m.json", "--expert-bytes")
    status, out, _ = cli(*asked[:3], "--expert-bytes", "500MB", "--reserved-bytes", "0.5GB")
    assert (status, "\nslots                1 to 3 in a layer of a device\n" in out) == (0, True)
    assert cli(*asked[:3], "--slots-by", "speed")[0] == 0
    status, out, _ = cli(*asked, "750MB")
    assert (status, Path("m.json").exists()) == (1, False)
    assert "memory: 4 replicas of 750 MB in each of 2 layers, 8 in all, take 6 GB, and devices have room for 6" in out
    assert "emit: expected as many slots on every device for vllm" in cli(*asked, "600MB")[2]
    assert (
        "expert_bytes: expected a number or a quantity such as 80GB or 80GiB, got the unknown unit 'GBs'"
        in cli(*asked, "5GBs")[2]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.csv",), "experts: expected the number of experts of a layer, got none"),
        (("w.csv", "--kind", "loads", "--emit", "vllm"), "emit: expected --output beside it, got none"),
        (("w.csv", "--kind", "loads", "-o", "m.json"), "output: expected --emit beside it, got none"),
        (("w.csv", "--kind", "loads", "--in-use", "no.json"), "in_use: cannot read 'no.json'"),
        (("w.csv", "--kind", "loads", "--in-use", "w.csv"), "in_use/1: expected the line Expert,Node"),
        (("w.csv", "--kind", "loads", "--token-bytes", "1"), "token_bytes: expected a trace beside it"),
        (("t.csv", "--kind", "loads"), "loads/"),
    ],
)
def test_bad_input_names_the_option(cli: Run, arguments: tuple[str, ...], message: str) -> None:
    """And ends with 2."""
    if arguments[0] == "t.csv" and "loads" in arguments:
        Path("t.csv").write_text("1,-2\n3,4\n")
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert message in err
