"""The placement that a search starts from, in any form of a caller: a report, a document, a file, or names by names."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tiger.errors import InputError
from tiger.formats.mappings import mapping_of, read_table
from tiger.model.jsontext import read_json
from tiger.model.text import read_text
from tiger.model.wording import describe
from tiger.placement.entry.stage import PlacedStage
from tiger.placement.operators.params import Ranks

if TYPE_CHECKING:
    from tiger.placement.entry.report import PlacementReport

Start = Union["PlacementReport", Mapping[str, object], Path, str]
FIELD = "start"


def read_start(source: Start | None) -> dict[str, Ranks] | None:
    """Return the ranks of every layer or operator of a placement by name, None without one.

    That is a report, a document of one or a file of that, or {name: device} as a mapping, JSON or lines `name,device`.
    Raises InputError of `start`, and TypeError for anything else.
    """
    if source is None:
        return None
    if isinstance(source, str | Path):
        text = read_text(Path(source), FIELD)
        return (
            read_document(read_json(text, FIELD)) if text.lstrip().startswith("{") else _single(read_table(text, FIELD))
        )
    if isinstance(source, Mapping):
        return read_document(source)
    stages = getattr(source, "stages", None)
    if not isinstance(stages, tuple):
        raise TypeError(f"{FIELD}: expected a report, a mapping or a file, got {type(source).__name__}")
    return {op: stage.devices for stage in stages for op in stage.ops}


def read_document(document: object) -> dict[str, Ranks]:
    """Return the ranks of every layer or operator that a document states, with stages or by single devices."""
    if not isinstance(document, Mapping) or not isinstance(document.get("stages"), list):
        return _single(mapping_of(document, FIELD))
    found: dict[str, Ranks] = {}
    for number, stage in enumerate(document["stages"]):
        ops, ranks = _read_stage(stage, f"{FIELD}/stages/{number}")
        for op in ops:
            if op in found:
                raise InputError(
                    f"{FIELD}/stages/{number}/ops", f"expected each of them once, got {describe(op)} again"
                )
            found[op] = ranks
    return found


def state_start(start: Mapping[str, Ranks] | None) -> dict[str, object] | None:
    """Return a placement as the document that `read_document` reads."""
    return None if start is None else {"stages": list(_state_stages(start))}


def count_moved(start: Mapping[str, Ranks] | None, stages: Iterable[PlacedStage]) -> int | None:
    """Return how many layers or operators have other devices than in the placement started from, None without one."""
    if start is None:
        return None
    return sum(start[op] != stage.devices for stage in stages for op in stage.ops)


def _single(mapping: Mapping[str, str]) -> dict[str, Ranks]:
    """Return single devices as ranks."""
    return {name: ((device,),) for name, device in mapping.items()}


def _read_stage(stage: object, field: str) -> tuple[list[str], Ranks]:
    """Return the layers or operators of a stage and its ranks [d][t]."""
    if not isinstance(stage, Mapping):
        raise InputError(field, f"expected an object with ops and devices, got {describe(stage)}")
    ops, rows = stage.get("ops"), stage.get("devices")
    if not isinstance(ops, list) or not all(isinstance(op, str) for op in ops):
        raise InputError(f"{field}/ops", f"expected a list of names, got {describe(ops)}")
    if not isinstance(rows, list) or not all(isinstance(row, list) and row for row in rows) or not rows:
        raise InputError(f"{field}/devices", f"expected lists of names in a list, got {describe(rows)}")
    names = [name for row in rows for name in row]
    if not all(isinstance(name, str) for name in names) or len({len(row) for row in rows}) > 1:
        raise InputError(f"{field}/devices", "expected as many names in every list, got others")
    return ops, tuple(map(tuple, rows))


def _state_stages(start: Mapping[str, Ranks]) -> Iterator[dict[str, object]]:
    """Yield the stages of a placement: those next to each other on the same ranks."""
    for ranks, ops in groupby(start, start.__getitem__):
        yield {"ops": list(ops), "devices": [list(row) for row in ranks]}
