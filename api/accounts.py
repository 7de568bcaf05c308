"""Who may ask: the accounts of a file of keys, with what each may use and the secrets that sign its webhooks.

[defaults]                      # quotas of accounts that state none, and of keys of TIGER_API_KEYS
queued_jobs = 200
[accounts.alice]
keys = ["a-long-random-key", "the-next-one"]        # both are hers, so that one can be changed
webhook_secrets = ["whsec-new-and-long", "whsec-old-and-long"]
running_jobs = 4
processor_s_per_day = 36000
kept_bytes = 1_000_000_000
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import cast

from tiger.api.middleware import keys
from tiger.api.middleware.audit import SERVICE
from tiger.api.middleware.keys import Key
from tiger.api.seams.quota import NO_QUOTAS, Quotas
from tiger.model.http import read_secret

# What names an account in logs and answers; keys without one are named by digits of their digests.
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
# What is shown of an entry that is not known: one that was misspelt.
ENTRY = re.compile(r"[a-z_]{1,32}")
# No quota is as much.
MOST = 2**63
# Characters of a secret, or bytes of one in base64: 24 random ones are enough for HMAC-SHA256.
SHORTEST_SECRET = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    """Hold who asks: a name, its keys, what it may use, and the secrets of its webhooks, the newest first."""

    name: str
    keys: tuple[Key, ...]
    quotas: Quotas
    webhook_secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Hold the accounts of a file, and the quotas of all others."""

    path: Path | None = None
    accounts: tuple[ServiceAccount, ...] = ()
    defaults: Quotas = NO_QUOTAS

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return the keys of all accounts."""
        return tuple(key for account in self.accounts for key in account.keys)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the secrets of the webhooks of all accounts."""
        return tuple(secret for account in self.accounts for secret in account.webhook_secrets)

    def quotas_of(self, owner: str) -> Quotas:
        """Return what an owner may use."""
        return next((account.quotas for account in self.accounts if account.name == owner), self.defaults)

    def secrets_of(self, owner: str) -> tuple[str, ...]:
        """Return the secrets that sign the webhooks of an owner, the newest first; none where no file has them."""
        return next((account.webhook_secrets for account in self.accounts if account.name == owner), ())


def read_accounts(path: Path) -> Accounts:
    """Read a file of accounts in TOML; raise ValueError that names the entry at fault, and shows no key or secret."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"expected a file that can be read, got {str(path)!r}: {type(error).__name__}") from None
    except (tomllib.TOMLDecodeError, RecursionError):
        # Its message may show a line with a key.
        raise ValueError(f"expected TOML in {str(path)!r}") from None
    _refuse_unknown(document, {"defaults", "accounts"}, "the file")
    defaults = _read_quotas(_expect_table(document.get("defaults", {}), "defaults"), "defaults", Quotas(), ())
    stated = _expect_table(document.get("accounts", {}), "accounts")
    accounts = tuple(_read_account(name, table, defaults) for name, table in stated.items())
    found = Accounts(path=path, accounts=accounts, defaults=defaults)
    if len({key.digest for key in found.keys}) < len(found.keys):
        raise ValueError("expected every key once in all accounts, got one again")
    return found


def _read_account(name: str, stated: object, defaults: Quotas) -> ServiceAccount:
    """Return an account of the file."""
    if not NAME.fullmatch(name):
        # Not the name, which may be a key that was put in its place.
        raise ValueError("accounts: expected names of up to 64 letters, digits, '.', '_' and '-' in lower case")
    if name == SERVICE:
        raise ValueError(f"accounts: expected another name than {name!r}, which is that of the service in the audit")
    where = f"accounts.{name}"
    table = _expect_table(stated, where)
    quotas = _read_quotas(table, where, defaults, ("keys", "webhook_secrets"))
    texts = list(_read_texts(table, where, "keys"))
    if not texts:
        raise ValueError(f"{where}.keys: expected one key or more")
    try:
        digests = keys.read_keys(texts, name)
    except ValueError as error:
        raise ValueError(f"{where}.keys: {error}") from None
    secrets = tuple(_read_texts(table, where, "webhook_secrets"))
    try:
        if any(len(read_secret(secret)) < SHORTEST_SECRET for secret in secrets):
            raise ValueError(f"expected secrets of at least {SHORTEST_SECRET} characters, or bytes in base64")
    except ValueError as error:
        raise ValueError(f"{where}.webhook_secrets: {error}") from None
    return ServiceAccount(name=name, keys=digests, quotas=quotas, webhook_secrets=secrets)


def _read_quotas(table: dict[str, object], where: str, defaults: Quotas, others: tuple[str, ...]) -> Quotas:
    """Return the quotas that a table states, and the others by default."""
    names = {entry.name for entry in fields(Quotas)}
    _refuse_unknown(table, names.union(others), where)
    found = {name: getattr(defaults, name) for name in names}
    for name in names & table.keys():
        value = table[name]
        whole = name != "processor_s_per_day"
        number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not (number and 0 < cast(float, value) < MOST):
            raise ValueError(f"{where}.{name}: expected a{' whole' * whole} number above 0 and below 2**63")
        found[name] = value
    return Quotas(**found)


def _read_texts(table: dict[str, object], where: str, name: str) -> Iterator[str]:
    """Yield the texts of a list of a table."""
    stated = table.get(name, [])
    if not isinstance(stated, list):
        raise ValueError(f"{where}.{name}: expected a list of texts")
    for text in stated:
        if not isinstance(text, str):
            raise ValueError(f"{where}.{name}: expected a list of texts")
        yield text


def _expect_table(stated: object, where: str) -> dict[str, object]:
    """Return a table of the file."""
    if not isinstance(stated, dict):
        raise ValueError(f"{where}: expected a table")
    return cast(dict[str, object], stated)


def _refuse_unknown(table: dict[str, object], known: set[str], where: str) -> None:
    """Raise ValueError for an entry that means nothing."""
    for name in table:
        if name not in known:
            # A random key has digits or capitals.
            found = repr(name) if ENTRY.fullmatch(name) else "what may be a key"
            raise ValueError(f"{where}: expected {', '.join(sorted(known))}, got {found}")
