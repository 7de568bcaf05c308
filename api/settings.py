"""What an operator sets through the environment."""

import os

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from tiger.errors import InputError


class Settings(BaseSettings):
    """Hold the limits of the service, each read from the variable `TIGER_` + its name in capitals.

    `max_body_bytes`, `max_tasks` (also layers, and devices to place them on) and `max_qubits` (of a circuit, and of its
    device) bound a request, `max_time_s` (seconds) bounds a solve, `workers` is how many solves run side by side.
    `enable_dwave` lets requests name D-Wave's solvers, at the cost of the operator's account.
    """

    model_config = SettingsConfigDict(env_prefix="TIGER_", frozen=True)

    max_body_bytes: int = Field(default=4_194_304, ge=1)
    max_tasks: int = Field(default=4096, ge=1)
    max_qubits: int = Field(default=1200, ge=1)
    max_time_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    workers: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1)
    enable_dwave: bool = False


def load() -> Settings:
    """Read the settings from the environment; raise InputError that names the variable at fault."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = f"TIGER_{str(first['loc'][0]).upper()}"
        raise InputError(
            name, f"{first['msg'].replace('Input should be', 'expected')}, got {first['input']!r}"
        ) from None
