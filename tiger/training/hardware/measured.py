"""Clusters from what nccl-tests print: one machine, whose devices have taken as long as they say."""

from collections.abc import Mapping

from tiger.errors import InputError
from tiger.formats.hardware.nccltests import read_output
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster, check_device_count
from tiger.training.hardware.connection import NCCL_TESTS
from tiger.training.hardware.device import DEVICE_FIELDS, device_type
from tiger.training.hardware.fleet import Fleet, MachineType
from tiger.training.hardware.record import check_record, check_text
from tiger.training.hardware.tables import curve_of_run


def cluster_of_run(document: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the one machine of `{"nccl_tests": TEXT}`; `kind`, `memory_bytes` and `speed` beside it hold for all.

    Raises InputError for a run on several hosts, which says nothing of what is inside one.
    """
    fields, field = check_record("cluster", document, (NCCL_TESTS, *DEVICE_FIELDS)), f"cluster/{NCCL_TESTS}"
    run = read_output(check_text(field, fields[NCCL_TESTS]), field)
    if run.hosts > 1:
        what = "expected a run inside one machine (put this one into the table of a network of nics)"
        raise InputError(field, f"{what}, got one on {run.hosts} hosts")
    check_device_count(run.ranks, max_devices, field)
    device = device_type("cluster", fields)
    return Fleet(machines=(MachineType(devices=run.ranks, device=device, inside=curve_of_run(run, field)),)).cluster()
