"""Slurm's `topology.yaml`, which states several topologies, each a tree of switches or blocks.

Source: Slurm 25.05, topology.yaml(5), https://slurm.schedmd.com/topology.yaml.html.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tiger.errors import InputError
from tiger.formats import slurm
from tiger.formats.hardware.levels import DescribedHardware
from tiger.formats.slurm import Record
from tiger.model.wording import describe

FIELD = "topology"
# Lists, objects and values of a file: as many as a million hosts in blocks of one take.
VALUE_LIMIT = 1 << 22
# A list of topologies with lists of switches with values is six deep.
DEPTH_LIMIT = 16
# Keys of a switch and of a block, as topology.conf calls them.
SWITCH = {"switch": "SwitchName", "children": "Switches", "nodes": "Nodes", "link_speed": "LinkSpeed"}
BLOCK = {"block": "BlockName", "nodes": "Nodes"}


@dataclass(frozen=True, slots=True)
class _Value:
    """Hold a value of YAML and its line: a text, a list or an object."""

    line: int
    content: "str | list[_Value] | dict[str, _Value]"

    def error(self, reason: str) -> InputError:
        """Return an error at this line."""
        return InputError(FIELD, f"line {self.line}: {reason}")

    def as_list(self, what: str) -> "list[_Value]":
        """Return a list of something."""
        if not isinstance(self.content, list) or not self.content:
            raise self.error(f"expected a list of {what}")
        return self.content

    def as_object(self, what: str) -> "dict[str, _Value]":
        """Return an object that states something."""
        if not isinstance(self.content, dict):
            raise self.error(f"expected an object that states {what}")
        return self.content

    def as_text(self, what: str) -> str:
        """Return the text of something."""
        if not isinstance(self.content, str):
            raise self.error(f"expected {what} as text")
        return self.content


def read_network(text: str) -> DescribedHardware:
    """Return the hosts of the topology that is the cluster's default, or of the first; as `slurm.read_network` does.

    Raises InputError of `topology` with the line at fault, also for anchors and aliases of YAML, and for a flat
    topology, which lists no hosts.
    """
    topologies = [topology.as_object("a topology") for topology in _parse(text).as_list("topologies")]
    chosen = next((topology for topology in topologies if _is_default(topology)), topologies[0])
    for kind, read in (("tree", _read_tree), ("block", _read_blocks)):
        if kind in chosen:
            return slurm.read_records(read(chosen[kind]))
    raise InputError(FIELD, f"expected tree or block in the topology that counts, got {describe(', '.join(chosen))}")


def _is_default(topology: Mapping[str, _Value]) -> bool:
    """Return whether a topology is the cluster's default."""
    given = topology.get("cluster_default")
    return given is not None and given.as_text("true or false").lower() in ("true", "yes", "on")


def _read_tree(tree: _Value) -> list[Record]:
    """Return the switches of a tree."""
    given = tree.as_object("switches")
    if "switches" not in given:
        raise tree.error("expected switches, got none")
    return [_read_record(entry, SWITCH) for entry in given["switches"].as_list("switches")]


def _read_blocks(block: _Value) -> list[Record]:
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


def _read_record(entry: _Value, keys: Mapping[str, str]) -> Record:
    """Return a switch or a block, whose keys are those of `topology.conf` by other names."""
    kind = next(iter(keys))
    given = entry.as_object(f"a {kind}")
    unknown = next((key for key in given if key not in keys), None)
    if unknown is not None:
        raise given[unknown].error(f"expected a key out of {', '.join(keys)}, got {describe(unknown)}")
    if kind not in given:
        raise entry.error(f"expected {kind}, the name, got none")
    values = {keys[key]: value.as_text(key) for key, value in given.items()}
    return Record(entry.line, keys[kind], values, {name: key for key, name in keys.items()})


def _parse(text: str) -> _Value:
    """Return the content of a text of one document without aliases, so that nothing is read twice."""
    import yaml  # so that other files do not wait for it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    root = _Value(1, [])
    above, keys = [root], [""]
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader)):
            where = _Value(event.start_mark.line + 1, "")
            if getattr(event, "anchor", None) is not None:
                raise where.error("expected values without anchors and aliases, got one")
            if count > VALUE_LIMIT or len(above) > DEPTH_LIMIT:
                raise where.error(f"expected at most {VALUE_LIMIT} values, {DEPTH_LIMIT} inside each other, got more")
            if isinstance(event, yaml.CollectionEndEvent):
                above.pop()
                keys.pop()
            elif isinstance(event, yaml.CollectionStartEvent):
                value = _Value(where.line, {} if isinstance(event, yaml.MappingStartEvent) else [])
                _add(above[-1], keys, value)
                above.append(value)
                keys.append("")
            elif isinstance(event, yaml.ScalarEvent):
                _add(above[-1], keys, _Value(where.line, event.value))
    except UnicodeEncodeError:
        raise InputError(FIELD, "expected YAML, got text that is no Unicode") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = "" if mark is None else f"line {mark.line + 1}: "
        raise InputError(
            FIELD, f"{at}expected YAML, got {describe(getattr(error, 'problem', None) or 'a fault')}"
        ) from None
    documents = root.as_list("topologies")
    if len(documents) > 1:
        raise documents[1].error("expected one document, got another")
    return documents[0]


def _add(owner: _Value, keys: list[str], value: _Value) -> None:
    """Add a value to a list, or to an object as a key first and then as what stands under it."""
    if isinstance(owner.content, list):
        owner.content.append(value)
    elif isinstance(owner.content, dict):
        if keys[-1]:
            owner.content[keys[-1]] = value
            keys[-1] = ""
        else:
            key = value.as_text("a key")
            if key in owner.content or not key:
                raise value.error(f"expected different keys in an object, got {describe(key)}")
            keys[-1] = key
