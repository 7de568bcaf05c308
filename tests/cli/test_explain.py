"""Tests of the command that explains reports."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tests.fuzz.profile import cases
from tests.reports import CALIBRATION, CIRCUIT, EXPERTS, MAPPING, PLACEMENT, PLAN, REBALANCING
from tiger.cli.app import run
from tiger.cli.explain import explain_text
from tiger.errors import InputError
from tiger.model.document import Document


@pytest.mark.parametrize(
    "report", [MAPPING, CIRCUIT, PLACEMENT, PLAN, CALIBRATION, EXPERTS, REBALANCING], ids=lambda report: report.schema
)
def test_every_kind_of_report_is_explained(
    report: Document, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What --json writes is read again, and four headings answer what people ask."""
    (tmp_path / "report.json").write_text(json.dumps(report.to_dict()))
    assert run(["explain", str(tmp_path / "report.json")]) == 0
    out, err = capsys.readouterr()
    headings = [line for line in out.splitlines() if line and not line.startswith(("- ", "  "))]
    assert headings == ["What was found", "How good it is", "What stands in the way", "What to try next"]
    assert err == ""


def _explain(document: object, monkeypatch: pytest.MonkeyPatch) -> int:
    """Explain what standard input has."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    return run(["explain", "-"])


def test_a_solve_is_explained_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a real report, whose figures the sentences state."""
    report = tiger.assign("ring:4", "grid:2x2")
    assert _explain(report.to_dict(), monkeypatch) == 0
    out = capsys.readouterr().out
    assert "4 tasks on 4 nodes by the rule one-to-one, at a cost of 4" in out
    assert "No mapping is better" in out


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"schema": "tiger.report/9"}, "report/schema"),
        ({"cost": "much"}, "report/cost"),
        ({"mapping": [1]}, "report/mapping"),
        ({"stages": [{"name": "x", "cost": 1.0, "seconds": []}]}, "report/stages/0/seconds"),
        ({"links": [{"a": "x"}]}, "report/links/0/b"),
    ],
)
def test_a_wrong_member_is_named(
    change: dict[str, object], field: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its way through the document, with exit status 2."""
    assert _explain(MAPPING.to_dict() | change, monkeypatch) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"tiger: error: {field}: expected ")


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b'{"schema": ["tiger.report/1"]}', b'{"a": 1, "a": 2}'])
def test_what_is_no_report_is_bad_input(
    text: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and no traceback."""
    assert _explain(text, monkeypatch) == 2
    assert capsys.readouterr().err.startswith("tiger: error: report")


def test_members_of_later_versions_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the client does."""
    assert _explain(MAPPING.to_dict() | {"later": 1}, monkeypatch) == 0


def test_a_missing_member_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What a report of another version lacks."""
    document = MAPPING.to_dict()
    del document["rule"]
    assert _explain(document, monkeypatch) == 2
    assert capsys.readouterr().err == "tiger: error: report/rule: expected it, got none\n"


def test_too_much_is_not_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Standard input may never end."""
    monkeypatch.setattr("tiger.cli.explain.MAX_BYTES", 10)
    assert _explain(MAPPING.to_dict(), monkeypatch) == 2
    assert "expected at most 10 bytes" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    """As any other."""
    assert run(["explain", "no/report.json"]) == 2
    assert capsys.readouterr().err.startswith("tiger: error: report: cannot read")


def _spots(value: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the ways to all members of a document, but for the schemas."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if key != "schema":
                yield (*way, key)
                yield from _spots(item, (*way, key))


ODD = st.sampled_from([None, 0, 0.0, -1.5, 1e308, 5e-324, float("nan"), float("inf"), "", "x\x1b", [], {}, True, 7])


@pytest.mark.slow
@cases(quick=300, long=2_000)
@given(data=st.data(), value=ODD)
def test_any_change_of_a_report_is_explained_or_refused(data: st.DataObject, value: object) -> None:
    """No figure makes the sentences fail, and no member of another type comes as far as them."""
    document = json.loads(
        json.dumps(
            data.draw(st.sampled_from([MAPPING, CIRCUIT, PLACEMENT, PLAN, CALIBRATION, EXPERTS, REBALANCING])).to_dict()
        )
    )
    *way, last = data.draw(st.sampled_from(list(_spots(document))))
    place = document
    for key in way:
        place = place[key]
    place[last] = value
    with suppress(InputError):
        assert explain_text(json.dumps(document)).write().startswith("What was found\n- ")
