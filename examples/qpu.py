"""A quantum annealer's afternoon: estimate, submit within a budget, lose the connection once, and keep every sample.

    python examples/qpu.py                            on D-Wave's own mock of a Zephyr machine
    python examples/qpu.py --machine --seconds 0.5    on the QPU that D-Wave's configuration names

Needs pip install 'tiger-mapper[dwave]'. The mock has the timing that D-Wave publishes for an Advantage system, answers
after a twentieth of a second, and here loses its connection at its 25th submission.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import dimod
from dwave.cloud.testing.mocks import qpu_problem_timing_data
from dwave.system.testing import MockDWaveSampler

import tiger
from tiger.mapping.exchange.decode_windows import decode_windows
from tiger.mapping.exchange.sample_file import read_windows
from tiger.solvers.samplers.dwave import QpuSampler

HERE = Path(__file__).parent


class UnsteadyQpu(MockDWaveSampler):
    """D-Wave's mock, whose answers take `latency_s`, and whose connection is lost at submission `lost_at`, if any."""

    def __init__(self, lost_at: int | None = None, latency_s: float = 0.05) -> None:
        timing = {"problem_timing_data": qpu_problem_timing_data()}
        shape = {"topology_type": "zephyr", "topology_shape": [6, 4]}
        super().__init__(properties=timing, parameter_warnings=False, **shape)
        self.lost_at, self.latency_s, self.submissions = lost_at, latency_s, 0

    def sample(self, bqm: dimod.BinaryQuadraticModel, **options: object) -> dimod.SampleSet:
        """Return samples after a while, or lose the connection."""
        self.submissions += 1
        if self.submissions == self.lost_at:
            raise ConnectionError("the connection is lost")
        time.sleep(self.latency_s)
        return super().sample(bqm, **options)


def main(machine: MockDWaveSampler | None, seconds: float, folder: Path, reads: int = 100) -> tiger.Report:
    """Map the eleven tasks of the original tool on its mesh, and return the report."""
    tasks, mesh = HERE / "butko11.ram", HERE / "mesh_2x2_het.arc"
    qpu = QpuSampler(machine)
    asked = tiger.IsingParams(
        sampler={"num_reads": reads, "annealing_time": 50, "label": "butko11"}, qpu_time_s=seconds, samples=str(folder)
    )

    # Nothing is submitted: simulated annealing answers, with times by D-Wave's formula and the machine's figures.
    estimate = tiger.assign(tasks, mesh, solver=qpu, ising=replace(asked, dry_run=True, qpu_time_s=None)).sampling
    print(f"estimated: {estimate.calls} submissions, {estimate.access_time_s:.2f} s of QPU access time")

    report = tiger.assign(tasks, mesh, solver=qpu, ising=asked)
    drawn = report.sampling
    print(f"submitted: {drawn.calls} answers, {drawn.access_time_s:.2f} s; cost {report.cost:g}")
    for warning in report.warnings:
        print(f"warning: {warning}")

    # Later, on any machine and without an account; `tiger decode --samples FOLDER` does the same.
    kept = read_windows(folder)
    again = decode_windows(report.problem, kept)
    print(f"kept: {len(kept)} sample sets in {folder}, which come to cost {again.cost:g}")
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", action="store_true", help="ask the QPU that D-Wave's configuration names")
    parser.add_argument("--seconds", type=float, default=0.7, help="most seconds of QPU access time")
    parser.add_argument("--samples", type=Path, help="folder for the samples; a new temporary one without it")
    given = parser.parse_args()
    target = given.samples or Path(tempfile.mkdtemp(prefix="tiger-samples-"))
    main(None if given.machine else UnsteadyQpu(lost_at=25), given.seconds, target)
