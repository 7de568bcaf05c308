"""Read the split of DeepSpeed back from the text that TIGER writes."""

import ast
from dataclasses import dataclass
from itertools import pairwise

from tiger.errors import InputError
from tiger.model.values import check_whole
from tiger.model.wording import describe
from tiger.placement.emission.deepspeed import DEVICES, LAYERS, PARTS, SPECS


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepSpeedSplit:
    """Hold the layer that each stage begins with, and the number of layers at the end, as PipelineModule does.

    `layers` are (kind of spec, name), those of a TiedLayerSpec with the key of the group as third.
    `devices` are those of ranks in order.
    """

    parts: tuple[int, ...]
    layers: tuple[tuple[str, ...], ...]
    devices: tuple[str, ...]


def parse(text: str) -> DeepSpeedSplit:
    """Return the split that Python text assigns to `parts`, `layers` and `devices`, none of which is run.

    Raises InputError that names the one at fault.
    """
    values = _assignments(text)
    cuts = values.get(PARTS)
    if not isinstance(cuts, list) or len(cuts) < 2:
        raise InputError(PARTS, "expected a list of at least two numbers, got none")
    parts = tuple(check_whole(f"{PARTS}/{k}", cut) for k, cut in enumerate(cuts))
    if parts[0] != 0 or any(later <= cut for cut, later in pairwise(parts)):
        raise InputError(PARTS, f"expected numbers that rise from 0, got {list(parts)}")
    layers = tuple(_spec(f"{LAYERS}/{k}", spec) for k, spec in enumerate(_list(LAYERS, values.get(LAYERS, []))))
    if layers and len(layers) != parts[-1]:
        raise InputError(LAYERS, f"expected {parts[-1]} of them, as parts say, got {len(layers)}")
    devices = _list(DEVICES, values.get(DEVICES, []))
    if not all(isinstance(device, str) for device in devices) or len(devices) % (len(parts) - 1):
        raise InputError(DEVICES, f"expected names of devices, a multiple of {len(parts) - 1} of them")
    return DeepSpeedSplit(parts=parts, layers=layers, devices=tuple(map(str, devices)))


def _assignments(text: str) -> dict[str, object]:
    """Return the literals that a text assigns to names."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError("split", "expected Python text, got something else") from None
    values: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name not in (PARTS, LAYERS, DEVICES):
                continue
            try:
                values[name] = ast.literal_eval(node.value)
            except (ValueError, TypeError, RecursionError):
                raise InputError(name, "expected a literal, got an expression") from None
    return values


def _list(field: str, value: object) -> list[object]:
    """Return a list."""
    if not isinstance(value, list):
        raise InputError(field, f"expected a list, got {describe(value)}")
    return value


def _spec(field: str, value: object) -> tuple[str, ...]:
    """Return kind, name and, of a tied layer, key."""
    if isinstance(value, tuple) and all(isinstance(part, str) for part in value):
        parts = tuple(map(str, value))
        if (parts[:1], len(parts)) in ((SPECS[:1], 2), (SPECS[1:], 3)):
            return parts
    raise InputError(field, f"expected (LayerSpec, name) or (TiedLayerSpec, name, key), got {describe(value)}")
