"""The units of a machine as which tasks may run, and how many cores and ranks they have."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from tiger.errors import InputError
from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.model.wording import describe

UnitName = Literal["core", "l3", "numa", "socket", "gpu", "nic", "host"]
# Parts of a host, innermost first, and the host itself.
PartName = Literal["l3", "numa", "socket", "node"]
RANKS_PER = "ranks_per"
# More cores or ranks than hosts have.
MOST = 1 << 20


@dataclass(frozen=True, kw_only=True)
class UnitOptions:
    """Say as what units of a machine tasks run, and how many of its cores and parts they take."""

    units: UnitName | None = field(
        default=None,
        metadata=about(
            "What of a machine as lstopo describes it a task gets and is bound to, all of a host with `host`, where it "
            "is not bound; a core without it.",
            Spelling(
                "Units of a machine that lstopo describes, as which tasks run; its cores without.", panel="Hardware"
            ),
        ),
    )
    cores_per_rank: int | None = field(
        default=None,
        metadata=about(
            "Cores of each task, for its threads: groups of cores that lie together in each NUMA domain, or in the "
            "socket or the host where that has too few; of hosts with slots alone as many slots.",
            Spelling("Cores for the threads of each rank, near each other.", panel="Hardware", metavar="N"),
            ge=1,
            le=MOST,
        ),
    )
    ranks_per: str | None = field(
        default=None,
        metadata=about(
            "Tasks of each host (`node`) that gets any, and at most of each of its parts: `node=4,socket=2`, also "
            "`numa` and `l3`.",
            Spelling(
                "Ranks of each host that gets any, and of its parts, like node=4,socket=2; also numa and l3.",
                panel="Hardware",
                metavar="PART=N,..",
            ),
        ),
    )


def parse_ranks_per(text: str) -> dict[PartName, int]:
    """Return the ranks of each part that a text such as `node=4,socket=2` states; raise InputError of `ranks_per`."""
    parts: dict[PartName, int] = {}
    for word in text.split(","):
        name, sign, number = (piece.strip() for piece in word.partition("="))
        part = next((known for known in get_args(PartName) if known == name), None)
        if not sign or part is None:
            what = f"expected PART=N,.. with parts out of {', '.join(reversed(get_args(PartName)))}"
            raise InputError(RANKS_PER, f"{what}, got {describe(word)}")
        if part in parts:
            raise InputError(RANKS_PER, f"expected different parts, got {describe(name)} twice")
        if not (number.isascii() and number.isdigit() and len(number) < 8 and 1 <= int(number) <= MOST):
            raise InputError(RANKS_PER, f"expected {part}=N with N from 1 to {MOST}, got {describe(word)}")
        parts[part] = int(number)
    return parts
