"""What is inside the hosts of a network: the devices of one machine, in any form that a cluster has."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.nccltests import is_output
from tiger.model.jsontext import read_json
from tiger.model.text import FileText, find_file, text_of
from tiger.model.wording import describe
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.connection import NCCL_TESTS
from tiger.training.hardware.document import cluster_of_devices
from tiger.training.hardware.fleet import Fleet
from tiger.training.hardware.machines import INSIDE_FIELDS, cluster_of_machines, read_type
from tiger.training.hardware.measured import cluster_of_run
from tiger.training.hardware.nvidia import PRINTED
from tiger.training.hardware.record import check_list, check_record, check_text, name_field, require
from tiger.training.hardware.spec import cluster_of_spec

Source = TypeVar("Source")
MACHINE = "machine"
FIELD = f"cluster/{MACHINE}"
# Of files that describe devices.
ENDINGS = (".json", *PRINTED)


class HostDevices(NamedTuple):
    """Hold the devices of a machine, what they are called in it, and the hosts that have them; all without hosts."""

    hosts: str | None
    names: tuple[str, ...]
    devices: Cluster


def read_insides(value: object) -> list[HostDevices]:
    """Return the machine that is inside all hosts, or several, each with the hosts that it is inside.

    A machine is an object with the fields of a node group, a document of devices or of one machine, the name and the
    text of a file as `file` and `text`, or a SPEC such as `dgx:1`. Of several, each is `{"hosts": "n[0-3]", "machine":
    ..}`. Raises InputError of `cluster/machine` or below.
    """
    if not isinstance(value, list):
        return [_read_inside(FIELD, value, None)]
    insides = []
    for k, entry in enumerate(check_list(FIELD, value)):
        at = f"{FIELD}/{k}"
        fields = check_record(at, entry, ("hosts", MACHINE))
        hosts = check_text(f"{at}/hosts", require(at, fields, "hosts"))
        insides.append(_read_inside(f"{at}/{MACHINE}", require(at, fields, MACHINE), hosts))
    if not insides:
        raise InputError(FIELD, "expected what is inside the hosts, got nothing")
    return insides


def document_of_file(file: FileText, field: str) -> object:
    """Return the document of devices that the text of a file stands for; raise InputError of a field."""
    suffix = Path(file.file).suffix.lower()
    if suffix in PRINTED:
        text = text_of(file, field)
        return {NCCL_TESTS if is_output(text) else PRINTED[suffix]: text}
    if suffix == ".json":
        return read_json(text_of(file, field), field)
    raise InputError(field, f"expected a file ending in {', '.join(ENDINGS)}, got {describe(file.file, 300)}")


def _read_inside(field: str, given: object, hosts: str | None) -> HostDevices:
    """Return the devices of one machine."""
    file = find_file(field, given)
    value = given if file is None else document_of_file(file, field)
    if isinstance(value, Mapping) and isinstance(value.get("devices"), list):
        devices = _read_cluster(field, cluster_of_devices, value)
        names = devices.names
    else:
        devices = _read_groups(field, value)
        # Devices of node groups are called m0.gpu0, m0.gpu1 and so on.
        names = tuple(name.partition(".")[2] for name in devices.names)
    machines = len(np.unique(devices.machine))
    if machines > 1:
        raise InputError(field, f"expected one machine, got {machines}")
    return HostDevices(hosts, names, devices)


def _read_groups(field: str, value: object) -> Cluster:
    """Return the cluster of a SPEC, of node groups, or of the fields of one."""
    if isinstance(value, str):
        return _read_cluster(field, cluster_of_spec, value)
    if isinstance(value, Mapping) and "machines" in value:
        return _read_cluster(field, cluster_of_machines, value)
    if isinstance(value, Mapping) and NCCL_TESTS in value:
        return _read_cluster(field, cluster_of_run, value)
    return Fleet(machines=(read_type(field, check_record(field, value, INSIDE_FIELDS), {}),)).cluster()


def _read_cluster(field: str, read: Callable[[Source], Cluster], source: Source) -> Cluster:
    """Return a cluster; errors of it are those of the field."""
    try:
        return read(source)
    except InputError as error:
        raise name_field(error, {"cluster": field}) from None
