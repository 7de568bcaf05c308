"""What the command line shows: results on standard output, progress and complaints on standard error."""

import json
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tiger.errors import InputError
from tiger.run import outfile
from tiger.run.terminal import escape

if TYPE_CHECKING:
    from typer import TyperException

    from tiger.model.answer import Answer
    from tiger.model.document import Document
    from tiger.run.progress import Progress

# Exit codes: solved, and nothing feasible exists.
OK, INFEASIBLE = 0, 1
# The names of threads that an interrupt does not wait for.
THREADS = "tiger-assign"
# Options that name the hardware: a command that does not have one has another.
HARDWARE = ("--topology", "--coupling", "--device", "--cluster")

# How typer says that a value is none of its choices, which it lists in quotes.
_QUOTE = "'"
_CHOICE = re.compile(r"(?:Value error, )?(?P<got>.*) is not one of (?P<known>'.*')\.", re.DOTALL)
# How a message lists the words that could have stood in the place of another, which it quotes or describes.
_LISTED = re.compile(r"(?:expected|of) (?P<known>[\w:.-]+(?:, [\w:.-]+)+).*, got (?P<got>[\w.-]+|'[\w.-]+)", re.DOTALL)

Shown = TypeVar("Shown", bound="Document")


def emit(text: str) -> None:
    """Write a result to standard output, escaped where its encoding has no sign for a letter.

    A reader that has closed the pipe, as `| head` does, is no error; any other failure raises InputError of `stdout`.
    """
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    except OSError as error:
        discard_output()
        raise InputError("stdout", f"expected to write the result there: {error.strerror or error}") from None


def check_report(json_file: str | None) -> None:
    """Raise InputError unless the report can be written to where it is to go."""
    if json_file is not None and json_file != "-":
        outfile.check(json_file, "json")


def check_plot(plot: str | None) -> None:
    """Raise InputError unless a picture can be drawn and written to where it is to go."""
    if plot is not None:
        from tiger.plotting import picturefile

        picturefile.check(plot)


def write_plot(report: "Answer", plot: str | None) -> None:
    """Write the picture of a report, or all of them as a page, if a file is named and there is something to draw."""
    if plot is not None and report.feasible:
        from tiger.plotting import picturefile

        picturefile.write(report, plot)


def deliver(
    report: Shown,
    json_file: str | None,
    summary: Callable[[Shown], str],
    replace_summary: Callable[[Shown], str | None] | None = None,
) -> None:
    """Print the report as strict JSON for `-`, else its summary, with the JSON in a file if one is named.

    Where something replaces the summary, that is on standard error. Where it cannot be printed, the file is there.
    """
    text = json.dumps(report.to_dict(), indent=1, allow_nan=False) + "\n"
    if json_file == "-":
        emit(text)
        return
    if json_file is not None:
        outfile.write(json_file, "json", text)
    printed = None if replace_summary is None else replace_summary(report)
    if printed is not None:
        sys.stderr.write(summary(report))
    emit(summary(report) if printed is None else printed)


def discard_output() -> None:
    """Discard what is left for standard output, as Python flushes again at exit and would fail."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def open_streams() -> None:
    """Give a process whose standard output or error is closed one that goes nowhere, and keep output for results.

    Compiled libraries print to the first of the system's descriptors, which goes nowhere too.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (open to the end)
    results = sys.__stdout__
    if results is not None and sys.stdout is results:
        own = os.dup(results.fileno())
        discard_output()
        sys.stdout = os.fdopen(own, "w", encoding=results.encoding, errors=results.errors)


def note(text: str) -> None:
    """Write a line of progress to standard error."""
    sys.stderr.write(f"{escape(text)}\n")


def complain(field: str, reason: str) -> None:
    """Write one line about bad input to standard error, with the nearest of the words that the reason lists."""
    note(f"tiger: error: {field}: {reason}{_suggest(reason)}")


def warn(text: str) -> None:
    """Write one line about what may be a mistake to standard error."""
    note(f"tiger: warning: {text}")


