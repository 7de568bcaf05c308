"""What an operator sets through the environment."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from tiger.api.accounts import Accounts, read_accounts
from tiger.api.middleware import keys, rates
from tiger.api.webhooks.policy import WebhookPolicy, read_allowed_host, read_network
from tiger.errors import InputError
from tiger.run.parallel import executors

PREFIX = "TIGER_"
STORES = re.compile(r"sqlite:///(?!:memory:).+|(postgres|postgresql|postgresql\+psycopg)://.+")
SECRET = frozenset(("api_keys", "keys_file", "database_url"))
MASK = "***"


def _split(value: object) -> object:
    """Return the parts of a comma-separated text."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _parse_keys(value: object) -> object:
    """Return the keys that a text states."""
    return keys.parse(value) if isinstance(value, str) else value


def _read_keys_file(value: object) -> object:
    """Return the accounts of the file at a path, none for a blank one."""
    if not isinstance(value, str):
        return value
    return read_accounts(_expand(Path(value))) if value.strip() else Accounts()


def _expand(path: Path) -> Path:
    """Return an absolute path; raise ValueError where it begins with the folder of a user whom there is not."""
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise ValueError(f"expected a path, or ~USER of a user that there is, got {str(path)!r}") from None


def _empty_to_none(value: object) -> object:
    """Return nothing for an empty text, as a variable is unset where files of variables cannot leave it out."""
    return None if isinstance(value, str) and not value.strip() else value


