"""What there is on this machine of all that TIGER needs or can use."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final, Literal

from tiger import __version__
from tiger.cli import variables
from tiger.errors import InputError
from tiger.model.document import Document
from tiger.model.units import bytes_text

SCHEMA: Final = "tiger.doctor/1"
DISTRIBUTION = "tiger-mapper"
# Extras that people use; the others are for those who work on TIGER.
EXTRAS = ("dask", "dwave", "plot", "postgres")
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)[^;]*(?:;.*extra == ['\"](?P<extra>\w+)['\"])?")
SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Document):
    """Hold what was found of one thing: its value, whether that is well, and what to do where it is not.

    `needed` says that TIGER, or what has been set, does not work without it.
    """

    name: str
    value: str
    good: bool = True
    needed: bool = False
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(Document):
    """Hold all findings; `good` says that all that is needed works."""

    schema: Literal["tiger.doctor/1"] = field(default=SCHEMA, init=False, repr=False)
    good: bool = field(init=False)
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        """Work out whether all that is needed works."""
        object.__setattr__(self, "good", all(finding.good for finding in self.findings if finding.needed))


def diagnose() -> Diagnosis:
    """Look at versions, kernels, solvers, the service's settings and database, tools and the machine."""
    checks = (_look_at_versions, _look_at_kernels, _look_at_solvers, _look_at_service, _look_at_tools, _look_at_machine)
    return Diagnosis(findings=tuple(finding for check in checks for finding in check()))


def _look_at_versions() -> Iterator[Finding]:
    """Yield the versions of Python, of TIGER, of what it needs, and of its extras."""
    yield Finding(name="python", value=platform.python_version(), needed=True)
    yield Finding(name="tiger", value=__version__, needed=True)
    try:
        stated = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        yield Finding(name=DISTRIBUTION, value="run from its source", good=False, advice="python -m pip install .")
        return
    for text in stated:
        found = _REQUIREMENT.match(text)
        if found is not None and (found["extra"] is None or found["extra"] in EXTRAS):
            yield _look_for(found["name"], found["extra"])


def _look_for(package: str, extra: str | None) -> Finding:
    """Return the version of a package that is needed, or that an extra has."""
    try:
        return Finding(name=package, value=version(package), needed=extra is None)
    except PackageNotFoundError:
        wanted = DISTRIBUTION if extra is None else f"'{DISTRIBUTION}[{extra}]'"
        advice = f"pip install {wanted}"
        return Finding(name=package, value="not installed", good=False, needed=extra is None, advice=advice)


def _look_at_kernels() -> Iterator[Finding]:
    """Yield how many kernels are compiled, and where others would be kept; none is compiled for that."""
    from tiger.cli.warm import COMMANDS, list_missing, stages_of
    from tiger.solvers.kernel_folders import REMEDY, find_place

    stages = stages_of(set(COMMANDS))
    missing, place = list_missing(stages), find_place()
    value = f"{len(stages) - len(missing)} of {len(stages)} groups compiled"
    ahead = "tiger warm, or " if place.lasts else ""
    advice = f"{ahead}the first use compiles: {', '.join(missing)}" if missing else ""
    yield Finding(name="kernels", value=value, good=not missing, advice=advice)
    value = str(place.folder) if place.lasts else f"cannot be written to: {place.name_unwritable()}"
    good = place.lasts or not missing
    yield Finding(name="kernel cache", value=value, good=good, advice="" if good else REMEDY)


def _look_at_solvers() -> Iterator[Finding]:
    """Yield the solvers that can be used here, and whether D-Wave's software finds a token."""
    from tiger.solvers.registry import DWAVE, list_solvers
    from tiger.solvers.samplers.cloud import find_token

    names = [solver.name for solver in list_solvers() if solver.name not in DWAVE]
    yield Finding(name="solvers", value=", ".join(names), needed=True)
    try:
        found = find_token()
    except InputError as error:
        yield Finding(name="D-Wave's solvers", value="not at hand", good=False, advice=error.reason)
        return
    advice = "" if found else "set DWAVE_API_TOKEN, or run `dwave config create`"
    yield Finding(name="D-Wave's token", value="set" if found else "not set", good=found, advice=advice)


def _look_at_service() -> Iterator[Finding]:
    """Yield the variables that are set, those that may be misspelt, and the service's database."""
    from tiger.api.settings import load

    known = variables.list_set(os.environ)
    yield Finding(name="variables", value=", ".join(known) or "none set")
    for name, near in variables.list_misspelt(os.environ):
        yield Finding(name=name, value="not a variable of TIGER", good=False, advice=f"did you mean {near}?")
    try:
        url = load().store_url
    except InputError as error:
        yield Finding(name=error.field, value="cannot be used", good=False, needed=True, advice=error.reason)
        return
    yield _look_at_file(Path(url.removeprefix(SQLITE))) if url.startswith(SQLITE) else _reach(url)


def _look_at_file(file: Path) -> Finding:
    """Return whether SQLite can write its file, or make it; that is not done here."""
    # Not `exists` of a path, which raises where a folder above may not be looked into.
    place = next(path for path in (file, *file.absolute().parents) if os.path.exists(path))  # noqa: PTH110 (as in api/settings)
    good = os.access(place, os.W_OK) and (place.is_dir() if place != file else place.is_file())
    advice = "" if good else f"cannot be written: {place}; set TIGER_DATA_DIR to another folder"
    return Finding(name="database", value=f"SQLite, {file}", good=good, needed=True, advice=advice)


def _reach(url: str) -> Finding:
    """Return whether a database of PostgreSQL answers; its URL may hold a password, and is not shown."""
    from tiger.api.jobs.database import Database
    from tiger.api.seams.job import DatabaseDownError

    try:
        database = Database(url)
    except InputError as error:
        return Finding(name=error.field, value="cannot be used", good=False, needed=True, advice=error.reason)
    try:
        with database.read():
            return Finding(name="database", value="PostgreSQL, answers", needed=True)
    except DatabaseDownError:
        advice = "check TIGER_DATABASE_URL and whether its server runs"
        return Finding(name="database", value="PostgreSQL, no answer", good=False, needed=True, advice=advice)
    finally:
        database.close()


def _look_at_tools() -> Iterator[Finding]:
    """Yield the C compiler and MPI, which the examples and programs with reordered ranks are built by."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    launcher = next(filter(None, map(shutil.which, ("mpirun", "srun", "mpiexec"))), None)
    for name, path in (("C compiler", compiler), ("MPI launcher", launcher)):
        advice = "" if path else "only for programs of your own: TIGER needs none"
        yield Finding(name=name, value=path or "none", good=path is not None, advice=advice)


def _look_at_machine() -> Iterator[Finding]:
    """Yield the processors and the memory."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding(name="processors", value=f"{usable} of {os.cpu_count()}, {platform.machine()} {sys.platform}")
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    yield Finding(name="memory", value=bytes_text(size))