def _suggest(reason: str) -> str:
    """Return a question about the nearest word that could have stood there, if any is near and none is named yet."""
    found = _LISTED.search(reason)
    if found is None or found["got"].replace(".", "").isdecimal() or "; did you mean " in reason:
        return ""
    known = [word.partition(":")[0] for word in found["known"].split(", ")]
    got = found["got"].lstrip(_QUOTE)
    near = get_close_matches(got.lower(), known, 1)
    return f"; did you mean {near[0]}?" if near and near[0] != got else ""


def report_crash(error: BaseException) -> None:
    """Write one line to standard error about an internal error, and its traceback to a file that stays."""
    trace, evidence = "".join(traceback.format_exception(error)), "the command"
    with suppress(OSError), tempfile.NamedTemporaryFile("w", prefix="tiger-", suffix=".txt", delete=False) as file:
        file.write(trace)
        evidence = f"the command and {file.name}"
    message = str(error).partition("\n")[0][:200]
    with suppress(OSError):
        what = f"{type(error).__name__}: {message}"
        note(f"tiger: internal error: {what}; please report it to the maintainers with {evidence}")


def field_of(error: "TyperException") -> str:
    """Return the name of the option or argument that a usage error is about."""
    name = getattr(getattr(error, "param", None), "name", None) or getattr(error, "option_name", "")
    return str(name).lstrip("-") or "command"


def reason_of(error: "TyperException") -> str:
    """Return what a usage error says, with the nearest option; of a choice that there is not, as Python and REST do."""
    near = getattr(error, "possibilities", None)
    context = getattr(error, "ctx", None)
    if near is not None and context is not None and getattr(error, "option_name", None) in HARDWARE:
        near = [option for param in context.command.params for option in param.opts if option in HARDWARE] or near
    if near:
        return f"{error.message}; did you mean {near[0]}?"
    found = _CHOICE.fullmatch(error.message)
    if found is None:
        return error.format_message()
    return f"expected one of {found['known'].replace(_QUOTE, '')}, got {found['got']}"


@contextmanager
def count(work: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show what has been done of a known number of things: a bar on a terminal, elsewhere a line for each."""
    if not sys.stderr.isatty():
        yield lambda name, done, total: note(f"{work}: {name}, {done} of {total}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(work, total=None)
        yield lambda name, done, total: bar.update(line, description=f"{work}: {name}", completed=done, total=total)


@contextmanager
def progress() -> Iterator["Callable[[Progress], None] | None"]:
    """Show how far a solve has come, and wipe it at the end; yield None where standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("reading", total=None)

        def show(step: "Progress") -> None:
            text = escape(" ".join(filter(None, (step.stage, _compare(step), step.message))))
            total = None if step.fraction is None else 1.0
            bar.update(line, description=text, total=total, completed=step.fraction or 0.0)

        yield show


def _compare(step: "Progress") -> str:
    """Return the best cost so far, the bound on all costs, and the share of the cost that this leaves open."""
    bound = "" if step.bound is None or step.bound <= 0 else f"bound {step.bound:.6g}"
    if step.cost is None:
        return bound
    gap = f"gap {max(step.cost - (step.bound or 0.0), 0.0) / step.cost:.1%}" if bound and step.cost > 0 else ""
    return " ".join(filter(None, (f"cost {step.cost:.10g}", bound, gap)))


@contextmanager
def name_hardware(option: str) -> Iterator[None]:
    """Name what is wrong with the hardware as the option does, where Python and REST call it `topology`."""
    try:
        yield
    except InputError as error:
        top, slash, rest = error.field.partition("/")
        if top != "topology":
            raise
        raise InputError(f"{option}{slash}{rest}", error.reason) from None


@contextmanager
def pool(threads: int) -> Iterator[Executor | None]:
    """Yield an executor of independent parts of the work, None for one thread; at the end nobody waits for the rest."""
    if threads == 1:
        yield None
        return
    threads_pool = ThreadPoolExecutor(threads, thread_name_prefix=THREADS)
    try:
        yield threads_pool
    finally:
        threads_pool.shutdown(wait=False, cancel_futures=True)
