"""Tests of the documentation: its code runs, and what its pages name exists.

A block of Python or bash is run as it stands, those of a page one after another in one folder, in which `examples` is
that of the project. A comment above a block says where that differs:

    <!-- run: slow -->             only with the slow tests
    <!-- run: slow, service -->    the same, with a service in the place of localhost:8000
    <!-- not run: REASON -->       never

A block with a `title` is a file. Pages on how to add something run in a copy of the project, to which a `diff` applies.
Pages that are run together share their folder, the service, and the process of their Python, where each has its own
names.
"""

import ast
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

from benchmarks import rooms
from benchmarks.__main__ import PAGES as PAGES_OF_TABLES
from benchmarks.__main__ import markdown, summarize
from benchmarks.summary import SUMMARIES
from tests.cli.lines import commands_of, parse

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"))
)
LANGUAGES = {"bash", "diff", "json", "nginx", "python", "text", "toml", "yaml"}
FENCE = re.compile(
    r"(?:<!-- (?P<mark>(?:not )?run: [^>]*?) -->\n)?"
    r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
HUNK = re.compile(r"^@@ -\d+,(?P<before>\d+) \+\d+,(?P<after>\d+) @@.*\n(?P<lines>(?:[ +-].*\n)+)", re.MULTILINE)
COPIED = ("tiger", "solvers", "partition", "api")


@dataclass(frozen=True, slots=True)
class Block:
    """Hold a fenced block, its mark and where it begins."""

    page: Path
    line: int
    language: str
    title: str | None
    code: str
    mark: str

    @property
    def never(self) -> bool:
        """Return whether it is never run."""
        return self.mark.startswith("not run")

    @property
    def slow(self) -> bool:
        """Return whether it is left to the slow tests."""
        return "slow" in self.mark and not self.never

    @property
    def quick(self) -> bool:
        """Return whether it is Python that the quick tests run."""
        return self.language == "python" and not (self.slow or self.never or self.title)


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """Return the blocks of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return tuple(
        Block(
            page,
            text.count("\n", 0, found.start("language")) + 1,
            found["language"],
            found["title"],
            found["code"],
            found["mark"] or "",
        )
        for found in FENCE.finditer(text)
    )


def copies(page: Path) -> bool:
    """Return whether a page's code runs in a copy of the project."""
    return page.parent.name == "extending"


QUICK = [page for page in PAGES if not copies(page) and any(block.quick for block in blocks(page))]
SLOW = [page for page in PAGES if copies(page) or any(block.slow for block in blocks(page))]
# The first takes minutes, and the others up to half a minute; other tests solve most of what they show one by one. What
# the start page shows is in README, and its Python among the quick tests.
LONG = [
    Path("examples/README.md"),
    Path("docs/index.md"),
    *(Path("docs/uses", name) for name in ("hardware.md", "local.md", "placement.md", "qiskit.md", "ranks.md")),
    *(Path("docs", name) for name in ("client.md", "operations.md", "samplers.md")),
]
TOGETHER = {
    "pages on how to add something": [page for page in SLOW if copies(page)],
    "other pages": [page for page in SLOW if not copies(page) and page not in LONG],
}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_block_is_fenced_and_of_a_known_language(page: Path) -> None:
    """So that no code escapes the tests: nothing is indented, and no fence is left without a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks(page))
    rest = FENCE.sub("", text)
    assert not re.search(
        r"\n\n    (?!options:)\S", re.sub(r"^ *[-*] .*?(?=\n\n\S)", "", rest, flags=re.MULTILINE | re.DOTALL)
    )


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_blocks_that_are_not_run_say_why_and_are_well_formed(page: Path) -> None:
    """Python that needs what is not here parses, and so do data."""
    parsers: dict[str, Callable[[str], object]] = {
        "python": ast.parse,
        "toml": tomllib.loads,
        "json": _documents,
        "yaml": yaml.safe_load,
    }
    for block in blocks(page):
        if block.never:
            assert len(block.mark.removeprefix("not run: ").split()) >= 2
        if block.language in parsers:
            parsers[block.language](block.code)


def _documents(code: str) -> list[object]:
    """Read one JSON document, or one a line."""
    return [json.loads(text) for text in ([code] if "\n " in code else code.splitlines())]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_objects_of_the_reference_exist(page: Path) -> None:
    """The site is built from docstrings of objects that are there; found in the source, since importing takes long."""
    for path in re.findall(r"^::: ([\w.]+)", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE):
        home, _, name = path.rpartition(".")
        if not rooms.is_module(home, name):
            file = ROOT.joinpath(*home.split("."))
            source = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
            stated = rf"^ *(def|class) {name}\b|^ +\"{name}\""
            assert re.search(stated, source.read_text(encoding="utf-8"), re.MULTILINE), path


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_files_that_a_page_names_exist(page: Path) -> None:
    """Paths in backticks and relative links lead somewhere, but for files that a page makes."""
    text = FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    named = re.findall(r"`((?:tiger|solvers|partition|api|tests|benchmarks|examples|docs|notebooks)/[\w./-]*)`", text)
    made = {block.title for block in blocks(page)}
    assert [path for path in named if not (ROOT / path).exists() and path not in made] == []
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_summary_is_that_of_its_tables(name: str) -> None:
    """`python -m benchmarks summary` writes it; that of README has at most twelve rows."""
    text = markdown(summarize(name))
    assert [
        page.name for page in PAGES_OF_TABLES if f"<!-- table: {name} -->\n{text}\n<!-- end -->" in page.read_text()
    ]
    assert name != "summary" or text.count("\n") <= 13


@pytest.mark.parametrize("page", QUICK, ids=str)
def test_quick_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python that is not left to the slow tests."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    for block in blocks(page):
        if block.quick:
            exec(compile(block.code, f"{page}:{block.line}", "exec"), names)


def test_commands_of_pages_parse() -> None:
    """All of `tiger` that a page shows, also those that are left to slow and long tests."""
    for page in PAGES:
        for block in blocks(page):
            for command in commands_of(block.code) if block.language == "bash" else []:
                parse(command)


@pytest.mark.parametrize("page", [page for page in PAGES if copies(page)], ids=str)
def test_changes_that_a_page_shows_apply(page: Path) -> None:
    """To the files as they are; the slow tests make the changes and run the result."""
    for block in blocks(page):
        if block.language == "diff":
            assert all(text != path.read_text(encoding="utf-8") for path, text in _change(ROOT, block.code))


def test_bug_a_change_applies_without_the_program_patch(tmp_path: Path) -> None:
    """To the only place that has its lines, whatever the number in front of it; Debian has no `patch` of its own."""
    (tmp_path / "new.py").write_text("a\nb\nc\n", encoding="utf-8")
    diff = "--- a/new.py\n+++ b/new.py\n@@ -7,2 +7,2 @@ def above\n-b\n+B\n c\n"
    assert list(_change(tmp_path, diff)) == [(tmp_path / "new.py", "a\nB\nc\n")]
    for wrong in (diff.replace("\n c", "\n d"), diff.replace("2 +", "3 +"), diff + "d\n"):
        with pytest.raises(AssertionError):
            list(_change(tmp_path, wrong))


@pytest.mark.slow
@pytest.mark.parametrize(
    "pages",
    [
        pytest.param(TOGETHER["pages on how to add something"], id="how to add", marks=pytest.mark.long),
        pytest.param(TOGETHER["other pages"], id="other pages"),
        *(pytest.param([page], id=str(page), marks=pytest.mark.long) for page in SLOW if page in LONG),
    ],
)
def test_all_code_of_pages_runs(pages: list[Path], tmp_path: Path) -> None:
    """Files, changes and commands of each in their order, README's command with its output, then all Python."""
    home = _copy_project(tmp_path / "project") if copies(pages[0]) else tmp_path
    if not copies(pages[0]):
        (home / "examples").symlink_to(ROOT / "examples")
    own = {page: [block for block in blocks(page) if not block.never] for page in pages}
    needed = any("service" in block.mark for block in itertools.chain(*own.values()))
    with _serve(tmp_path, needed=needed) as url:
        script, shown = "", []
        for page in pages:
            code = ""
            for block, below in itertools.pairwise([*own[page], None]):
                assert block is not None
                text = block.code.replace("localhost:8000", url.removeprefix("http://"))
                printed = _run_block(block, text, home)
                if page == Path("README.md") and below is not None and below.language == "text":
                    shown.append(printed.startswith(below.code))
                if block.language == "python" and not block.title:
                    code += text
            script += f"exec(compile({code!r}, {str(page)!r}, 'exec'), {{'__name__': '__page__'}})\n"
        _run([sys.executable, "-c", script], home)
    assert shown == [True] * (Path("README.md") in pages)


def _run_block(block: Block, code: str, home: Path) -> str:
    """Write a file, make a change or run a command, and return what it printed; leave Python for later."""
    if block.title:
        (home / block.title).write_text(code, encoding="utf-8")
    elif block.language == "diff":
        for path, text in _change(home, code):
            path.write_text(text, encoding="utf-8")
    elif block.language == "bash":
        return _run(["bash", "-euo", "pipefail", "-c", code], home)
    return ""


@pytest.mark.long
def test_the_figures_can_be_drawn_anew(tmp_path: Path) -> None:
    """All pictures but those of the page, of the architecture and of measured times."""
    _run([sys.executable, str(ROOT / "docs/scripts/figures.py"), str(tmp_path)], tmp_path)
    drawn = {path.name for path in (ROOT / "docs/images").iterdir() if not path.name.startswith("page")}
    elsewhere = {"anytime.svg", "architecture.svg", "islands.svg", "scaling.svg"}
    assert {path.name for path in tmp_path.iterdir()} == drawn - elsewhere


def _change(folder: Path, diff: str) -> Iterator[tuple[Path, str]]:
    """Yield each file that a unified diff changes, and its new text; AssertionError for one that does not fit."""
    above, *parts = re.split(r"^--- a/(.*)\n\+\+\+ b/\1\n", diff, flags=re.MULTILINE)
    assert not above
    for name, hunks in zip(parts[::2], parts[1::2], strict=True):
        text = (folder / name).read_text(encoding="utf-8")
        assert not HUNK.sub("", hunks), diff
        for hunk in HUNK.finditer(hunks):
            lines = hunk["lines"].splitlines(keepends=True)
            before, after = ([line[1:] for line in lines if line[0] in marks] for marks in (" -", " +"))
            assert (len(before), len(after)) == (int(hunk["before"]), int(hunk["after"])), diff
            assert text.count("".join(before)) == 1, diff
            text = text.replace("".join(before), "".join(after))
        yield folder / name, text


def _copy_project(folder: Path) -> Path:
    """Return a copy of the project, with its compiled kernels."""
    for name in (*COPIED, "examples"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    return folder


@contextmanager
def _serve(folder: Path, *, needed: bool) -> Iterator[str]:
    """Run a service with a data folder of its own where one is needed, and yield its address."""
    if not needed:
        yield ""
        return
    command = [sys.executable, "-m", "tiger", "serve", "--port", "0"]
    environment = _environment(ROOT) | {"TIGER_DATA_DIR": str(folder / "data"), "TIGER_WORKERS": "1"}
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as server,
    ):
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            yield line[line.index("http://") :].strip()
        finally:
            server.terminate()


def _environment(project: Path) -> dict[str, str]:
    """Return the environment in which `python` and `tiger` are those of the tests, and tiger that of a project."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TIGER_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"
    return own | {"PATH": path, "PYTHONPATH": str(project)}


def _run(command: list[str], folder: Path) -> str:
    """Run a command in a folder and return its output, or show what it printed where it fails."""
    project = folder if (folder / "tiger").exists() else ROOT
    made = subprocess.run(command, cwd=folder, env=_environment(project), capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{command[-1][:2000]}\n{made.stdout[-2000:]}{made.stderr[-4000:]}"
    return made.stdout
