"""Tests of where times come from: files, words and documents, what is refused, and what goes to a service."""

import json
import re
from pathlib import Path

import pytest

from tiger.errors import InputError
from tiger.training.timings.costs import (
    CALIBRATION,
    NO_FACTORS,
    CostSource,
    Factors,
    read_source,
    source_of_document,
    state_costs,
)

CSV = "device,operation,dtype,seconds,m,n,k\nh100,product,bf16,1e-3,1024,1024,1024\n"


def test_sources_are_words_files_folders_and_documents(tmp_path: Path) -> None:
    """The name of a file says what is in it; a folder stays a path."""
    table, factors = tmp_path / "times.CSV", tmp_path / "f.json"
    table.write_text(CSV)
    factors.write_text(json.dumps({"factors": {"memory": 2}, "csv": CSV}))
    assert read_source(None) == source_of_document(None) == CostSource()
    assert read_source("aiconfigurator") == source_of_document("aiconfigurator") == CostSource(tables="aiconfigurator")
    assert read_source(table) == read_source(str(table)) == CostSource(csv=CSV)
    assert read_source(factors) == CostSource(Factors(memory=2.0), csv=CSV)
    assert read_source(tmp_path) == CostSource(tables=tmp_path)
    document = {"factors": {"products": 1.5}, "tables": "aiconfigurator"}
    assert read_source(document) == source_of_document(document)
    assert source_of_document(document) == CostSource(Factors(products=1.5), tables="aiconfigurator")
    assert source_of_document({"file": "x.csv", "text": CSV}) == CostSource(csv=CSV)
    assert source_of_document({"schema": "any", "tables": None, "csv": None}) == CostSource(NO_FACTORS)


def test_a_report_of_a_calibration_is_read_by_what_it_has_of_costs() -> None:
    """Its other members are passed over, as those of no other document are."""
    report = {"schema": CALIBRATION, "factors": {"between": 2.0}, "tables": None, "runs": [], "seconds": 1.0}
    assert source_of_document(report) == CostSource(Factors(between=2.0))
    with pytest.raises(InputError, match="costs: expected keys out of factors, tables, csv, got 'runs'"):
        source_of_document(report | {"schema": "tiger.plan/1"})


@pytest.mark.parametrize(
    ("document", "field", "reason"),
    [
        (5, "costs", "expected 'aiconfigurator', an object or a file as file and text, got 5"),
        ("times.csv", "costs", "expected 'aiconfigurator', an object or a file as file and text, got 'times.csv'"),
        ({}, "costs", "expected keys out of factors, tables, csv, got"),
        ({"schema": "tiger.calibration/1"}, "costs", "expected keys out of factors, tables, csv, got"),
        ({"factor": {}}, "costs", "expected keys out of factors, tables, csv, got 'factor'; did you mean 'factors'?"),
        ({"tables": "mine"}, "costs/tables", "expected 'aiconfigurator', got 'mine'"),
        ({"csv": 5}, "costs/csv", "expected text, got 5"),
        ({"csv": CSV, "tables": "aiconfigurator"}, "costs/csv", "expected none beside tables"),
        ({"factors": [1]}, "costs/factors", "expected an object, got"),
        ({"factors": {"product": 1}}, "costs/factors", "got 'product'; did you mean 'products'?"),
        ({"factors": {"memory": 0}}, "costs/factors/memory", "expected a finite number > 0, got 0"),
        ({"factors": {"memory": "2"}}, "costs/factors/memory", "expected a finite number > 0, got '2'"),
        ({"factors": {"memory": True}}, "costs/factors/memory", "expected a finite number > 0, got true"),
        ({"factors": {"inside": float("inf")}}, "costs/factors/inside", "expected a finite number > 0"),
        ({"factors": {"inside": 1001}}, "costs/factors/inside", "expected a number from 0.001 to 1000, got 1001"),
        ({"text": CSV}, "costs", "expected an object of two texts, file and text"),
        ({"file": "x.xlsx", "text": "a"}, "costs", "expected a file ending in .csv or .json, a folder or"),
        ({"file": "x.json", "text": "[1]"}, "costs", "expected an object with factors or tables or csv, got"),
        ({"file": "x.json", "text": "{"}, "costs", "expected JSON, got a fault at line 1"),
        ({"file": "x.json", "text": '{"file": "y.csv", "text": ""}'}, "costs", "expected an object with factors"),
    ],
)
def test_what_states_no_times_is_refused(document: object, field: str, reason: str) -> None:
    """The error names the member."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        source_of_document(document)
    assert caught.value.field == field


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    """A missing file, one of another kind, and an argument of another type."""
    with pytest.raises(InputError, match=r"^costs: cannot read .*: No such file"):
        read_source(tmp_path / "none.csv")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(InputError, match=r"^costs: expected a file ending in \.csv or \.json, a folder or aiconf"):
        read_source(tmp_path / "a.txt")
    with pytest.raises(TypeError, match="expected costs as a path, a word or a document, got int"):
        read_source(5)  # type: ignore[arg-type]  # what callers may give


def test_a_service_is_told_text_and_no_folder(tmp_path: Path) -> None:
    """What it reads is what is read here."""
    table = tmp_path / "times.csv"
    table.write_text(CSV)
    assert state_costs(table) == {"file": "times.csv", "text": CSV}
    assert source_of_document(state_costs(table)) == read_source(table)
    assert (state_costs(None), state_costs("aiconfigurator")) == (None, "aiconfigurator")
    assert state_costs({"factors": {}}) == {"factors": {}}
    with pytest.raises(InputError, match="costs: expected a file or aiconfigurator, as a service opens no folder"):
        state_costs(tmp_path)
