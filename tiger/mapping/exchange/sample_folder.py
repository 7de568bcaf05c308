"""A folder in which the samples of every call of a sampler are kept, each set a file that `tiger decode` reads."""

import json
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import dimod
import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.fingerprint import fingerprint
from tiger.model.problem import Problem
from tiger.model.seams import Samples
from tiger.model.text import read_text
from tiger.model.window import Window
from tiger.run import outfile

FIELD = "ising/samples"


@dataclass(frozen=True, slots=True)
class SampleFolder:
    """Keep samples of the models of a problem's windows, in files 0001.json, 0002.json, .. of a folder.

    A file is a dimod SampleSet. Its `info` has the fingerprint of the problem, the task and node of every variable, the
    task being null of slack bits, and where the tasks outside of the window were.
    """

    folder: Path
    problem: Problem
    fingerprint: str

    @classmethod
    def make(cls, folder: Path, problem: Problem) -> Self:
        """Make the folder for samples of a problem; raise InputError where there can be none."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise InputError(FIELD, f"expected a folder that can be written, got {str(folder)!r}: {error}") from None
        outfile.check(str(folder / "new.json"), FIELD)
        own = fingerprint(problem)
        if any(own not in read_text(path, FIELD) for path in list_files(folder)[:1]):
            wanted = "expected a new folder, or one with samples of this problem"
            raise InputError(FIELD, f"{wanted}, got samples of another in {str(folder)!r}")
        return cls(folder, problem, own)

    def of(self, problem: Problem) -> Self:
        """Return the folder for a problem of the same tasks and nodes, on fewer of them or with other weights."""
        return replace(self, problem=problem)

    def keep(self, window: Window, places: IntArray, bqm: dimod.BinaryQuadraticModel, samples: Samples) -> None:
        """Write the samples of a window's model, if any, to a file of their own; raises InputError where that fails."""
        if not len(samples.bits):
            return
        tasks, nodes = self.problem.tasks.names, self.problem.topology.names
        block = window.block
        pairs: list[tuple[str | None, str | None]] = [
            (tasks[block.tasks[k]], nodes[block.nodes[q]]) for k, q in np.argwhere(window.allowed).tolist()
        ]
        pairs += [(None, None)] * (bqm.num_variables - len(pairs))
        info = {
            "fingerprint": self.fingerprint,
            "variables": [list(pair) for pair in pairs],
            "mapping": {task: nodes[place] for task, place in zip(tasks, places.tolist(), strict=True)},
            "figures": dict(samples.figures),
        }
        energies = bqm.energies((samples.bits, range(bqm.num_variables)))
        sample_set = dimod.SampleSet.from_samples(samples.bits, dimod.BINARY, energies, info=info)
        text = json.dumps(sample_set.to_serializable())
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        """Write a text to a new file, which no other thread or run has, and which is there whole or not at all."""
        draft = self.folder / f".draft-{secrets.token_hex(8)}"
        outfile.write(str(draft), FIELD, text)
        try:
            number = len(list_files(self.folder)) + 1
            while not _link(draft, self.folder / f"{number:04}.json"):
                number += 1
        finally:
            draft.unlink(missing_ok=True)


def _link(draft: Path, path: Path) -> bool:
    """Give a file another name, unless there is one of that name; return whether it has it."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return False
    return True


def list_files(folder: Path) -> list[Path]:
    """Return the files of samples in a folder, in the order in which they were drawn."""
    return sorted(
        (path for path in folder.glob("*.json") if path.stem.isdecimal()), key=lambda path: (len(path.name), path.name)
    )
