"""The devices of a stage in a few words."""

import re
from collections.abc import Sequence

# Runs of numbers that are named before the rest is counted: as many as fit in a cell of a table.
RUNS = 4
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


def short_ranks(devices: Sequence[Sequence[str]]) -> str:
    """Return the devices [d][t] of a stage in short, as `m0.gpu0-3; m1.gpu0-3`, of which at most 4 runs of numbers.

    Semicolons are between replicas; where layers are not cut, every device is one, and they stand in one list.
    """
    rows = devices if len(devices[0]) > 1 else [[row[0] for row in devices]]
    runs = [(number, run) for number, row in enumerate(rows) for run in _runs(row)]
    words = [""] * len(rows)
    for number, run in runs[:RUNS]:
        words[number] += f", {_span(run)}" if words[number] else _span(run)
    rest = sum(len(run) for _, run in runs[RUNS:])
    return "; ".join(filter(None, words)) + (f" and {rest} more" if rest else "")


def _runs(names: Sequence[str]) -> list[list[str]]:
    """Return names in their order, those together whose numbers follow each other."""
    runs: list[list[str]] = []
    for name in names:
        if runs and name == _next_name(runs[-1][-1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _next_name(name: str) -> str | None:
    """Return the name with the next number at its end, None for one without a number."""
    parts = _NUMBERED.fullmatch(name)
    return parts and f"{parts[1]}{int(parts[2]) + 1:0{len(parts[2])}d}"


def _span(run: Sequence[str]) -> str:
    """Return a run by its first name and its last number."""
    last = _NUMBERED.fullmatch(run[-1])
    return run[0] if last is None or len(run) == 1 else f"{run[0]}-{last[2]}"
