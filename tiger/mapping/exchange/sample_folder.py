"""A folder in which the samples of every call of a sampler are kept, each set a file that `tiger decode` reads."""

import json
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
        except OSError as error:
            reason = f"expected a folder that can be written, got {str(folder)!r}: {error.strerror}"
            raise InputError(FIELD, reason) from None
        outfile.check(str(folder / "0001.json"), FIELD)
        return cls(folder, problem, fingerprint(problem))

    def of(self, problem: Problem) -> Self:
        """Return the folder for a problem of the same tasks and nodes, on fewer of them or with other weights."""
        return replace(self, problem=problem)

    def keep(self, window: Window, places: IntArray, bqm: dimod.BinaryQuadraticModel, samples: Samples) -> None:
        """Write the samples of a window's model to a file of their own; raises InputError where that fails."""
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
        outfile.write(str(self._next_file()), FIELD, f"{text}\n")

    def _next_file(self) -> Path:
        """Return a new file, which no other thread or run has."""
        number = len(list_files(self.folder))
        while True:
            number += 1
            path = self.folder / f"{number:04}.json"
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                continue
            except OSError as error:
                raise InputError(FIELD, f"expected a folder that can be written, got {error.strerror}") from None
            return path


def list_files(folder: Path) -> list[Path]:
    """Return the files of samples in a folder, in the order in which they were drawn."""
    return sorted(folder.glob("*.json"), key=lambda path: (len(path.name), path.name))
