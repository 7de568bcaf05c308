"""The files that a job leaves beside its report: what launchers, compilers and training systems read."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from tiger.api.routes.document import encode
from tiger.api.seams.files import Draft
from tiger.errors import InputError
from tiger.expert_maps.maps.formats import FILES as MAPS
from tiger.launchers.formats import LAUNCHERS, describe_command
from tiger.mapping.drawing.view import view_mapping
from tiger.model.document import Document
from tiger.model.problem import Problem
from tiger.placement.emission.formats import FILES, WRITERS
from tiger.run.report import Report

if TYPE_CHECKING:
    from tiger.circuits.entry.hardware import Device
    from tiger.circuits.entry.report import CircuitReport
    from tiger.expert_maps.report import ExpertReport
    from tiger.placement.entry.report import PlacementReport

# Texts for more ranks, twelve of which have a megabyte then, are left to `tiger ranks`.
MAX_RANKS = 4096
# The file that the pictures of an answer are drawn from.
VIEW = "view.json"
# The file that holds what was asked for.
REQUEST = "request.json"
TEXT = "text/plain"
MEDIA_TYPES = {".csv": "text/csv", ".json": "application/json"}


def request_file(body: bytes) -> Draft:
    """Return the draft of the request of a job, which was checked to be JSON in UTF-8."""
    return _draft(REQUEST, "What the job was asked for.", body.decode)


def mapping_files(report: Report, problem: Problem) -> Iterator[Draft]:
    """Yield the view of a mapping, its table, and its order of ranks for every launcher that takes it."""
    if not report.feasible:
        return
    yield _draft_view(lambda: view_mapping(problem, report.mapping, report.routing))
    yield _draft("mapping.csv", "The node of every task.", partial(_write_table, report.mapping))
    try:
        order = report.rank_order if len(report.mapping) <= MAX_RANKS else None
    except InputError:
        # Tasks that share a node one after the other are no ranks.
        return
    if order is not None:
        for name, launcher in LAUNCHERS.items():
            yield _draft(launcher.file, describe_command(name, order), partial(launcher.write, order))


def circuit_files(report: "CircuitReport", device: "Device") -> Iterator[Draft]:
    """Yield the view of a routed circuit, the circuit, and its layouts."""
    from tiger.circuits.drawing.view import view_circuit

    if not report.feasible:
        return
    yield _draft_view(lambda: view_circuit(report, device))
    if report.qasm is not None:
        yield _draft("routed.qasm", "The routed circuit in OpenQASM.", partial(str, report.qasm))
    what = "The device qubit on which every qubit of the circuit starts and ends, in order."
    yield _draft("layout.json", what, partial(_write_layouts, report))


def placement_files(report: "PlacementReport") -> Iterator[Draft]:
    """Yield the view of a placement, its plan for every system that takes it, and the trace of an iteration."""
    from tiger.placement.drawing.trace import chrome_trace
    from tiger.placement.drawing.view import view_placement

    if not report.stages:
        return
    yield _draft_view(lambda: view_placement(report))
    yield _draft("trace.json", "An iteration, as Perfetto and chrome://tracing open it.", lambda: chrome_trace(report))
    for system in WRITERS:
        yield _draft(FILES[system], f"The plan for {system}.", partial(report.emit, system))


def expert_files(report: "ExpertReport") -> Iterator[Draft]:
    """Yield the map of experts for every system that reads a text of it; none states devices of unlike slots."""
    if not report.feasible or report.slots_of_devices is not None:
        return
    for system, name in MAPS.items():
        # A file of numpy is no text, and ExFlow has no replicas.
        if name.endswith(".npz") or (system == "exflow" and report.replicas):
            continue
        yield _draft(name, f"The map of experts for {system}.", partial(_write_map, report, system))


def _draft_view(view: Callable[[], Document]) -> Draft:
    """Return the draft of what pictures show."""
    return _draft(VIEW, "What the pictures show.", lambda: encode(view()).decode())


def _draft(name: str, description: str, write: Callable[[], str]) -> Draft:
    """Return the draft of a file, whose type follows from its name."""
    return Draft(name, description, MEDIA_TYPES.get(PurePath(name).suffix, TEXT), write)


def _write_table(mapping: Mapping[str, str]) -> str:
    """Return a mapping as a table (RFC 4180)."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("task", "node"))
    rows.writerows(mapping.items())
    return text.getvalue()


def _write_map(report: "ExpertReport", system: str) -> str:
    """Return the map of experts as a text for a system."""
    return report.emit(system).decode()


def _write_layouts(report: "CircuitReport") -> str:
    """Return the layouts of a circuit as lists, of which `initial_layout` is what the field of a request takes."""
    layouts = {"initial_layout": report.initial_layout, "final_layout": report.final_layout}
    return json.dumps({name: [layout[qubit] for qubit in sorted(layout)] for name, layout in layouts.items()}) + "\n"
