"""Rank files of Open MPI, read back by a parser of their documentation."""

from dataclasses import replace

import pytest
from hypothesis import given

from tests.launchers.orders import BY_CORE, SWAPPED, launch_nodes, orders
from tests.launchers.readers import read_rankfile
from tiger.errors import InputError
from tiger.launchers.order import order_ranks
from tiger.launchers.rankfile import describe_openmpi, describe_prrte, write


def test_a_rank_file_names_host_and_slot() -> None:
    """Slots of a stated number count as cores."""
    assert write(SWAPPED).splitlines()[:2] == ["rank 0=n1 slot=0", "rank 1=n0 slot=0"]


def test_a_rank_file_names_the_cores_of_the_hardware() -> None:
    """Where the nodes are cores, nothing has to be stated."""
    assert write(BY_CORE) == "rank 0=n1 slot=1\nrank 1=n0 slot=0\nrank 2=n1 slot=0\n"


@given(order=orders(units=("", "core")))
def test_rank_files_are_read_back(order) -> None:
    """Each rank on its host, at its slot or core."""
    assert read_rankfile(write(order)) == [(binding.host, binding.slot) for binding in order.bindings]


def test_cores_or_slots_have_to_be_known() -> None:
    """A host without a stated number of slots has none that is known, and other units than cores have none."""
    for order in (
        replace(SWAPPED, slots_given=False),
        order_ranks({"0": "n1/2"}, launch_nodes({"n1/2": 1}, slots_given=False)),
    ):
        with pytest.raises(InputError, match=r"^emit: expected cores in the hardware .* or a stated number .*'n1"):
            write(order)


@pytest.mark.parametrize("slots_given", [False, True])
@pytest.mark.parametrize("unit", ["gpu2", "nic0"])
def test_bug_devices_are_no_cores(unit, slots_given) -> None:
    """Whatever slots they have."""
    order = order_ranks({"0": f"n1/{unit}"}, launch_nodes({f"n1/{unit}": 1}, slots_given=slots_given))
    with pytest.raises(InputError, match=f"^emit: expected cores or hosts for a rank file, .* got 'n1/{unit}'; torchr"):
        write(order)


def test_versions_differ_in_the_option() -> None:
    """Version 5 takes the file as a way to map."""
    assert describe_openmpi(SWAPPED) == "mpirun --rankfile FILE -n 5 PROGRAM"
    assert describe_prrte(SWAPPED) == "mpirun --host n0:2,n1:2,n2:1 --map-by rankfile:file=FILE -n 5 PROGRAM"


def test_ranks_that_share_a_core_are_allowed_to() -> None:
    """PRRTE refuses them otherwise."""
    shared = order_ranks({"0": "n1/core0", "1": "n1/core0"}, launch_nodes({"n1/core0": 2}))
    assert " --map-by rankfile:file=FILE --bind-to core:overload-allowed -n 2 " in describe_prrte(shared)
