"""Files of task graphs and topologies, read by the ending of their name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tiger.errors import InputError
from tiger.formats import (
    comscribe,
    csvmatrix,
    graphml,
    hmetis,
    ipm,
    matrixmarket,
    metis,
    monitoring,
    mpip,
    nccl,
    nodelink,
    original,
    qaplib,
    scotch,
    slurm,
    slurmyaml,
)
from tiger.formats.hardware import kubernetes, measured, scotchtarget
from tiger.formats.hardware.description import read_document, read_printed, read_xml
from tiger.formats.hardware.levels import DescribedHardware
from tiger.formats.hardware.linked import LinkedHardware
from tiger.formats.hardware.plain import PlainHardware
from tiger.formats.hardware.units import UnitName
from tiger.formats.patterns import spec as patterns
from tiger.model.jsontext import read_json
from tiger.model.sharing import Rule
from tiger.model.tasks import TaskGraph
from tiger.model.text import FileText, text_of
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies.spec import KINDS, build

FIELD = "topology"
_SPEC = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[^/\\]*")


@dataclass(frozen=True, slots=True)
class TaskFile:
    """Hold the task graph of a file, and the topology and the rule where the format brings them along."""

    tasks: TaskGraph
    topology: Topology | None = None
    rule: Rule | None = None


def read_tasks(source: Path | str | FileText) -> TaskFile:
    """Return the tasks of a file, its text, or a SPEC such as `halo:8x8`; raise InputError of `tasks` or below."""
    name = source.file if isinstance(source, FileText) else str(source)
    reader = _TASKS.get(Path(name).suffix.lower())
    if reader is not None:
        return reader(text_of(source, "tasks"))
    if is_pattern(source):
        return TaskFile(patterns.build(str(source)))
    what = f"expected a file ending in one of {', '.join(_TASKS)}"
    if not isinstance(source, FileText):
        what += ", or a SPEC such as halo:8x8"
    raise InputError("tasks", f"{what}, got {describe(name, 300)}")


def is_pattern(source: object) -> bool:
    """Return whether tasks are given by the SPEC of a pattern, well-formed or not, and not by a file or a graph."""
    if not isinstance(source, str) or Path(source).suffix.lower() in _TASKS:
        return False
    return bool(_SPEC.fullmatch(source)) or any(source == kind.name for kind in patterns.KINDS)


def read_topology(source: str) -> Topology:
    """Return the topology of a SPEC such as `torus:4x4` or of a file; raise InputError of `topology` or below."""
    return read_hardware(source).topology({})


def read_hardware(
    source: str | FileText,
    level: str = "node",
    labels: Sequence[str] | None = None,
    units: UnitName | None = None,
) -> DescribedHardware:
    """Return the hardware of a SPEC such as `torus:4x4`, of a file or of its text.

    What does not name its levels has one of the given name. `labels` are those that make levels of the nodes of
    Kubernetes, and `units` those that are taken of a machine as lstopo writes it. Raises InputError of `topology` or
    below, and of `labels` for other hardware.
    """
    name = source.file if isinstance(source, FileText) else source
    suffix = Path(name).suffix.lower()
    if labels is not None and suffix != ".json":
        raise InputError("labels", f"expected them with nodes of Kubernetes, a .json file, got {describe(name)}")
    reader = _HARDWARE.get(suffix)
    if reader is not None:
        text = text_of(source, FIELD)
        if labels is not None:
            return kubernetes.read_nodes(read_json(text, FIELD), labels)
        if units is not None and suffix == ".xml":
            return read_xml(text, units)
        return _name_level(reader(text), level)
    if name is source and (_SPEC.fullmatch(name) or any(name == kind.name for kind in KINDS)):
        return PlainHardware(build(name), level)
    wanted = f"{'a SPEC such as torus:4x4 or ' if name is source else ''}a file ending in {', '.join(_HARDWARE)}"
    raise InputError(FIELD, f"expected {wanted}, got {describe(name)}")


def is_topology_file(source: str) -> bool:
    """Return whether a topology is given by a file, and not by a SPEC."""
    return Path(source).suffix.lower() in _HARDWARE


def _name_level(hardware: DescribedHardware | Topology, level: str) -> DescribedHardware:
    """Return hardware as it is, but with a name for the one level of what does not name its levels."""
    if isinstance(hardware, Topology):
        return PlainHardware(hardware, level)
    return replace(hardware, level=level) if isinstance(hardware, PlainHardware | LinkedHardware) else hardware


def _read_qaplib(text: str) -> TaskFile:
    """Read tasks and topology of a QAPLIB file."""
    return TaskFile(*qaplib.read_problem(text))


_TASKS: dict[str, Callable[[str], TaskFile]] = {
    ".json": lambda text: TaskFile(nodelink.read_task_graph(read_json(text, "tasks"))),
    ".graph": lambda text: TaskFile(metis.read_task_graph(text)),
    ".hgr": lambda text: TaskFile(hmetis.read_task_graph(text)),
    ".mtx": lambda text: TaskFile(matrixmarket.read_task_graph(text)),
    ".csv": lambda text: TaskFile((comscribe if comscribe.is_log(text) else csvmatrix).read_task_graph(text)),
    ".graphml": lambda text: TaskFile(graphml.read_task_graph(text)),
    ".dat": _read_qaplib,
    ".ram": lambda text: TaskFile(original.read_task_graph(text), rule="levels"),
    ".prof": lambda text: TaskFile(monitoring.read_task_graph(text)),
    ".xml": lambda text: TaskFile(ipm.read_task_graph(text)),
    ".log": lambda text: TaskFile(nccl.read_task_graph(text)),
    ".mpip": lambda text: TaskFile(mpip.read_task_graph(text)),
    ".grf": lambda text: TaskFile(scotch.read_task_graph(text)),
    ".src": lambda text: TaskFile(scotch.read_task_graph(text)),
}
_HARDWARE: dict[str, Callable[[str], DescribedHardware | Topology]] = {
    ".json": lambda text: read_document(read_json(text, FIELD)),
    ".arc": original.read_mesh,
    ".conf": slurm.read_network,
    ".yaml": slurmyaml.read_network,
    ".yml": slurmyaml.read_network,
    ".csv": measured.read_network,
    ".tgt": scotchtarget.read_target,
    ".txt": lambda text: slurm.read_network(text) if slurm.is_network(text) else read_printed(text),
    ".topo": read_printed,
    ".ibnet": read_printed,
    ".xml": read_xml,
}
