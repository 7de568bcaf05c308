"""Values that several options of commands spell as text."""

from collections.abc import Sequence

from tiger.errors import InputError, pin_field
from tiger.model.spelling import spelled


def parse_pins(texts: Sequence[str], form: str = "TASK=NODE") -> dict[str, str]:
    """Return {task: node} of `--pin` arguments; `form` names both in the error."""
    wanted = form.rpartition("=")[2].lower()
    places: dict[str, str] = {}
    for text in texts:
        task, node = _parse_pair("pinned", text, form)
        if places.setdefault(task, node) != node:
            raise InputError(pin_field(task), f"expected one {wanted}, got {places[task]!r} and {node!r}")
    return places


def parse_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of `--forbid` arguments."""
    return [_parse_pair("forbidden", text) for text in texts]


def _parse_pair(field: str, text: str, form: str = "TASK=NODE") -> tuple[str, str]:
    """Return task and node of TASK=NODE, split at the last sign: a task may hold any, the nodes of a SPEC hold none."""
    task, sign, node = text.rpartition("=")
    if not (task and sign and node):
        raise InputError(field, f"expected {form}, got {text!r}")
    return task, node


def parse_insides(texts: Sequence[str]) -> str | dict[str, str] | None:
    """Return the one source of `--node-topology`, {hosts: source} of arguments with hosts, or None without any."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    insides: dict[str, str] = {}
    for text in texts:
        hosts, sign, source = text.partition("=")
        if not (hosts and sign and source):
            raise InputError("node_topology", f"expected HOSTS=FILE for each of several, got {text!r}")
        if insides.setdefault(hosts, source) != source:
            raise InputError("node_topology", f"expected different hosts, got {hosts!r} twice")
    return insides or None


def parse_labels(text: str) -> list[str]:
    """Return the words of `--labels`."""
    return [word.strip() for word in text.split(",")]


# The option `labels` of all that reads a network.
LABELS = spelled(
    "Labels of nodes of Kubernetes that make levels, outermost first; the usual ones without it.",
    metavar="LABEL,..",
    parse=parse_labels,
    panel="Hardware",
)
