"""Whose job is begun next: priorities that rise with the time waited, and fair shares among owners.

Jobs of one owner go by their turn, a time that stands from the start: when the job was created, earlier by ten minutes
for each step of its priority, and later by a minute for each step of its rank. So a job of priority 9 goes before one
of priority 0 that has waited up to 90 minutes longer, and small work before other work that has waited up to nine.

Of all owners' next jobs the one with the first turn says which priority counts. Of the owners whose next job has that
priority or a higher one, the one with the fewest jobs running goes first, and among these the one whose work has used
the least processor time lately, of which ever less counts: fair shares as those of Kay and Lauder (1988,
doi:10.1145/35043.35047).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tiger.api.jobs.usage import DECAY_S

# Seconds that a job has to wait longer for one step of priority, and for one step of rank.
PRIORITY_S, RANK_S = 600.0, 60.0
# A row for each owner of whom jobs wait, found by a few steps in the index, whatever the number of jobs: neither SQLite
# nor PostgreSQL skips along an index for DISTINCT, and to join the jobs themselves PostgreSQL reads all of them.
HEADS = sa.text(
    """WITH RECURSIVE owners (owner) AS (
        SELECT min(owner) FROM tiger_jobs WHERE status = 'queued'
        UNION ALL
        SELECT (SELECT min(jobs.owner) FROM tiger_jobs AS jobs WHERE status = 'queued' AND jobs.owner > owners.owner)
        FROM owners WHERE owners.owner IS NOT NULL)
    SELECT owners.owner, recent_s, at_s,
        (SELECT turn_s FROM tiger_jobs AS jobs WHERE status = 'queued' AND jobs.owner = owners.owner
            ORDER BY turn_s, urgency LIMIT 1) AS turn_s,
        (SELECT urgency FROM tiger_jobs AS jobs WHERE status = 'queued' AND jobs.owner = owners.owner
            ORDER BY turn_s, urgency LIMIT 1) AS urgency,
        (SELECT count(*) FROM tiger_jobs AS jobs WHERE status = 'running' AND jobs.owner = owners.owner) AS running
    FROM owners LEFT JOIN tiger_shares ON tiger_shares.owner = owners.owner WHERE owners.owner IS NOT NULL"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Hold the turn and the priority of the next job of an owner, how many of its jobs run, and what these used lately.

    The latter are the processor seconds `recent_s`, as they had decayed at the time `at_s`.
    """

    owner: str
    turn_s: float
    urgency: int
    running: int = 0
    recent_s: float = 0.0
    at_s: float = 0.0


def find_turn(created_s: float, urgency: int, rank: int) -> float:
    """Return the turn of a job among those of its owner, in seconds."""
    return created_s + RANK_S * rank - PRIORITY_S * urgency


def list_heads(connection: Connection) -> list[Head]:
    """Return the next job of every owner."""
    rows = connection.execute(HEADS)
    return [Head(**{name: value for name, value in row._mapping.items() if value is not None}) for row in rows]


def choose_owner(heads: Sequence[Head]) -> str | None:
    """Return whose turn it is, None where nobody waits."""
    if not heads:
        return None
    first = min(heads, key=lambda head: head.turn_s)
    last_s = max(head.at_s for head in heads)

    def rank(head: Head) -> tuple[int, float, float]:
        # All decay alike, so that they compare at any time as at this one.
        return head.running, head.recent_s * math.exp((head.at_s - last_s) / DECAY_S), head.turn_s

    return min((head for head in heads if head.urgency >= first.urgency), key=rank).owner
