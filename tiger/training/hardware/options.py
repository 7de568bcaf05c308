"""The options that say what is inside the hosts of a network, as whose cluster it is taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from tiger.errors import InputError
from tiger.model.arguments import LABELS, parse_insides
from tiger.model.spelling import spelled


def parse_bandwidths(text: str) -> dict[str, float | str]:
    """Return the bandwidths of `--bandwidths` by level, those with a unit as they are."""
    from tiger.model.text import is_number  # so that help does not wait for arrays

    bandwidths: dict[str, float | str] = {}
    for part in text.split(","):
        name, sign, amount = (word.strip() for word in part.rpartition("="))
        if not (name and sign and amount):
            raise InputError("bandwidths", f"expected LEVEL=X,.. such as node=50GB/s,rack=200Gb/s, got {text!r}")
        if name in bandwidths:
            raise InputError("bandwidths", f"expected different levels, got {name!r} twice")
        bandwidths[name] = float(amount) if is_number(amount) else amount
    return bandwidths


@dataclass(frozen=True, eq=False)
class HostArguments:
    """Say what is inside the hosts of a network, and what the network does not state.

    `node_topology` is a file, a SPEC such as `dgx:1`, or either by lists of hosts such as `n[0-3]`. `bandwidths` are
    bytes per second, or text such as `50GB/s`, by level of the network; `labels` make levels of nodes of Kubernetes.
    """

    node_topology: Mapping[str, Path | str] | Path | str | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "What is inside all hosts of a network, like dgx:1, or, repeated, inside those listed, like n[0-3]=a.topo.",
            metavar="SPEC|FILE|HOSTS=FILE",
            gather=parse_insides,
            panel="Hardware",
        ),
    )
    bandwidths: Mapping[str, float | str] | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "What a device sends between hosts, by level of the network, like node=50GB/s,rack=200Gb/s; a "
            "level that is not named carries as much as the one inside it.",
            metavar="LEVEL=X,..",
            parse=parse_bandwidths,
            panel="Hardware",
        ),
    )
    labels: Sequence[str] | None = field(
        default=None,
        kw_only=True,
        metadata=LABELS,
    )

    @property
    def given(self) -> tuple[str, ...]:
        """Return the names of the arguments that are given."""
        return tuple(each.name for each in fields(HostArguments) if getattr(self, each.name) is not None)

    def check_absent(self, cluster: str) -> None:
        """Raise InputError of an argument that is given beside a cluster that is no file of a network."""
        if self.given:
            raise InputError(self.given[0], f"expected a file of a network as cluster beside it, got {cluster}")
