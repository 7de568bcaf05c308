"""Read the split of torch back from the text that TIGER writes."""

from dataclasses import dataclass

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.values import check_positive, check_whole, read_name
from tiger.model.wording import describe
from tiger.training.layouts.modules import CHUNKS


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchSplit:
    """Hold the modules of every stage, those that stages but the first begin with, and the device of every rank."""

    chunks: tuple[tuple[str, ...], ...]
    split_points: tuple[str, ...]
    stages_per_rank: int
    devices: tuple[str, ...]


def parse(text: str) -> TorchSplit:
    """Return the split of a JSON object; raise InputError that names the key at fault."""
    data = read_json(text, "split")
    if not isinstance(data, dict):
        raise InputError("split", f"expected an object, got {describe(data)}")
    stated = [data[name] for name in CHUNKS if name in data]
    if not stated or stated[0] != stated[-1]:
        raise InputError(CHUNKS[0], "expected the modules of every stage, once or alike under both names")
    chunks = tuple(_names(f"{CHUNKS[0]}/{stage}", chunk) for stage, chunk in enumerate(_list(CHUNKS[0], stated[0])))
    if not chunks:
        raise InputError(CHUNKS[0], "expected at least one stage, got none")
    points = _names("split_points", data.get("split_points", [chunk[0] for chunk in chunks[1:]]), least=0)
    if points != tuple(chunk[0] for chunk in chunks[1:]):
        raise InputError("split_points", "expected the first module of every stage but the first, got others")
    virtual = check_whole("stages_per_rank", check_positive("stages_per_rank", data.get("stages_per_rank", 1)))
    if len(chunks) % virtual:
        raise InputError("stages_per_rank", f"expected a divisor of {len(chunks)} stages, got {virtual}")
    devices = _names("devices", data.get("devices", []), least=0)
    return TorchSplit(chunks=chunks, split_points=points, stages_per_rank=virtual, devices=devices)


def _list(field: str, value: object) -> list[object]:
    """Return a list."""
    if not isinstance(value, list):
        raise InputError(field, f"expected a list, got {describe(value)}")
    return value


def _names(field: str, value: object, least: int = 1) -> tuple[str, ...]:
    """Return a list of different names, so many at least."""
    names = tuple(read_name(f"{field}/{k}", name) for k, name in enumerate(_list(field, value)))
    if len(names) < least or len(set(names)) < len(names):
        raise InputError(field, f"expected different names, {least} or more, got {len(names)}")
    return names
