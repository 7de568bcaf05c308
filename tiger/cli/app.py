"""The command `tiger`: the commands of all uses, `topologies`, `solvers`, `serve` and `warm`, and others beside them.

What a command needs is imported inside it, so that help and bad options answer at once.
"""

import os
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import Annotated, cast

import typer

from tiger import __version__
from tiger.cli import console, variables
from tiger.cli.console import OK, THREADS
from tiger.cli.doctor import doctor
from tiger.cli.emit import emit
from tiger.cli.exchange import EXCHANGES
from tiger.cli.explain import explain
from tiger.cli.help import Command, Group
from tiger.cli.openapi import openapi
from tiger.cli.running import build_command, list_commands
from tiger.errors import InputError

# As sysexits.h has it for an internal error, and shells for an interrupt.
BAD_INPUT, INTERNAL, INTERRUPTED = 2, 70, 130
WHERE = "Where it runs"

app = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line on the arguments of the process and exit with its status."""
    console.open_streams()
    status = run(sys.argv[1:])
    if status == INTERRUPTED and any(thread.name.startswith(THREADS) for thread in threading.enumerate()):
        # The interpreter would wait for threads that still search.
        os._exit(status)
    sys.exit(status)


@cache
def commands() -> Group:
    """Return all commands as typer makes them, which takes longer than to parse a line."""
    return cast(Group, typer.main.get_command(app))


def run(arguments: Sequence[str]) -> int:
    """Run one command; return 0 when solved, 1 infeasible, 2 bad input, 70 an internal error, 130 interrupted."""
    try:
        status = commands().main(list(arguments), prog_name="tiger", standalone_mode=False)
    except InputError as error:
        console.complain(error.field, error.reason)
        return BAD_INPUT
    except typer.TyperException as error:
        console.complain(console.field_of(error), console.reason_of(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 (the last resort; a panic of compiled code is no Exception)
        console.report_crash(error)
        return INTERNAL
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
    for name, near in variables.list_misspelt(os.environ, variables.READ.get(context.invoked_subcommand or "", ())):
        console.warn(f"{name} is not a variable of TIGER; did you mean {near}?")
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(BAD_INPUT)


for use, known in list_commands():
    app.command(known.name, cls=Command, rich_help_panel="Map")(build_command(use, known))
for exchange in EXCHANGES:
    app.command(exchange.name, cls=Command, rich_help_panel="Use other solvers")(exchange.build())
app.command(cls=Command, rich_help_panel="Understand")(explain)
app.command(cls=Command, rich_help_panel="Understand")(emit)
app.command(cls=Command, rich_help_panel="Run")(openapi)


@app.command(cls=Command, rich_help_panel="Understand")
def topologies() -> None:
    """List the kinds of hardware that a SPEC can name."""
    from tiger.run.summary import table
    from tiger.topologies.spec import KINDS

    rows = [(kind.syntax, kind.example, kind.description) for kind in KINDS]
    console.emit(table(("syntax", "example", "hardware"), rows))


@app.command(cls=Command, rich_help_panel="Understand")
def solvers() -> None:
    """List the solvers that can be used here."""
    from tiger.run.summary import table
    from tiger.solvers.registry import list_solvers

    rows = [(solver.name, solver.kind, solver.description) for solver in list_solvers()]
    console.emit(table(("solver", "kind", "what it does"), rows))


@app.command(cls=Command, rich_help_panel="Run")
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.", rich_help_panel=WHERE)] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on, 0 for any free one.", rich_help_panel=WHERE)] = 8000,
    show_config: Annotated[
        bool, typer.Option("--show-config", help="Print the settings and stop.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Run the REST service until interrupted.

    Settings come from the environment, from variables that begin with TIGER_. Without TIGER_API_KEYS it listens on a
    loopback address alone.
    """
    if show_config:
        from tiger.api.settings import load, rows
        from tiger.run.summary import table

        console.emit(table(("variable", "value", "from"), rows(load())))
        return
    from tiger.api.serve import serve as listen

    listen(host, port)


@app.command(cls=Command, rich_help_panel="Run")
def warm(
    commands: Annotated[
        list[str] | None,
        typer.Argument(help="assign, layout, place: the commands to be ready for.", show_default="all"),
    ] = None,
) -> None:
    """Compile search kernels into the cache.

    The first solve does not have to wait for them then.
    """
    from tiger.cli.warm import COMMANDS, warm_all

    for command in commands or ():
        if command not in COMMANDS:
            raise InputError("commands", f"expected any of {', '.join(COMMANDS)}, got {command!r}")
    start = time.perf_counter()
    with console.count("compiling") as show:
        warm_all(commands or COMMANDS, show)
    console.emit(f"every kernel is compiled, {time.perf_counter() - start:.1f} s\n")


app.command(cls=Command, rich_help_panel="Run")(doctor)
