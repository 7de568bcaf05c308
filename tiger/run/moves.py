"""The moves of a mapping from one in use before tasks or hardware changed."""

from dataclasses import dataclass
from typing import Literal

from tiger.model.document import Document

# Why a task is elsewhere: it is new, its node is lost, the problem forbids it there, no mapping with fewer moves leaves
# it there, or the mapping costs less.
MoveReason = Literal["new", "lost", "forbidden", "room", "gain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMove(Document):
    """Say that a task goes `after`wards to another node than `before`, None for a new task, and why.

    It is `new`, its node is `lost`, it is pinned elsewhere or `forbidden` there, there is too little `room` for all
    that were there, or the mapping `gain`s by it.
    """

    task: str
    before: str | None
    after: str
    why: MoveReason
