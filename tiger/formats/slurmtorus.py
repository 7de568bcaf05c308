"""The tori of Slurm's `topology.yaml`, topology/torus3d.

Source: Slurm, topology.yaml(5), https://slurm.schedmd.com/topology.yaml.html.
"""

import math
from collections.abc import Mapping

import numpy as np

from tiger.formats.hardware.plain import PlainHardware
from tiger.formats.hardware.tori import Torus, join_tori
from tiger.formats.hostlist import read_list
from tiger.formats.yamltext import FIELD, Value
from tiger.model.arrays import IntArray
from tiger.model.text import read_wholes
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

AXES = ("x", "y", "z")
# What a torus and a region may state; placements are what jobs may ask for.
TORUS = ("name", "dims", "nodes", "regions", "placements")
REGION = ("anchor", "dims", "nodes")
Point = tuple[int, int, int]


def read_tori(value: Value) -> PlainHardware:
    """Return the hosts of all tori, in the order of their points, x fastest.

    Raises InputError of `topology` with the line and the key at fault.
    """
    given = _read_object(value, "toruses", ("toruses",))
    if "toruses" not in given:
        raise value.error("expected toruses, got none")
    tori, seen, left = dict[str, Torus](), dict[str, int](), NODE_LIMIT
    for entry in given["toruses"].as_list("toruses"):
        torus = _read_torus(entry, seen, left)
        if torus.name in tori:
            raise entry.error(f"name: expected different names, got {describe(torus.name)} again")
        tori[torus.name], left = torus, left - len(torus.hosts)
    return join_tori(list(tori.values()))


def _read_torus(entry: Value, seen: dict[str, int], most: int) -> Torus:
    """Return a torus of a limited number of points; `seen` are the lines of the hosts so far."""
    given = _read_object(entry, "a torus", TORUS)
    missing = next((key for key in ("name", "dims") if key not in given), None)
    if missing is not None:
        raise entry.error(f"expected {missing}, got none")
    name, dims = given["name"].as_text("name"), _read_point(given["dims"], "dims")
    if not 1 <= math.prod(dims) <= most:
        raise given["dims"].error(f"dims: expected 1 to {most} points, got {math.prod(dims)}")
    if ("nodes" in given) == ("regions" in given):
        got = "both" if "nodes" in given else "neither"
        raise entry.error(f"expected nodes or regions in {describe(name)}, got {got}")
    points = np.arange(math.prod(dims)).reshape(dims[::-1])
    hosts: list[str | None] = [None] * points.size
    if "nodes" in given:
        _place(hosts, points, given["nodes"], seen)
    else:
        for region in given["regions"].as_list("regions"):
            _place(hosts, _find_region(points, region), region.as_object("a region")["nodes"], seen)
    return Torus(name, dims[::-1], tuple(hosts))


def _find_region(points: IntArray, entry: Value) -> IntArray:
    """Return the points of a region of a torus."""
    given = _read_object(entry, "a region", REGION)
    missing = next((key for key in REGION if key not in given), None)
    if missing is not None:
        raise entry.error(f"expected {missing}, got none")
    anchor, dims = _read_point(given["anchor"], "anchor"), _read_point(given["dims"], "dims")
    whole = points.shape[::-1]
    if not all(extent and begin + extent <= most for begin, extent, most in zip(anchor, dims, whole, strict=True)):
        what = f"dims: expected a region inside the torus of {'x'.join(map(str, whole))}, got another"
        raise given["dims"].error(what)
    return points[tuple(slice(begin, begin + extent) for begin, extent in zip(anchor[::-1], dims[::-1], strict=True))]


def _place(hosts: list[str | None], points: IntArray, nodes: Value, seen: dict[str, int]) -> None:
    """Put the hosts of a list at points, x fastest; each must be listed once, and no point twice."""
    names = read_list(FIELD, f"line {nodes.line}: nodes", nodes.as_text("nodes"), NODE_LIMIT)
    if len(names) != points.size:
        raise nodes.error(f"nodes: expected {points.size} hosts, one at every point, got {len(names)}")
    for name, point in zip(names, points.ravel().tolist(), strict=True):
        if name in seen:
            raise nodes.error(f"nodes: expected hosts once, got {describe(name)} on line {seen[name]} too")
        if hosts[point] is not None:
            raise nodes.error(f"nodes: expected regions that do not overlap, got {describe(name)} on another host")
        hosts[point], seen[name] = name, nodes.line


def _read_point(value: Value, key: str) -> Point:
    """Return three whole numbers, x, y and z."""
    given = _read_object(value, f"{key} as x, y and z", AXES)
    missing = next((axis for axis in AXES if axis not in given), None)
    if missing is not None:
        raise value.error(f"{key}: expected {missing}, got none")
    words = [given[axis].as_text(axis) for axis in AXES]
    x, y, z = read_wholes(FIELD, f"line {value.line}: {key}", words).tolist()
    return x, y, z


def _read_object(value: Value, what: str, keys: tuple[str, ...]) -> Mapping[str, Value]:
    """Return an object of known keys."""
    given = value.as_object(what)
    unknown = next((key for key in given if key not in keys), None)
    if unknown is not None:
        raise given[unknown].error(f"expected a key out of {', '.join(keys)}, got {describe(unknown)}")
    return given
