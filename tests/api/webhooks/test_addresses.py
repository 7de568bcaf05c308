"""Addresses that a name may stand for, and those that it may not."""

import asyncio
import threading
from ipaddress import ip_network

import pytest

from tiger.api.webhooks.addresses import ForbiddenAddressError, UnsentError, is_allowed, resolve

FORBIDDEN = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "192.0.0.9", "192.0.2.1", "192.88.99.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "2606:4700::1%1", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "100::1"),
    *("2001:db8::1", "3fff::1", "2001::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::"),
    *("2002:a00:1::1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::808:808", "5f00::1", "4000::1"),
    *("2130706433", "0x7f.1", "127.1", "0177.0.0.1", "localhost", ""),
]
GLOBAL = ("8.8.8.8", "192.0.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1")


@pytest.mark.parametrize("address", FORBIDDEN)
def test_an_address_inside_is_forbidden(address: str) -> None:
    """Also where it is inside another one."""
    assert not is_allowed(address, ())


@pytest.mark.parametrize("address", GLOBAL)
def test_a_global_address_is_allowed(address: str) -> None:
    """Also where it is inside another one."""
    assert is_allowed(address, ())


def test_networks_of_the_operator_are_allowed() -> None:
    """And no others."""
    networks = (ip_network("10.1.0.0/16"), ip_network("fd00:1::/32"))
    allowed = ("10.1.2.3", "fd00:1::5", "::ffff:10.1.2.3", "8.8.8.8")
    assert [is_allowed(address, networks) for address in (*allowed, "10.2.0.1", "fd00:2::5")] == [True] * 4 + [
        False
    ] * 2


@pytest.mark.parametrize("found", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["2606:4700::1", "fe80::1"]])
def test_one_forbidden_address_is_enough(found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As it could be the one that is connected to."""
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", (address, 443)) for address in found])
    with pytest.raises(ForbiddenAddressError):
        asyncio.run(resolve("hooks.example", 443, ()))


def test_lookups_that_hang_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """They cannot be stopped, and go on when nobody waits for them any longer."""
    over = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: over.wait() and [])
    monkeypatch.setattr("tiger.api.webhooks.addresses._free_lookups", threading.BoundedSemaphore(1))

    async def ask_twice() -> None:
        hanging = asyncio.ensure_future(resolve("hooks.example", 443, ()))
        await asyncio.sleep(0)
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)
        try:
            with pytest.raises(UnsentError, match="too many names"):
                await resolve("hooks.example", 443, ())
        finally:
            over.set()

    asyncio.run(ask_twice())
    for thread in threading.enumerate():
        if thread.name == "tiger-lookup":
            thread.join()


def test_a_name_without_an_address_is_not_sent_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of the resolver is a sentence."""

    def fail(*_: object, **__: object) -> None:
        raise OSError("no such name")

    monkeypatch.setattr("socket.getaddrinfo", fail)
    with pytest.raises(UnsentError, match="no address"):
        asyncio.run(resolve("hooks.example", 443, ()))
