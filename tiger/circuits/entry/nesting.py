"""How deeply an OpenQASM text nests, measured before anything parses it."""

import re

from tiger.errors import InputError

# Parsers descend once a level: one statement 64 deep takes them 0.1 s, 1,000 deep up to 9 s, and 20,000 deep minutes.
NESTING = 64
# A chain of operators is as deep as it is long: in the definition of a gate, a million of them overflow the stack of
# the parser of OpenQASM 2 and end the process, and the parser of OpenQASM 3 refuses a thousand.
OPERATORS = 1000
_MARK = re.compile(r"\bin\s*\{|[()\[\]{};@]|\b(?:if|for|while|switch)\b|[-+!~](?:\s*[-+!~])+")
_STATEMENT = re.compile(r"[^;{}]+")
_ELSE = re.compile(r"\s*else\b")
_OPEN, _CLOSED = ("(", "[", "{"), (")", "]", "}")


def check_nesting(field: str, text: str) -> None:
    """Raise InputError where brackets, blocks, statements without braces, modifiers or signs nest more than 64 deep.

    The same goes for a statement with more than 1,000 operators. The text has no comments. Every `if` of a chain of
    `else if` is inside the one before, as parsers see it. O(text).
    """
    _check_length(field, text)
    marks: list[str] = []
    # How many statements and modifiers stand inside each other without braces, for every bracket that is open.
    chains, total = [0], 0
    for match in _MARK.finditer(text):
        mark, signs, ended = match[0], 0, False
        if mark.endswith(_OPEN):
            marks.append(mark)
            chains.append(0)
        elif mark in _CLOSED and marks:
            ended = marks.pop() == "{"
            total -= chains.pop()
        elif mark[0] in "-+!~":
            signs = len(mark) - sum(map(str.isspace, mark))
        elif mark not in (*_CLOSED, ";"):
            chains[-1] += 1
            total += 1
        if (mark == ";" or (mark == "}" and ended)) and not _ELSE.match(text, match.end()):
            total -= chains[-1]
            chains[-1] = 0
        if max(len(marks) + total, signs) > NESTING:
            line = text.count("\n", 0, match.start()) + 1
            reason = f"expected brackets, blocks, modifiers and signs at most {NESTING} deep, got more"
            raise InputError(field, f"line {line}: {reason}")


def _check_length(field: str, text: str) -> None:
    """Raise InputError for a statement with too many operators."""
    for statement in _STATEMENT.finditer(text):
        if len(statement[0]) > OPERATORS and sum(map(statement[0].count, "+-*/^%")) > OPERATORS:
            line = text.count("\n", 0, statement.start()) + 1
            raise InputError(field, f"line {line}: expected at most {OPERATORS} operators in a statement, got more")
