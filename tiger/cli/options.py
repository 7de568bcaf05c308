"""The options that commands have in common, whatever they are for."""

from dataclasses import dataclass, field

from tiger.model.spelling import spelled
from tiger.run.options import THREADS


@dataclass(frozen=True, kw_only=True)
class Threads:
    """Say how many threads a command runs."""

    threads: int = field(default=1, metadata=THREADS)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Say where the picture of a report goes."""

    plot: str | None = field(
        default=None,
        metadata=spelled(
            "Draw the result as .svg, .png or .pdf; .html is a page with all pictures and the stages.",
            panel="Output",
            metavar="FILE",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Server:
    """Say which service carries a command out, and what tags and priority its job has there."""

    server: str | None = field(
        default=None,
        metadata=spelled(
            "Have this service do it, with the key TIGER_API_KEY.",
            panel="Where it runs",
            metavar="URL",
            variable="TIGER_SERVER",
        ),
    )
    tags: tuple[str, ...] = field(
        default=(),
        metadata=spelled(
            "Tag the job at the service; repeat it for several.",
            panel="Where it runs",
            name="tag",
            metavar="TAG",
            gather=tuple,
        ),
    )
    priority: int = field(
        default=0,
        metadata={
            **spelled("How urgent the job is at the service; 9 goes first.", panel="Where it runs", ranged=True),
            "ge": 0,
            "le": 9,
        },
    )


@dataclass(frozen=True, kw_only=True)
class Json:
    """Say where a report goes as JSON."""

    json_file: str | None = field(
        default=None,
        metadata=spelled(
            "Write the report as JSON; - prints that alone.", panel="Output", flags=("--json",), metavar="FILE"
        ),
    )
