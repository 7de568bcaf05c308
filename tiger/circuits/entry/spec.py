"""Texts that name hardware rather than a file; without Qiskit."""

import re

from tiger.topologies.spec import KINDS

_SPEC = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[^/\\]*")


def is_spec(text: str) -> bool:
    """Return whether a text is a SPEC such as `heavy-hex:7`, or the name of a kind of hardware alone."""
    return bool(_SPEC.fullmatch(text)) or any(text == kind.name for kind in KINDS)
