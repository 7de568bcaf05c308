"""How deeply a text nests, before anything parses it."""

import time

import pytest

from tiger.circuits.entry.nesting import NESTING, check_nesting
from tiger.errors import InputError

PARTS = [
    ("rz(", "(", "1", ")", ") q;"),
    ("rz(", "sin(", "1", ")", ") q;"),
    ("x ", "q[", "0", "]", ";"),
    ("", "if (c) {", "x q;", "}", ""),
    ("", "if (c) ", "x q;", "", ""),
    ("", "if (c) { x q; } else ", "x q;", "", ""),
    ("", "if (c) x q; else ", "x q;", "", ""),
    ("", "for int i in {1} ", "x q;", "", ""),
    ("rz(", "-", "1", "", ") q;"),
    ("rz(", "- ", "1", "", ") q;"),
    ("", "inv @ ", "s q;", "", ""),
]


def nest(parts: tuple[str, str, str, str, str], depth: int) -> str:
    """Return a text that nests so deep."""
    head, begin, inside, end, tail = parts
    return head + begin * depth + inside + end * depth + tail


@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: parts[1])
def test_deep_texts_are_refused(parts: tuple[str, str, str, str, str]) -> None:
    """With their line, and those that are not deep are not, however often they come."""
    check_nesting("circuit", nest(parts, 30) * 50)
    with pytest.raises(InputError, match=f"circuit: line 2: expected brackets, .* at most {NESTING} deep, got more"):
        check_nesting("circuit", "\n" + nest(parts, NESTING + 1))


@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: parts[1])
def test_bug_twenty_thousand_levels_take_no_time(parts: tuple[str, str, str, str, str]) -> None:
    """The parser of OpenQASM 3 needs minutes for such parentheses."""
    begun = time.process_time()
    with pytest.raises(InputError):
        check_nesting("circuit", nest(parts, 20_000))
    assert time.process_time() - begun < 5


def test_what_is_never_closed_ends() -> None:
    """Nor does what is never opened count."""
    check_nesting("circuit", "}" * 1000 + ";" * 1000 + ")]")


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["^", "+", "*"])
def test_bug_a_long_expression_is_refused(operator: str) -> None:
    """In the definition of a gate, a million operators overflowed the stack of a parser and ended the process."""
    text = f"gate g(t) a {{ rz({f't{operator}' * 1_000_000}t) a; }}"
    check_nesting("circuit", text.replace(f"t{operator}" * 999_900, ""))
    with pytest.raises(InputError, match="circuit: line 1: expected at most 1000 operators in a statement, got more"):
        check_nesting("circuit", text)
