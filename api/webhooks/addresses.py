"""The addresses that the name of a host stands for, all of which have to be outside."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from threading import BoundedSemaphore, Thread

from tiger.api.webhooks.policy import Network

# What newer versions of Python do not call global: addresses of protocols, and relays of 6to4.
NOT_GLOBAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
# Of IPv6 these are given to networks of the world; the others are inside, or not given to anybody.
GLOBAL, TRANSLATED = IPv6Network("2000::/3"), IPv6Network("64:ff9b::/96")
# In there: addresses of protocols (Teredo among them), of documents, and of documents again.
INSIDE = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
# Look-ups under way, those that nobody waits for any longer included.
LOOKUPS = 32
_free_lookups = BoundedSemaphore(LOOKUPS)


class UnsentError(Exception):
    """Say in a sentence why a request was not sent, or not answered."""


class ForbiddenAddressError(UnsentError):
    """Say that a host has an address that may not be connected to."""


async def resolve(host: str, port: int, networks: Sequence[Network]) -> list[str]:
    """Return the addresses of a host, each of which is global or in one of the networks.

    Raises ForbiddenAddressError where any is not, and UnsentError where there are none.
    """
    found = list(dict.fromkeys(await _look_up(host, port)))
    if not all(is_allowed(address, networks) for address in found):
        raise ForbiddenAddressError("the host has an address that is not global")
    return found


def is_allowed(text: str, networks: Sequence[Network]) -> bool:
    """Return whether an address may be connected to: it is global or in a network, and so is any that is inside it."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    inner = _unwrap(address)
    if inner is not None:
        return is_allowed(str(inner), networks)
    return any(address in network for network in networks) or _is_global(address)


def _unwrap(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    """Return the address of IPv4 that one of IPv6 leads to: mapped, by 6to4, or translated (NAT64)."""
    if isinstance(address, IPv4Address):
        return None
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is of one host anywhere in the world."""
    if isinstance(address, IPv4Address):
        outside = not (address.is_multicast or address.is_reserved or any(address in part for part in NOT_GLOBAL))
    else:
        outside = address in GLOBAL and not any(address in part for part in INSIDE)
    return outside and address.is_global


async def _look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name, asked for once; raise UnsentError where it has none."""
    if not _free_lookups.acquire(blocking=False):
        raise UnsentError("too many names are being looked up")
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def give(found: list[str]) -> None:
        if not answer.done():
            answer.set_result(found)

    def ask() -> None:
        try:
            found = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        except (OSError, UnicodeError):
            found = []
        finally:
            _free_lookups.release()
        # The server may have ended meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(give, found)

    # It may take half a minute, cannot be stopped, and must not keep the process from ending.
    Thread(target=ask, name="tiger-lookup", daemon=True).start()
    found = await answer
    if not found:
        raise UnsentError("the host has no address")
    return found
