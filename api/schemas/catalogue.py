"""What the service lists: solvers, topologies, and that it answers."""

from typing import Literal

from pydantic import BaseModel


class SolverBody(BaseModel):
    """Describe a solver."""

    name: str
    kind: Literal["portfolio", "search", "sampler"]
    description: str


class SolversBody(BaseModel):
    """List the solvers."""

    solvers: list[SolverBody]


class TopologyBody(BaseModel):
    """Describe a kind of topology and the syntax of its specification."""

    name: str
    syntax: str
    description: str
    example: str


class TopologiesBody(BaseModel):
    """List the kinds of topology."""

    topologies: list[TopologyBody]


class HealthBody(BaseModel):
    """Say that the server answers."""

    status: Literal["ok"] = "ok"
