"""The options of a placement of experts."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.run.options import EFFORT, SEED, TIME_LIMIT

Kind = Literal["trace", "loads"]
# As many tokens to each replica of an expert, or so that devices are even.
Sharing = Literal["equal", "balanced"]
# Prices of a million years or exabytes are mistakes, and their sums would not be finite.
PRICE_LIMIT = 1e18


def parse_bytes(name: str, text: str) -> float:
    """Return the bytes of an option, a number or one with a unit; raise InputError of its name."""
    from tiger.model.text import is_number  # so that help does not wait for arrays
    from tiger.training.models.limits import check_cost

    return float(text) if is_number(text) else check_cost(name, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertOptions:
    """Set how many experts a layer has, what a step pays for, and how hard to search.

    `token_s` prices the largest loads and `token_bytes` transitions, in seconds of a step; a trace without either
    counts hops, loads alone without it count tokens. A replica takes `expert_bytes` of the memory of its device, beside
    `reserved_bytes`, and a move of the map in use sends them, over `steps`; `slots_by` shares out slots. `sharing` says
    how replicas share tokens, and `decay` how batches count. `effort` counts iterations; same seed and effort, same
    answer. `time_limit_s` only ends a search early.
    """

    experts: int | None = field(
        default=None,
        metadata=about(
            "Experts of a layer; loads state them themselves.",
            Spelling(metavar="E"),
            expected="the number of experts of a layer",
            ge=1,
            most=math.inf,
        ),
    )
    kind: Kind = field(
        default="trace",
        metadata=about("What the input is: choices of tokens, or loads of experts.", Spelling("What the input is.")),
    )
    held_out: float = field(
        default=0.1,
        metadata=about(
            "Share of the tokens, the last ones, on which the placement is tested alone.",
            Spelling("Share of the tokens that only test a placement.", metavar="X"),
            expected="a share from 0 to below 1",
            ge=0,
            lt=1,
        ),
    )
    replicas: int = field(
        default=0, metadata=about("Slots of a layer beyond one an expert, on all devices.", Spelling(metavar="R"), ge=0)
    )
    duplicates: int = field(
        default=1, metadata=about("Most replicas of an expert on one device.", Spelling(metavar="N"), ge=1)
    )
    sharing: Sharing = field(
        default="equal",
        metadata=about(
            "How the tokens of an expert are shared among its replicas: as many to each (`equal`), or so that devices "
            "are even, solved for each batch (`balanced`), as LPLB does. A balanced map is made for batches to come.",
            Spelling("As many tokens to each replica, or so that devices are even in each batch."),
        ),
    )
    decay: float = field(
        default=1.0,
        metadata=about(
            "How much a batch of loads counts beside the next one, which is newer.",
            Spelling("How much a batch of loads counts beside the next, newer one.", metavar="X"),
            expected="a number above 0 and up to 1",
            gt=0,
            le=1,
        ),
    )
    groups: int | None = field(
        default=None,
        metadata=about("Groups of experts in order, each of which stays on one machine.", Spelling(metavar="N"), ge=1),
    )
    token_s: float | None = field(
        default=None,
        metadata=about("Seconds that an expert takes for a token.", Spelling(metavar="S"), gt=0, le=PRICE_LIMIT),
    )
    token_bytes: float | None = field(
        default=None,
        metadata=about("Bytes of a token that goes to another device.", Spelling(metavar="B"), gt=0, le=PRICE_LIMIT),
    )
    step_tokens: float | None = field(
        default=None,
        metadata=about("Tokens of a step, by default those of the trace.", Spelling(metavar="N"), gt=0, le=PRICE_LIMIT),
    )
    expert_bytes: float | None = field(
        default=None,
        metadata=about(
            "Bytes of an expert: what a replica takes of its device's memory, and what is sent where one moves.",
            Spelling(
                "Bytes of an expert, in memory and where it moves, like 350MB.",
                metavar="B",
                parse=partial(parse_bytes, "expert_bytes"),
            ),
            ge=0,
            le=PRICE_LIMIT,
        ),
    )
    reserved_bytes: float = field(
        default=0.0,
        metadata=about(
            "Bytes of the memory of every device that are not for experts.",
            Spelling(
                "Memory of every device that is not for experts, like 20GB.",
                metavar="B",
                parse=partial(parse_bytes, "reserved_bytes"),
            ),
            ge=0,
            le=PRICE_LIMIT,
        ),
    )
    slots_by: Literal["device", "speed"] = field(
        default="device",
        metadata=about(
            "Slots of every device: as many as of others (`device`), or in proportion to its speed.",
            Spelling("As many slots on each device, or in proportion to its speed."),
        ),
    )
    steps: int = field(
        default=1000, metadata=about("Steps that loads are expected to stay as they are.", Spelling(metavar="N"), ge=1)
    )
    most_moves: int | None = field(default=None, metadata=about("Most experts that move.", Spelling(metavar="N"), ge=0))
    threshold: float = field(
        default=0.02,
        metadata=about(
            "The least part of a step that a change of the map in use has to save.",
            Spelling("The least part of a step that a change of the map has to save.", metavar="SHARE"),
            ge=0,
            most=PRICE_LIMIT,
        ),
    )
    seed: int = field(default=0, metadata=SEED)
    effort: int = field(default=1, metadata=EFFORT)
    time_limit_s: float | None = field(default=None, metadata=TIME_LIMIT)


def check_options(options: ExpertOptions) -> ExpertOptions:
    """Return options whose values can be used with some input, or raise InputError that names one, or TypeError."""
    check_values(options)
    if options.experts is None and options.kind == "trace":
        raise InputError("experts", "expected the number of experts of a layer, got none")
    _check_pairs(options)
    return options


def _check_pairs(options: ExpertOptions) -> None:
    """Raise InputError for a price that has no meaning without another option."""
    if options.kind == "trace" and options.decay != 1:
        raise InputError("decay", "expected loads beside it, got a trace")
    if options.sharing == "balanced" and (options.token_bytes is not None or _counts_hops(options)):
        raise InputError("sharing", "expected loads, or a trace with token_s and without token_bytes, beside balanced")
    if options.kind == "loads":
        for name in ("token_bytes", "step_tokens"):
            if getattr(options, name) is not None:
                raise InputError(name, "expected a trace beside it, got loads alone")
    if options.reserved_bytes and options.expert_bytes is None:
        raise InputError("reserved_bytes", "expected expert_bytes beside it, got none")
    if options.slots_by == "speed" and options.groups is not None:
        raise InputError("slots_by", "expected no groups beside it, which need as many slots on every device")


def _counts_hops(options: ExpertOptions) -> bool:
    """Return whether a trace has no prices, so that loads do not count."""
    return options.kind == "trace" and options.token_s is None
