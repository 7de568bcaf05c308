"""The files that a job leaves beside its report: what launchers, compilers and training systems read."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from tiger.api.jobs.files import Draft
from tiger.errors import InputError
from tiger.launchers.formats import LAUNCHERS
from tiger.pipeline.emission.formats import FILES, WRITERS
from tiger.run.report import Report

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport
    from tiger.pipeline.entry.report import PlacementReport

# Texts for more ranks, twelve of which have a megabyte then, are left to `tiger ranks`.
MAX_RANKS = 4096
TEXT = "text/plain"
MEDIA_TYPES = {".csv": "text/csv", ".json": "application/json"}


def mapping_files(report: Report) -> Iterator[Draft]:
    """Yield the table of a mapping, and its order of ranks for every launcher that takes it."""
    if not report.feasible:
        return
    yield _draft("mapping.csv", "The node of every task.", partial(_write_table, report.mapping))
    try:
        order = report.rank_order if len(report.mapping) <= MAX_RANKS else None
    except InputError:
        # Tasks that share a node one after the other are no ranks.
        return
    if order is not None:
        for launcher in LAUNCHERS.values():
            yield _draft(launcher.file, launcher.use(order), partial(launcher.write, order))


def circuit_files(report: "CircuitReport") -> Iterator[Draft]:
    """Yield the routed circuit and its layouts."""
    if report.qasm is not None:
        yield _draft("routed.qasm", "The routed circuit in OpenQASM.", partial(str, report.qasm))
    if report.feasible:
        what = "The device qubit on which every qubit of the circuit starts and ends, in order."
        yield _draft("layout.json", what, partial(_write_layouts, report))


def placement_files(report: "PlacementReport") -> Iterator[Draft]:
    """Yield the plan for every system that takes it."""
    for system in WRITERS:
        yield _draft(FILES[system], f"The plan for {system}.", partial(report.emit, system))


def _draft(name: str, description: str, write: "partial[str]") -> Draft:
    """Return the draft of a file, whose type follows from its name."""
    return Draft(name, description, MEDIA_TYPES.get(PurePath(name).suffix, TEXT), write)


def _write_table(mapping: Mapping[str, str]) -> str:
    """Return a mapping as a table (RFC 4180)."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("task", "node"))
    rows.writerows(mapping.items())
    return text.getvalue()


def _write_layouts(report: "CircuitReport") -> str:
    """Return the layouts of a circuit as lists, of which `initial_layout` is what the field of a request takes."""
    layouts = {"initial_layout": report.initial_layout, "final_layout": report.final_layout}
    return json.dumps({name: [layout[qubit] for qubit in sorted(layout)] for name, layout in layouts.items()}) + "\n"
