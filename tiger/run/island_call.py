"""What an island does, for executors that choose what they send away."""

from functools import partial
from typing import TypeVar

Result = TypeVar("Result")


class IslandCall(partial[Result]):
    """Hold a function and its first arguments, as `partial` does; a call is taken for long until one was timed."""
