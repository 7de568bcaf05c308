"""Instances of a cloud and the network above them, as AWS answers `aws ec2 describe-instance-topology`.

Source: Amazon EC2, DescribeInstanceTopology, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTopology.html.
"""

from collections.abc import Mapping
from typing import TypeGuard

from tiger.errors import InputError
from tiger.formats.hardware.levels import LevelHardware, make_levels
from tiger.model.values import check_records
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "topology"
# AWS states three layers for instances of most types and four for the largest.
LAYER_LIMIT = 8


def is_answer(document: object) -> TypeGuard[dict[str, object]]:
    """Return whether parsed JSON is such an answer."""
    return isinstance(document, dict) and "Instances" in document


def read_instances(document: Mapping[str, object]) -> LevelHardware:
    """Return the instances, in the order of the answer, in the groups that zone and layers of the network make.

    Levels are `zone`, `layer1` (the outermost), `layer2` and so on, and `node`. An instance with fewer layers than
    others hangs below the last of its own: with those there it is as near as others are in the innermost layer. Raises
    InputError of `topology` with a pointer, also for an answer that goes on under a NextToken.
    """
    if document.get("NextToken"):
        raise InputError(f"{FIELD}/NextToken", "expected the whole answer, got a part of it with more to ask for")
    records = check_records(f"{FIELD}/Instances", document["Instances"])
    if not 1 <= len(records) <= NODE_LIMIT:
        raise InputError(f"{FIELD}/Instances", f"expected 1 to {NODE_LIMIT} instances, got {len(records)}")
    names, seen = [_read_text(k, record, "InstanceId") for k, record in enumerate(records)], dict[str, int]()
    for k, name in enumerate(names):
        if seen.setdefault(name, k) != k:
            what = f"expected different ids, got {describe(name)} of {seen[name]} too"
            raise InputError(f"{FIELD}/Instances/{k}/InstanceId", what)
    layers = [_read_layers(k, record) for k, record in enumerate(records)]
    most = max(map(len, layers))
    zones = [str(record.get("ZoneId") or record.get("AvailabilityZone") or "") for record in records]
    filled = [layer + layer[-1:] * (most - len(layer)) for layer in layers]
    groups = [zones, *zip(*filled, strict=True), names]
    levels = ["zone", *(f"layer{depth}" for depth in range(1, len(groups) - 1)), "node"]
    return LevelHardware(names=tuple(names), levels=make_levels(levels, groups))


def _read_text(k: int, record: Mapping[str, object], key: str) -> str:
    """Return a text of an instance, which must be there."""
    value = record.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f"{FIELD}/Instances/{k}/{key}", f"expected text, got {describe(value)}")
    return value


def _read_layers(k: int, record: Mapping[str, object]) -> list[str]:
    """Return the nodes of the network above an instance, outermost first."""
    at, nodes = f"{FIELD}/Instances/{k}/NetworkNodes", record.get("NetworkNodes")
    if not isinstance(nodes, list) or not 1 <= len(nodes) <= LAYER_LIMIT:
        got = f"{len(nodes)}" if isinstance(nodes, list) else describe(nodes)
        raise InputError(at, f"expected a list of 1 to {LAYER_LIMIT} nodes, outermost first, got {got}")
    for depth, node in enumerate(nodes):
        if not isinstance(node, str) or not node:
            raise InputError(f"{at}/{depth}", f"expected text, got {describe(node)}")
    return nodes