def _data_home() -> Path:
    """Return where a user's data is kept, as the XDG base directory specification says."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share") / "tiger"


Text = Annotated[str | None, BeforeValidator(_empty_to_none)]
Texts = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]


class Settings(BaseSettings):
    """Hold what an operator may set, each read from the variable `TIGER_` + its name in capitals.

    `data_dir` is where the service keeps its files, and `database_url` its jobs: SQLite in there unless set. With
    `api_keys`, or with those of the accounts in `keys_file`, every request needs one; without, the server listens on
    loopback alone. `max_upload_bytes` bound a file that is uploaded, and the other `max_*` a request: tasks
    (also layers, and devices to place them on), edges of any graph, qubits of a circuit and of its device, gates,
    couplers of a device. `max_time_s` (seconds) bounds a solve, `max_wait_s` how long a request may wait for a job.
    `workers` is how many solves run side by side, `max_memory_bytes` what one worker may hold, and `executor` a Dask
    cluster whose workers share in large solves. `max_jobs` may wait at once; ended ones are kept for `retention_days`,
    and so are `max_rebalancers` at most after their last step.
    `rate`, such as `600/minute`, and `max_concurrent` bound the requests of one key, or of one address without keys.
    With `audit_reads` the audit has requests, too, that change nothing.
    `trusted_proxies` are the addresses that may state the client's address, and `cors_origins` the origins
    whose pages may ask. `webhook_hosts` may be told of the end of jobs, at addresses that are global or in
    `webhook_networks`. `enable_dwave` lets requests name D-Wave's solvers, at the cost of the operator's account.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True)

    data_dir: Path = Field(default_factory=_data_home)
    database_url: Text = Field(default=None, repr=False)
    api_keys: Annotated[tuple[keys.Key, ...], NoDecode, BeforeValidator(_parse_keys)] = Field(default=(), repr=False)
    keys_file: Annotated[Accounts, NoDecode, BeforeValidator(_read_keys_file)] = Accounts()
    max_body_bytes: int = Field(default=4_194_304, ge=1)
    max_upload_bytes: int = Field(default=67_108_864, ge=1, le=1_000_000_000)
    max_tasks: int = Field(default=4096, ge=1)
    max_edges: int = Field(default=200_000, ge=1)
    max_qubits: int = Field(default=1200, ge=1)
    max_gates: int = Field(default=250_000, ge=1)
    max_couplers: int = Field(default=100_000, ge=1)
    max_time_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    max_wait_s: float = Field(default=60.0, ge=0, le=3600)
    max_memory_bytes: int = Field(default=4_294_967_296, ge=2_147_483_648)
    workers: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    executor: Text = None
    max_jobs: int = Field(default=1000, ge=1)
    max_rebalancers: int = Field(default=1000, ge=1)
    retention_days: float = Field(default=7.0, gt=0, allow_inf_nan=False)
    rate: Text = None
    max_concurrent: Annotated[int | None, BeforeValidator(_empty_to_none)] = Field(default=None, ge=1)
    trusted_proxies: Texts = ()
    cors_origins: Texts = ()
    audit_reads: bool = False
    webhook_hosts: Texts = ()
    webhook_networks: Texts = ()
    enable_dwave: bool = False

    @field_validator("data_dir")
    @classmethod
    def _check_folder(cls, value: Path) -> Path:
        """Return an absolute path at which no file stands."""
        found = _expand(value)
        # Not `exists` of the path, which raises where a folder above may not be looked into.
        if os.path.exists(found) and not found.is_dir():  # noqa: PTH110 (Path raises in 3.11)
            raise ValueError(f"expected a folder, got the file {str(value)!r}")
        return found

    @field_validator("database_url")
    @classmethod
    def _check_store(cls, value: str | None) -> str | None:
        """Refuse other databases, without showing the password that may stand in the URL."""
        if value is not None and not STORES.fullmatch(value):
            raise ValueError("expected sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME, got another URL")
        return value

    @field_validator("executor")
    @classmethod
    def _check_executor(cls, value: str | None) -> str | None:
        """Refuse what names no Dask scheduler."""
        try:
            executors.check(value)
        except InputError as error:
            raise ValueError(error.reason) from None
        return value

    @field_validator("rate")
    @classmethod
    def _check_rate(cls, value: str | None) -> str | None:
        """Refuse what is not a number of requests in a time."""
        if value is not None:
            rates.parse(value)
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _check_proxies(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse names, which nothing would match, and `*`, by which anyone could state any address."""
        for proxy in value:
            read_network(proxy)
        return value

    @field_validator("webhook_hosts")
    @classmethod
    def _check_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what is no name of a host with at most a port."""
        for host in value:
            read_allowed_host(host)
        return value

    @field_validator("webhook_networks")
    @classmethod
    def _check_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what is no network."""
        for network in value:
            read_network(network)
        return value

    @field_validator("cors_origins")
    @classmethod
    def _check_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what a browser never names as an origin; `*` would be any page at all."""
        for origin in value:
            parts = urlsplit(origin)
            if (
                parts.scheme not in ("http", "https")
                or not parts.netloc
                or origin != f"{parts.scheme}://{parts.netloc}"
            ):
                raise ValueError(f"expected origins such as https://tiger.example, got {origin!r}")
        return value

    @model_validator(mode="after")
    def _check_owners(self) -> Self:
        """Refuse a key of an account that is among the others, too, and a file of accounts where nobody has a key."""
        if {key.digest for key in self.api_keys} & {key.digest for key in self.keys_file.keys}:
            raise ValueError("expected every key once, got one of TIGER_API_KEYS in TIGER_KEYS_FILE, too")
        # Who names such a file does not expect a service that anybody may use.
        if self.keys_file.path is not None and not self.keys:
            raise ValueError("expected an account, or a key in TIGER_API_KEYS, got neither")
        return self

    @property
    def keys(self) -> tuple[keys.Key, ...]:
        """Return all keys, those of accounts and others."""
        return (*self.api_keys, *self.keys_file.keys)

    @property
    def webhooks(self) -> WebhookPolicy:
        """Return whom the service may tell of the end of jobs."""
        return WebhookPolicy(
            hosts=tuple(map(read_allowed_host, self.webhook_hosts)),
            networks=tuple(map(read_network, self.webhook_networks)),
            secrets_of=self.keys_file.secrets_of,
        )

    @property
    def store_url(self) -> str:
        """Return the URL of the database: the one set, else that of a SQLite file in the data folder."""
        return self.database_url or f"sqlite:///{self.data_dir / 'tiger.sqlite'}"


def load() -> Settings:
    """Read the settings from the environment; raise InputError that names the variable at fault."""
    try:
        return Settings()
    except ValidationError as error:
        raise _fault(error.errors(include_url=False)[0]) from None


def rows(settings: Settings) -> list[tuple[str, str, str]]:
    """Return variable, value and origin of every setting, with secrets masked."""
    shown: Mapping[str, str] = {
        "api_keys": ", ".join(f"{MASK} ({key.owner})" for key in settings.api_keys) or "none",
        "keys_file": _describe(settings.keys_file),
        "database_url": _mask(settings.store_url),
    }
    found = []
    for name in type(settings).model_fields:
        origin = "environment" if name in settings.model_fields_set else "default"
        found.append((_variable(name), shown.get(name) or _write(getattr(settings, name)), origin))
    return found


def _describe(accounts: Accounts) -> str:
    """Return where accounts are stated and what they are called."""
    names = ", ".join(account.name for account in accounts.accounts)
    return "none" if accounts.path is None else f"{accounts.path} ({names or 'no accounts'})"


def _fault(details: ErrorDetails) -> InputError:
    """Return the error of a variable; the value of one that may be secret is not shown."""
    # What two variables state together is told of the file.
    name = str(details["loc"][0]) if details["loc"] else "keys_file"
    reason = details["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    complete = details["type"] == "value_error" or name in SECRET
    return InputError(_variable(name), reason if complete else f"{reason}, got {details['input']!r}")


def _variable(name: str) -> str:
    """Return the variable of a setting."""
    return f"{PREFIX}{name.upper()}"


def _write(value: object) -> str:
    """Return a value as an operator would write it."""
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    if isinstance(value, float):
        return f"{value:g}"
    return {"None": "none", "True": "true", "False": "false"}.get(str(value), str(value))


def _mask(url: str) -> str:
    """Return a URL without its password and without its query, where another may stand."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    user = parts.username or ""
    who = f"{user}:{MASK}@" if parts.password else f"{user}@" if user else ""
    query = f"?{MASK}" if parts.query else ""
    return f"{parts.scheme}://{who}{host}{parts.path}{query}"
