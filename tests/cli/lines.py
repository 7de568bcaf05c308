"""The commands of shell code, read as the command line reads them but not run."""

import re
import shlex
from collections.abc import Iterator

import typer

from tiger.cli.app import app

# Not those that run: a command keeps the options for help of the first context that it is parsed in.
KNOWN = typer.main.get_command(app).commands
ENDS = "|&;<>()\n"


def commands_of(code: str) -> Iterator[list[str]]:
    """Yield the words behind `tiger` of each command in shell code, without what it is piped or written to."""
    lines = re.sub(r"  #[^'\"]*$", "", code, flags=re.MULTILINE).replace("\\\n", " ")
    reader = shlex.shlex(lines, posix=True, punctuation_chars=ENDS)
    reader.whitespace, reader.whitespace_split = " \t", True
    words: list[str] = []
    for token in [*reader, "\n"]:
        if token.strip(ENDS):
            words.append(token)
            continue
        if words[:1] == ["tiger"] and words[1:2] != ["--install-completion"]:
            yield words[1:]
        words = []


def parse(words: list[str]) -> None:
    """Raise the error of a command that does not exist, an option that it lacks or a value that is refused."""
    name, *rest = words
    KNOWN[name].make_context(name, rest)
