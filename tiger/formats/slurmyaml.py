"""Slurm's `topology.yaml`, which states several topologies, each a tree of switches, blocks, rings, or tori.

Source: Slurm 25.05, topology.yaml(5), https://slurm.schedmd.com/topology.yaml.html.
"""

from collections.abc import Mapping
from dataclasses import replace

from tiger.errors import InputError
from tiger.formats import slurm, slurmtorus
from tiger.formats.hardware.plain import PlainHardware
from tiger.formats.slurm import Network, Record
from tiger.formats.yamltext import Value, read_value
from tiger.model.wording import describe

FIELD = "topology"
# Keys of a switch, of a block and of a ring, as topology.conf calls them.
SWITCH = {"switch": "SwitchName", "children": "Switches", "nodes": "Nodes", "link_speed": "LinkSpeed"}
BLOCK = {"block": "BlockName", "nodes": "Nodes"}
RING = {"ring": "RingName", "nodes": "Nodes"}
TORUS, FLAT = "torus3d", "flat"


def read_network(text: str) -> Network:
    """Return the hosts of the topology that is the cluster's default, or of the first; as `slurm.read_network` does.

    A flat topology lists no hosts: where one counts, the first that does list some takes its place, with a remark.
    Raises InputError of `topology` with the line at fault, also for anchors and aliases of YAML.
    """
    topologies = [topology.as_object("a topology") for topology in read_value(text).as_list("topologies")]
    chosen = next((topology for topology in topologies if _is_default(topology)), topologies[0])
    if FLAT not in chosen:
        return _read_topology(chosen)
    listed = next((topology for topology in topologies if FLAT not in topology), None)
    if listed is None:
        what = "expected a topology that lists hosts, which a flat one does not: list them in a .txt file, one a line"
        raise chosen[FLAT].error(f"{FLAT}: {what}")
    name = listed["topology"].as_text("the name of a topology") if "topology" in listed else "without a name"
    remark = f"the default topology is flat and lists no hosts: the topology {describe(name)} counts in its place"
    return _add_remark(_read_topology(listed), remark)


def _is_default(topology: Mapping[str, Value]) -> bool:
    """Return whether a topology is the cluster's default."""
    given = topology.get("cluster_default")
    return given is not None and given.as_text("true or false").lower() in ("true", "yes", "on")


def _read_topology(topology: Mapping[str, Value]) -> Network:
    """Return the hosts of a topology."""
    for kind, read in (("tree", _read_tree), ("block", _read_blocks), ("ring", _read_rings)):
        if kind in topology:
            return slurm.read_records(read(topology[kind]))
    if TORUS in topology:
        return slurmtorus.read_tori(topology[TORUS])
    kinds = f"tree, block, ring or {TORUS}"
    raise InputError(FIELD, f"expected {kinds} in the topology that counts, got {describe(', '.join(topology))}")


def _add_remark(network: Network, remark: str) -> Network:
    """Return a network with a further remark."""
    if isinstance(network, PlainHardware):
        return replace(network, nodes=replace(network.nodes, remarks=(*network.nodes.remarks, remark)))
    return replace(network, remarks=(*network.remarks, remark))


def _read_tree(tree: Value) -> list[Record]:
    """Return the switches of a tree."""
    given = tree.as_object("switches")
    if "switches" not in given:
        raise tree.error("expected switches, got none")
    return [_read_record(entry, SWITCH) for entry in given["switches"].as_list("switches")]


def _read_blocks(block: Value) -> list[Record]:
    """Return the blocks and the sizes in which they aggregate."""
    given = block.as_object("blocks")
    if "blocks" not in given:
        raise block.error("expected blocks, got none")
    records = [_read_record(entry, BLOCK) for entry in given["blocks"].as_list("blocks")]
    if "block_sizes" in given:
        sizes = given["block_sizes"]
        text = ",".join(size.as_text("a size") for size in sizes.as_list("sizes"))
        records.append(Record(sizes.line, "BlockSizes", {"BlockSizes": text}, {"BlockSizes": "block_sizes"}))
    return records


def _read_rings(ring: Value) -> list[Record]:
    """Return the rings."""
    given = ring.as_object("rings")
    if "rings" not in given:
        raise ring.error("expected rings, got none")
    return [_read_record(entry, RING) for entry in given["rings"].as_list("rings")]


def _read_record(entry: Value, keys: Mapping[str, str]) -> Record:
    """Return a switch, a block or a ring, whose keys are those of `topology.conf` by other names."""
    kind = next(iter(keys))
    given = entry.as_object(f"a {kind}")
    unknown = next((key for key in given if key not in keys), None)
    if unknown is not None:
        raise given[unknown].error(f"expected a key out of {', '.join(keys)}, got {describe(unknown)}")
    if kind not in given:
        raise entry.error(f"expected {kind}, the name, got none")
    values = {keys[key]: value.as_text(key) for key, value in given.items()}
    return Record(entry.line, keys[kind], values, {name: key for key, name in keys.items()})
