"""Hosts that share ranks equally."""

import pytest

from tests.launchers.orders import SWAPPED, launch_nodes
from tiger.errors import InputError
from tiger.launchers.order import order_ranks
from tiger.launchers.shares import check_equal, check_shares


def test_shares_have_to_be_equal() -> None:
    """The launcher and the hosts at fault are named."""
    with pytest.raises(InputError, match=r"^emit: .* for Cray MPICH, got 2 on 'n0' and 1 on 'n2'; 1 slots are free$"):
        check_equal(SWAPPED, "Cray MPICH")


def test_some_hosts_have_to_be_able_to_share() -> None:
    """Six ranks fit on two hosts of three slots, seven do not; more ranks than slots are a matter of the problem."""
    order = order_ranks({"0": "a"}, launch_nodes({"a": 3, "b": 1, "c": 3}))
    check_shares(6, order, "torchrun")
    check_shares(9, order, "torchrun")
    with pytest.raises(
        InputError, match=r"^emit: .* share equally .*, got 5 on 3 hosts of up to 3 slots; 2 slots are free$"
    ):
        check_shares(5, order, "torchrun")
