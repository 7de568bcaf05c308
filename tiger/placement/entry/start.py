"""The placement that a search starts from, in any form of a caller: a report, a document, a file, or names by names."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tiger.errors import InputError
from tiger.formats.mappings import mapping_of, read_table
from tiger.model.jsontext import read_json
from tiger.model.solved_job import SolvedJob, open_job
from tiger.model.text import read_text
from tiger.model.wording import describe
from tiger.placement.entry.stage import PlacedStage
from tiger.placement.operators.params import GivenPlacement, Ranks
from tiger.training.hardware.cluster import Cluster

if TYPE_CHECKING:
    from tiger.placement.entry.report import PlacementReport

Start = Union["PlacementReport", SolvedJob, Mapping[str, object], Path, str]
FIELD = "start"


def read_start(source: Start | None) -> GivenPlacement | None:
    """Return a placement by names, None without one.

    That is a report, a job with one, a document of one or a file of that, or {name: device} as a mapping, JSON or lines
    `name,device`.
    Raises InputError of `start`, and TypeError for anything else.
    """
    if source is None:
        return None
    if isinstance(source, str | Path):
        text = read_text(Path(source), FIELD)
        if text.lstrip().startswith("{"):
            return read_document(read_json(text, FIELD))
        return _name_devices(read_table(text, FIELD))
    if isinstance(source, Mapping):
        return read_document(source)
    stages = getattr(open_job(source, FIELD, "stages"), "stages", None)
    if not isinstance(stages, tuple):
        raise TypeError(f"{FIELD}: expected a report, a job, a mapping or a file, got {type(source).__name__}")
    return _join((stage.ops, stage.devices) for stage in stages)


def read_document(document: object) -> GivenPlacement:
    """Return the placement that a document states, with stages or by single devices; raise InputError of `start`."""
    if not isinstance(document, Mapping) or not isinstance(document.get("stages"), list):
        return _name_devices(mapping_of(document, FIELD))
    return _join(_read_stage(stage, f"{FIELD}/stages/{number}") for number, stage in enumerate(document["stages"]))


def state_start(start: GivenPlacement | None) -> dict[str, object] | None:
    """Return a placement as the document that `read_document` reads."""
    if start is None:
        return None
    stages: list[dict[str, list[object]]] = []
    last: Ranks | None = None
    for op, ranks in start.ranks.items():
        if op in start.begins or ranks != last:
            stages.append({"ops": [], "devices": [list(row) for row in ranks]})
        stages[-1]["ops"].append(op)
        last = ranks
    return {"stages": stages}


def check_start(start: GivenPlacement | None, names: Sequence[str], cluster: Cluster, what: str) -> None:
    """Raise InputError of `start` unless it names devices of the cluster for every layer or operator of the model."""
    if start is None:
        return
    known, devices = set(names), set(cluster.names)
    for name, ranks in start.ranks.items():
        if name not in known:
            raise InputError(FIELD, f"expected {what} of the model, got {describe(name)}")
        for device in (device for row in ranks for device in row):
            if device not in devices:
                raise InputError(f"{FIELD}/{name}", f"expected a device of the cluster, got {describe(device)}")
    missing = next((name for name in names if name not in start.ranks), None)
    if missing is not None:
        raise InputError(FIELD, f"expected a device for all of the model, got none for {describe(missing)}")


def count_moves(start: GivenPlacement | None, stages: Iterable[PlacedStage]) -> int | None:
    """Return how many layers or operators have other devices than in the placement started from, None without one."""
    if start is None:
        return None
    return sum(start.ranks[op] != stage.devices for stage in stages for op in stage.ops)


def _name_devices(mapping: Mapping[str, str]) -> GivenPlacement:
    """Return a placement of single devices, whose stages begin where these change."""
    return GivenPlacement({name: ((device,),) for name, device in mapping.items()})


def _join(stages: Iterable[tuple[Sequence[str], Ranks]]) -> GivenPlacement:
    """Return the placement that stages are; raise InputError for what is in two of them."""
    ranks: dict[str, Ranks] = {}
    begins: list[str] = []
    for number, (ops, devices) in enumerate(stages):
        begins += ops[:1]
        for op in ops:
            if op in ranks:
                reason = f"expected each of them once, got {describe(op)} again"
                raise InputError(f"{FIELD}/stages/{number}/ops", reason)
            ranks[op] = devices
    return GivenPlacement(ranks, frozenset(begins))


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
