"""How long a client waits for an answer: the `Prefer` header of RFC 7240."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Seconds that a client waits unless it states others: less than proxies allow an answer, usually 30 or 60.
DEFAULT_WAIT_S = 10.0
# What comes after so many characters is not looked at: quotes that are never closed take the square of their number.
LONGEST = 2000
# One preference: a token, with a value that is a token or a quoted string, and parameters that are not looked at.
# Nothing is tried a second time with fewer characters, as blanks could else be divided in too many ways.
PREFERENCE = re.compile(
    r'\s*+([!#$%&\'*+.^_`|~\w-]++)\s*+(?:=\s*+("(?:[^"\\]|\\.)*+"|[^\s;,"]*+))?+\s*+'
    r'(?:;(?:"(?:[^"\\]|\\.)*+"|[^,"])*+)?+(?:,|$)',
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Hold what a client prefers: an answer at once that the work is accepted, or one within `wait_s` seconds.

    `wait_s` is None where the client says nothing of it: it then waits `default_s`. Neither is above what the service
    allows.
    """

    at_once: bool = False
    wait_s: float | None = None
    default_s: float = DEFAULT_WAIT_S

    @property
    def patience_s(self) -> float:
        """Return the seconds to wait for the end of the work."""
        if self.wait_s is not None:
            return self.wait_s
        return 0.0 if self.at_once else self.default_s

    @property
    def waited(self) -> tuple[str, ...]:
        """Return the preference that was followed where the answer came in time."""
        return () if self.wait_s is None else (f"wait={self.wait_s:g}",)

    @property
    def put_off(self) -> tuple[str, ...]:
        """Return the preferences that were followed where the answer is put off."""
        return ("respond-async", *self.waited) if self.at_once else self.waited


def preference(headers: Sequence[str], longest_s: float) -> Preference:
    """Read the values of all `Prefer` headers; what is unknown or malformed is ignored, as RFC 7240 asks."""
    stated = _parse(",".join(headers)[:LONGEST])
    wait = stated.get("wait", "")
    wait_s = min(float(wait[:9]), longest_s) if re.fullmatch(r"[0-9]+", wait) else None
    default_s = min(DEFAULT_WAIT_S, longest_s)
    return Preference(at_once=stated.get("respond-async") == "", wait_s=wait_s, default_s=default_s)


def applied_header(followed: Sequence[str]) -> dict[str, str]:
    """Return the header that says which preferences were followed, none if there were none."""
    return {"Preference-Applied": ", ".join(followed)} if followed else {}


def _parse(text: str) -> dict[str, str]:
    """Return the preferences with their values, "" without one; of a preference stated twice the first counts."""
    stated: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = PREFERENCE.match(text, at)
        if match is None:
            at = text.find(",", at) + 1 or len(text)
            continue
        stated.setdefault(match[1].lower(), (match[2] or "").strip('"'))
        at = match.end()
    return stated
