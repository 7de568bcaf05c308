"""What a report is explained by: sentences on what was found, how good it is, what limits it, and what to try next."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tiger.model.violation import Violation
from tiger.run.stage import Stage
from tiger.run.terminal import columns, escape

# Characters of a line where there is no terminal, and most of them on a wide one, as texts are hard to read across.
WIDTH = 100
# Parts of a violated problem that are named; --json of the command has them all.
SHOWN = 10
SEARCH_LONGER = "Search for longer: what cannot be met is not proved, and nothing feasible was found in time."


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Hold plain sentences: `found`, `quality`, `limits` (what stands in the way) and `advice` (what to try next)."""

    found: tuple[str, ...]
    quality: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    def write(self) -> str:
        """Return the sentences below their headings, as wide as the terminal."""
        parts = {
            "What was found": self.found,
            "How good it is": self.quality,
            "What stands in the way": self.limits,
            "What to try next": self.advice,
        }
        return "\n".join(f"{name}\n{''.join(map(_write_item, texts))}" for name, texts in parts.items() if texts)


def explain_unmet(violations: Sequence[Violation], what: str, help_by_kind: Mapping[str, str]) -> Explanation:
    """Explain that there is nothing feasible: what cannot be met, and what would help against each kind of that."""
    undecided = all(violation.kind == "undecided" for violation in violations)
    start = f"No {what} was found." if undecided else f"No {what} meets what is asked."
    helps = dict.fromkeys(help_by_kind[v.kind] for v in violations if v.kind in help_by_kind)
    return Explanation(
        found=(start,),
        limits=tuple(f"{v.kind}: {v.message}" for v in violations[:SHOWN]),
        advice=tuple(helps) or ("Ask for less: each line above names what cannot be met.",),
    )


def describe_stages(values: Sequence[tuple[str, float]]) -> str | None:
    """Return which stages contributed which part of the whole gain, None where there was none.

    `values` are the best values at the ends of stages, the first of which are before anything was gained.
    """
    gains: dict[str, float] = {}
    for (_, before), (name, after) in pairwise(values):
        if after < before:
            gains[name] = gains.get(name, 0.0) + before - after
    whole = sum(gains.values())
    if not whole:
        return None
    shares = [f"{name} {gain / whole:.0%}" for name, gain in sorted(gains.items(), key=lambda item: -item[1])]
    return f"Of what the search gained, stages contributed: {', '.join(shares)}."


def read_effort(stages: Iterable[Stage]) -> int:
    """Return the largest effort that a stage states, 1 if none does."""
    stated = [stage.detail.get("effort") for stage in stages]
    return max((effort for effort in stated if isinstance(effort, int)), default=1)


def advise_time(warnings: Sequence[str], otherwise: str) -> str:
    """Return that the search needs more time where its time limit ended it, otherwise what else it needs."""
    ended = any(warning.startswith("ended by the time limit") for warning in warnings)
    return "The time limit ended the search: allow more with --time-limit." if ended else otherwise


def percent(part: float) -> str:
    """Return a part of 1 in per cent."""
    return f"{part:.1%}" if part < 0.1 else f"{part:.0%}"


def percent_at_most(part: float) -> str:
    """Return a part of 1 in per cent that it is not above, as rounding to the nearest would claim too much."""
    digits = 3 if part < 0.1 else 2
    return percent(math.ceil(round(max(part, 0.0) * 10**digits, 9)) / 10**digits)


def count(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _write_item(text: str) -> str:
    """Return a sentence as an item of a list."""
    width = min(columns() or WIDTH, WIDTH)
    return textwrap.fill(escape(text), max(width, 20), initial_indent="- ", subsequent_indent="  ") + "\n"
