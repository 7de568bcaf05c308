"""The launchers by name, and what is said of their texts."""

from dataclasses import replace
from typing import get_args

import pytest

from tests.launchers.orders import NODES, SWAPPED, launch_nodes
from tiger.errors import InputError
from tiger.launchers.formats import LAUNCHERS, LauncherName, check_fit, describe_use, find_launcher
from tiger.launchers.order import order_ranks


def test_every_name_has_a_launcher() -> None:
    """And no launcher is without one."""
    assert list(LAUNCHERS) == list(get_args(LauncherName))
    assert all(launcher.use(SWAPPED) for launcher in LAUNCHERS.values())


def test_unknown_names_are_refused() -> None:
    """With those that are known."""
    with pytest.raises(InputError, match=r"^emit: expected one of openmpi, prrte, .*, got 'lsf'$"):
        find_launcher("lsf")


def test_free_slots_of_a_stated_number_are_told() -> None:
    """At the hosts that have them, of which eight are named."""
    assert describe_use("csv", SWAPPED) == "a row for every rank\nfree slots: 1, 1 on 'n2'\n"
    assert describe_use("csv", replace(SWAPPED, slots_given=False)) == "a row for every rank\n"
    many = order_ranks({"0": "0"}, launch_nodes({str(k): 1 for k in range(12)}))
    assert describe_use("csv", many).endswith("1 on '8' and 3 more hosts\n")


def test_what_does_not_fit_is_refused_before_anything_is_solved() -> None:
    """Hardware without cores or stated slots for a rank file, and numbers of ranks without equal shares."""
    check_fit("openmpi", 5, NODES)
    check_fit("openmpi", 5, launch_nodes({}))
    with pytest.raises(InputError, match=r"^emit: expected cores in the hardware"):
        check_fit("openmpi", 5, replace(NODES, slots_given=False))
    with pytest.raises(InputError, match=r"^emit: expected a number of ranks that hosts can share equally"):
        check_fit("torchrun", 5, NODES)
