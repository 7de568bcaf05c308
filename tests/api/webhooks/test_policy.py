"""Whom the service may tell."""

import pytest

from tiger.api.webhooks.policy import WebhookPolicy, read_allowed_host, read_target

SECRETS = {"alice": ("s" * 24,)}


def make_policy(*hosts: str) -> WebhookPolicy:
    """Return a policy that allows hosts."""
    return WebhookPolicy(hosts=tuple(map(read_allowed_host, hosts)), secrets_of=lambda owner: SECRETS.get(owner, ()))


GOOD = (
    *("https://hooks.example/", "https://HOOKS.example:443/a?b", "https://a.b.example/", "https://other.example:8443/"),
)
BAD = (
    *(
        "https://b.example/",
        "https://hooks.example:8443/",
        "https://other.example/",
        "https://hooks.example.evil.test/",
    ),
    *("https://evilb.example/", "https://hooks.example./", "http://hooks.example/", "https://hooks%2eexample/"),
    *("https://hooks.example@evil.test/", "https://evil.test\\.b.example/", "https://evil.test#.b.example/"),
    *("https://evil.test/.b.example", "https://evil.test?.b.example", "https://"),
)


def test_hosts_are_allowed_by_name_and_port() -> None:
    """Exactly, or as names below another; how an address is written leads nowhere else."""
    policy = make_policy("hooks.example", "*.b.example", "other.example:8443")
    assert [url for url in (*GOOD, *BAD) if policy.find_fault(url, "alice") is None] == list(GOOD)


def test_nothing_is_allowed_by_default() -> None:
    """Nor for an owner who has no secret."""
    assert "TIGER_WEBHOOK_HOSTS" in str(WebhookPolicy().find_fault("https://hooks.example/", "alice"))
    assert "webhook_secrets" in str(make_policy("hooks.example").find_fault("https://hooks.example/", "bob"))


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "1.0x"),
        *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "a..b", "-a.b", "a b", "*", "a.*.b", "a:0", "a:65536", ""),
    ],
)
def test_addresses_in_any_notation_are_no_hosts(host: str) -> None:
    """Neither an operator's nor a request's, so that readers of addresses cannot differ over them."""
    with pytest.raises(ValueError, match="expected hosts such as"):
        read_allowed_host(host)
    if ":" not in host.strip("]")[-6:]:
        assert read_target(f"https://{host}/") is None


def test_a_target_has_the_query() -> None:
    """And a slash without a path."""
    found = [read_target(url) for url in ("https://a.example?b=%20", "https://a.example:8443/c/")]
    assert [(each.host, each.port, each.path) for each in found if each] == [
        ("a.example", 443, "/?b=%20"),
        ("a.example", 8443, "/c/"),
    ]
