"""The command line: `tiger assign`, `topologies`, `solvers`, `serve` and `warm`.

What a command needs is imported inside it, so that help and bad options answer at once.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tiger import __version__, console, outfile
from tiger.errors import InputError

if TYPE_CHECKING:
    from tiger.report import Report

OK, INFEASIBLE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line on the arguments of the process and exit with its status."""
    console.open_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status: 0 solved, 1 infeasible, 2 bad input, 130 interrupted."""
    try:
        status = typer.main.get_command(app).main(list(arguments), prog_name="tiger", standalone_mode=False)
    except InputError as error:
        console.complain(error.field, error.reason)
        return BAD_INPUT
    except typer.TyperException as error:
        console.complain(_field_of(error), error.format_message())
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        console.forsake()
        console.complain("stdout", f"expected to write the result there: {error.strerror or error}")
        return BAD_INPUT
    return status if isinstance(status, int) else OK


@app.callback(invoke_without_command=True)
def tiger(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Map tasks onto hardware, topology-aware, by Ising models and native search."""
    if version:
        console.emit(f"tiger {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(BAD_INPUT)


@app.command()
def assign(
    tasks: Annotated[
        Path,
        typer.Argument(
            metavar="TASKS", help="A .json, .graph, .mtx, .csv, .graphml, .dat or .ram file.", show_default=False
        ),
    ],
    topology: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Like torus:4x4, see `tiger topologies`; or a .json or .arc file."),
    ] = None,
    rule: Annotated[
        Literal["one-to-one", "levels", "capacity"] | None, typer.Option(help="Which tasks may share a node.")
    ] = None,
    slots: Annotated[int | None, typer.Option(metavar="N", help="Tasks per node; implies --rule capacity.")] = None,
    imbalance: Annotated[
        float, typer.Option(metavar="X", help="Scale slots by 1 + X, rounded down; implies --rule capacity.")
    ] = 0.0,
    pin: Annotated[
        list[str] | None, typer.Option(metavar="TASK=NODE", help="Fix a task to a node; split at the last '='.")
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(metavar="TASK=NODE", help="Keep a task off a node; split at the last '='.")
    ] = None,
    solver: Annotated[str, typer.Option(metavar="NAME", help="One of `tiger solvers`.")] = "auto",
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed and effort give the same mapping.")] = 0,
    effort: Annotated[
        int | None, typer.Option(metavar="N", help="Iterations, from 1 up; 1 where no time limit is set.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Stop after this many seconds.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; - prints that alone.")
    ] = None,
) -> int:
    """Map tasks onto a topology.

    Exits with 0 when solved, 1 when nothing feasible exists, 2 on bad input. The result goes to standard output,
    progress and complaints to standard error.
    """
    pins = _pins(pin or [])
    pairs = [_pair("forbidden", text) for text in forbid or []]
    if json_file is not None and json_file != "-":
        outfile.check(json_file, "json")
    from tiger.door import assign as assign_tasks

    with console.progress() as show:
        report = assign_tasks(
            tasks,
            topology,
            rule=rule,
            slots=slots,
            imbalance=imbalance,
            pinned=pins,
            forbidden=pairs,
            solver=solver,
            seed=seed,
            effort=effort,
            time_limit_s=time_limit,
            progress=show,
        )
    _deliver(report, json_file)
    return OK if report.feasible else INFEASIBLE


@app.command()
def topologies() -> None:
    """List the kinds of hardware that a SPEC can name."""
    from tiger.summary import table
    from tiger.topologies.spec import KINDS

    rows = [(kind.syntax, kind.example, kind.description) for kind in KINDS]
    console.emit(table(("syntax", "example", "hardware"), rows))


@app.command()
def solvers() -> None:
    """List the solvers that can be used here."""
    from tiger.solvers.registry import available
    from tiger.summary import table

    rows = [(solver.name, solver.kind, solver.description) for solver in available()]
    console.emit(table(("solver", "kind", "what it does"), rows))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on, 0 for any free one.")] = 8000,
) -> None:
    """Run the REST service until interrupted."""
    from tiger.api.serve import serve as listen

    listen(host, port)


@app.command()
def warm() -> None:
    """Compile every search kernel into the cache.

    The first solve does not have to wait for them then.
    """
    from tiger.solvers.warm import warm as compile_kernels

    start = time.perf_counter()
    compile_kernels(console.note)
    console.emit(f"every kernel is compiled, {time.perf_counter() - start:.1f} s\n")


def _pins(texts: Sequence[str]) -> dict[str, str]:
    """Return {task: node} of `--pin` arguments."""
    pins: dict[str, str] = {}
    for text in texts:
        task, node = _pair("pinned", text)
        if pins.setdefault(task, node) != node:
            raise InputError(f"pinned/{task}", f"expected one node, got {pins[task]!r} and {node!r}")
    return pins


def _pair(field: str, text: str) -> tuple[str, str]:
    """Return task and node of TASK=NODE, split at the last sign: a task may hold any, the nodes of a SPEC hold none."""
    task, sign, node = text.rpartition("=")
    if not (task and sign and node):
        raise InputError(field, f"expected TASK=NODE, got {text!r}")
    return task, node


def _deliver(report: "Report", json_file: str | None) -> None:
    """Print the report as strict JSON for `-`, else its summary, with the JSON in a file if one is named."""
    text = json.dumps(report.to_dict(), indent=1, allow_nan=False) + "\n"
    if json_file == "-":
        console.emit(text)
        return
    if json_file is not None:
        outfile.write(json_file, "json", text)
    from tiger.summary import summary

    console.emit(summary(report))


def _field_of(error: typer.TyperException) -> str:
    """Return the name of the option or argument that a usage error is about."""
    name = getattr(getattr(error, "param", None), "name", None) or getattr(error, "option_name", "")
    return str(name).lstrip("-") or "command"
