"""The commands `tiger encode` and `tiger decode`: views of the options of a mapping, with files of other software."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import typer

from tiger.cli import console
from tiger.cli.building import Group, build_function
from tiger.cli.console import INFEASIBLE, OK
from tiger.cli.options import Json
from tiger.errors import InputError
from tiger.mapping.exchange.options import DecodeOptions, EncodeOptions
from tiger.mapping.options import BEYOND_MODELS, ProblemArguments

PROBLEM = Group(kind=ProblemArguments, omits=BEYOND_MODELS)
# Temperatures are those of a sampler, which is other software.
OMITTED = frozenset({"beta_range", "control", "sampler", "in_flight", "qpu_time_s", "dry_run", "samples"})


def encode(problem: ProblemArguments, options: EncodeOptions, _: Mapping[str, object]) -> int:
    """Write the model of a problem."""
    from tiger.mapping.entry import state_problem
    from tiger.mapping.exchange.export import EncodedModel, export
    from tiger.mapping.exchange.summary import model_summary
    from tiger.run.summary import describe_unmet

    model = export(state_problem(problem), options)
    if not isinstance(model, EncodedModel):
        console.emit(describe_unmet(model))
        return INFEASIBLE
    console.emit(model_summary(model, options.output))
    return OK


def decode(problem: ProblemArguments, options: DecodeOptions, given: Mapping[str, object]) -> int:
    """Report the best mapping that samples of a problem come to."""
    json_file = cast(str | None, given["json_file"])
    console.check_report(json_file)
    from tiger.mapping.entry import state_problem
    from tiger.mapping.exchange.decode_samples import decode_samples
    from tiger.mapping.exchange.decode_windows import decode_windows
    from tiger.mapping.exchange.sample_file import read_samples, read_variables, read_windows
    from tiger.mapping.summary import summary

    stated = state_problem(problem)
    if Path(options.samples).is_dir():
        if options.variables is not None:
            raise InputError("variables", "expected none beside a folder, whose files state them, got one")
        kept = read_windows(options.samples)
        with console.progress() as show:
            report = decode_windows(stated, kept, show)
    else:
        rows = read_samples(options.samples)
        if options.variables is not None:
            rows = read_variables(options.variables, rows)
        with console.progress() as show:
            report = decode_samples(stated, rows, show)
    console.deliver(report, json_file, summary)
    return OK if report.feasible else INFEASIBLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """State a command that is given a problem and other options, and what runs it."""

    name: str
    help: str
    examples: tuple[str, ...]
    options: Group
    general: tuple[Group, ...] = ()
    run: Callable[..., int]

    def build(self) -> Callable[..., int]:
        """Return the function of the command."""

        def run(_: typer.Context, given: dict[str, object]) -> int:
            return self.run(PROBLEM.make(given), self.options.make(given), given)

        return build_function(self.name, self.help, (PROBLEM, self.options, *self.general), run)


EXCHANGES = (
    Exchange(
        name="encode",
        help="""Write the model of a problem for other software.

        A .bqm file is the QUBO in dimod's format, .coo the same as text, .cqm a constrained model for hybrid solvers.
        Below a penalty scale of 1, the safe bound and the default, costs are centred. Exits as `tiger assign` does.
        """,
        examples=("tiger encode ring:4 --topology grid:2x2 -o ring.bqm --variables ring.json",),
        options=Group(kind=EncodeOptions, omits=OMITTED),
        run=encode,
    ),
    Exchange(
        name="decode",
        help="""Turn samples of an encoded problem into a mapping.

        The problem is stated as it was for `tiger encode`: samples of another are refused, and a warning says where
        nothing in them tells. Every sample is repaired and polished, and the best one is reported as `tiger assign`
        does.
        """,
        examples=(
            "echo 1 0 0 0  0 1 0 0  0 0 0 1  0 0 1 0 > reads.txt\n"
            "tiger decode ring:4 --topology grid:2x2 --samples reads.txt",
        ),
        options=Group(kind=DecodeOptions),
        general=(Group(kind=Json),),
        run=decode,
    ),
)
