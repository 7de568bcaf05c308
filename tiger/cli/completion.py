"""Values that shells complete: examples of every SPEC, beside files, and solvers.

They are written down here, and tests compare them with what there is: a shell asks anew at every key, and loading the
rooms that know takes half a second.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from tiger.model.spelling import Completion

TASKS = (
    *("halo:16x16,wrap=1", "ring:64", "alltoall:64", "fft:8x8", "tree-allreduce:64", "cg:8x8"),
    "parallel:tp=8,pp=4,dp=2",
)
MODELS = (
    "transformer:layers=24,hidden=1024,heads=16,vocabulary=50257,sequence=2048,flops=4e14",
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3.1-8b"),
    *("llama-3.1-70b", "llama-3.1-405b", "llama-3.2-3b", "llama-3.3-70b", "mistral-7b", "mixtral-8x7b"),
    *("mixtral-8x22b", "qwen2.5-7b", "qwen2.5-72b", "qwen3-8b", "qwen3-32b", "qwen3-30b-a3b"),
    *("qwen3-235b-a22b", "deepseek-v2-lite", "deepseek-v2", "deepseek-v3", "kimi-k2", "gpt-oss-20b"),
    *("gpt-oss-120b", "gemma-7b", "gemma-2-9b", "gemma-2-27b", "gemma-3-1b", "gpt-3-175b"),
)
TOPOLOGIES = (
    *("grid:4x4", "torus:8x8x8", "hypercube:10", "ring:8", "complete:8", "fat-tree:4", "dragonfly:4,2,9"),
    *("tree:4x8x8@1,10,100", "heavy-hex:7", "dgx:4"),
)
SOLVERS = (
    *("auto", "search", "exact", "greedy", "random", "identity", "neal", "tabu"),
    *("dwave", "leap-bqm", "leap-cqm", "leap-nl"),
)
SAMPLERS = "tiger.samplers"
# Files of a folder that are looked at, so that a large one does not hold the shell up.
FILES = 1000


def complete_tasks(incomplete: str) -> list[str]:
    """Return the patterns and the files that begin as stated."""
    return _beside_files(TASKS, incomplete)


def complete_models(incomplete: str) -> list[str]:
    """Return the models and the files that begin as stated."""
    return _beside_files(MODELS, incomplete)


def complete_topologies(incomplete: str) -> list[str]:
    """Return the kinds of hardware and the files that begin as stated."""
    return _beside_files(TOPOLOGIES, incomplete)


def complete_solvers(incomplete: str) -> list[str]:
    """Return the solvers that begin as stated, the samplers of other packages included."""
    known = dict.fromkeys((*SOLVERS, *(entry.name for entry in entry_points(group=SAMPLERS))))
    return _begin(known, incomplete)


COMPLETE: Mapping[Completion, Callable[[str], list[str]]] = {
    "tasks": complete_tasks,
    "models": complete_models,
    "topologies": complete_topologies,
    "solvers": complete_solvers,
}


def _beside_files(values: Iterable[str], incomplete: str) -> list[str]:
    """Return the values, with files beside them; nothing where files alone begin so, which shells complete better."""
    found = _begin(values, incomplete)
    return [*found, *_begin(_list_files(), incomplete)] if found else []


def _begin(values: Iterable[str], incomplete: str) -> list[str]:
    """Return the values that begin as stated."""
    return [value for value in values if value.startswith(incomplete)]


def _list_files() -> list[str]:
    """Return what is in this folder, folders with a slash, hidden files left out."""
    try:
        with os.scandir(Path()) as entries:
            some = [entry for entry, _ in zip(entries, range(FILES), strict=False)]
    except OSError:
        return []
    names = (f"{entry.name}/" if entry.is_dir() else entry.name for entry in some)
    return sorted(name for name in names if not name.startswith("."))
