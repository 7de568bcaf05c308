"""Read the split of vLLM back from the lines that TIGER writes."""

import re
from dataclasses import dataclass

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.placement.emission.vllm import DEVICES, PARTITION

_LINE = re.compile(rf"\s*(?:export\s+)?({PARTITION}|{DEVICES})=[\"']?([^\"']*?)[\"']?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmSplit:
    """Hold the decoder layers of every pipeline rank, and the device indices of the ranks of every replica."""

    partition: tuple[int, ...]
    devices: tuple[tuple[int, ...], ...]


def parse(text: str) -> VllmSplit:
    """Return the split of lines of a shell; raise InputError that names the variable at fault."""
    matches = [match.groups() for line in text.splitlines() if (match := _LINE.fullmatch(line))]
    partitions = [_numbers(PARTITION, value) for name, value in matches if name == PARTITION]
    if len(partitions) != 1:
        raise InputError(PARTITION, f"expected it once, got it {len(partitions)} times")
    devices = tuple(_numbers(DEVICES, value) for name, value in matches if name == DEVICES)
    for replica in devices:
        if len(set(replica)) < len(replica) or len(replica) % len(partitions[0]):
            raise InputError(DEVICES, f"expected different devices, a multiple of {len(partitions[0])} of them")
    return VllmSplit(partition=partitions[0], devices=devices)


def _numbers(field: str, text: str) -> tuple[int, ...]:
    """Return whole numbers that commas separate."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise InputError(field, f"expected whole numbers separated by commas, got {describe(text)}")
    return tuple(map(int, words))
