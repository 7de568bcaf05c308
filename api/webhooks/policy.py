"""Whom the service may tell of the end of a job: the hosts that its operator allows, for owners who have a secret."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import urlsplit

# The port of https, and the last one that there is.
HTTPS = 443
MOST_PORTS = 65_535
LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"(?=.{{1,253}}\Z){LABEL}(?:\.{LABEL})*")
# What ends in a number is an address to many readers, in whatever notation: 127.1, 0x7f000001, 017700000001.
NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
ALLOWED = re.compile(r"(?P<below>\*\.)?(?P<name>[^:]+)(?::(?P<port>[0-9]{1,5}))?")
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTarget:
    """Hold where a request goes: a host by its name, a port, and the path with the query."""

    host: str
    port: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedHost:
    """Hold a name that may be told at a port, or with `below` all names that end in a dot and this one."""

    name: str
    below: bool
    port: int = HTTPS

    def covers(self, target: WebhookTarget) -> bool:
        """Return whether a target is allowed by this."""
        same = target.host.endswith(f".{self.name}") if self.below else target.host == self.name
        return same and target.port == self.port


def read_allowed_host(text: str) -> AllowedHost:
    """Return the host that an operator allows; raise ValueError for what is no name with at most a port."""
    match = ALLOWED.fullmatch(text.lower())
    port = int((match and match["port"]) or HTTPS)
    if match is None or not is_name(match["name"]) or not 0 < port <= MOST_PORTS:
        raise ValueError(f"expected hosts such as hooks.example.org, *.example.org or HOST:8443, got {text!r}")
    return AllowedHost(name=match["name"], below=match["below"] is not None, port=port)


def read_network(text: str) -> Network:
    """Return a network of addresses; raise ValueError for what is none."""
    try:
        return ip_network(text)
    except ValueError:
        raise ValueError(f"expected addresses or networks such as 10.0.0.0/8, got {text!r}") from None


def is_name(host: str) -> bool:
    """Return whether a host in lower case is a name of DNS, and no address in any notation."""
    return NAME.fullmatch(host) is not None and NUMBER.fullmatch(host) is None


def read_target(url: str) -> WebhookTarget | None:
    """Return where a URL by https leads, None where that is no name with at most a port."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme != "https" or parts.username is not None or port == 0 or not is_name(host):
        return None
    return WebhookTarget(
        host=host, port=port or HTTPS, path=(parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    )


def _has_no_secrets(_: str) -> tuple[str, ...]:
    """Return the secrets of nobody."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPolicy:
    """Say whom to tell: `hosts` that are allowed, none by default, at global addresses or in `networks`.

    `secrets_of` returns the secrets of an owner, the newest first; what nobody could verify is not sent.
    """

    hosts: tuple[AllowedHost, ...] = ()
    networks: tuple[Network, ...] = ()
    secrets_of: Callable[[str], tuple[str, ...]] = _has_no_secrets

    def find_fault(self, url: str, owner: str) -> str | None:
        """Return why an address may not be told of the jobs of an owner, None where it may."""
        if not self.hosts:
            return "expected none, as webhooks are off here; the operator can allow hosts with TIGER_WEBHOOK_HOSTS"
        target = read_target(url)
        if target is None:
            return "expected a host by its name, such as https://hooks.example/tiger"
        if not any(host.covers(target) for host in self.hosts):
            return "expected a host and a port that the operator allows (TIGER_WEBHOOK_HOSTS), got another"
        if not self.secrets_of(owner):
            return "expected an account with webhook_secrets, without which nothing could be signed, got one without"
        return None


WEBHOOKS_OFF = WebhookPolicy()
