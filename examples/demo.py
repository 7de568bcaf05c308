"""Start the service, map two problems, a circuit and a network through it, print the gains, and draw the stencil.

Run by `make demo`; exits 0 when both mappings are cheaper than the launcher's order, the circuit takes no more CX gates
than with Qiskit alone, and the network runs faster than with as many layers in every stage.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from tiger.client import Client, ServiceError
from tiger.client.connection import BUSY
from tiger.plotting.picturefile import write
from tiger.run.progress import Progress
from tiger.run.report import Report

Result = TypeVar("Result")
HERE = Path(__file__).parent
PICTURE = Path("demo-mapping.png")
SERVE = (sys.executable, "-m", "tiger", "serve", "--port", "0")
# Seconds that an answer, and the work on it, may take while the service lives: others may keep the machine busy.
MOST_S = 86_400
# Seconds for a service that has hung up to be gone, and lines of its log that are shown where the service ends.
DEATH_S, LAST = 30, 10


def main() -> int:
    """Run the demonstration."""
    console = Console(soft_wrap=True)
    # Whatever proxy the user has knows nothing of it.
    os.environ["no_proxy"] = "127.0.0.1"
    with serve() as service, Client(service.url, key="", timeout_s=MOST_S) as client:
        console.print(f"The service answers at {service.url}/assign; its documentation is at {service.url}/docs")
        console.print("Its page is for browsers: `tiger serve`, then http://127.0.0.1:8000\n")
        tasks, mesh = HERE / "butko11.ram", HERE / "mesh_2x2_het.arc"
        original = service.ask("11 tasks", partial(client.assign, tasks, mesh, rule="levels", solver="neal"))
        stencil = service.ask("8x8 stencil", partial(client.assign, HERE / "stencil8x8.json", "torus:4x4x4", effort=8))
        circuit = service.ask("adder", partial(client.layout, HERE / "circuits/adder10.qasm", "grid:3x4"))
        # Its head costs as much as three and a half of its layers.
        place = partial(client.place, cluster="dgx:1", schedule="1f1b", microbatches=32, pipeline=8)
        network = service.ask("transformer", partial(place, HERE / "models/gpt2-medium.json"))
    show(console, "The original tool's 11 tasks on its heterogeneous 2x2 mesh, levels rule, neal", original)
    show(console, "An 8x8 stencil on a 4x4x4 torus, one task per node, auto", stencil)
    console.print("[bold]A ripple-carry adder of 10 qubits on a 3x4 grid of qubits[/bold]")
    console.print(
        f"  extra CX [bold]{circuit.extra_cx}[/bold], with Qiskit alone {circuit.baseline_extra_cx}, ", end=""
    )
    console.print(f"{circuit.seconds:.2f} s\n")
    uniform, iteration = network.uniform_iteration_s, network.iteration_s
    console.print("[bold]A transformer of 24 layers on the 8 GPUs of a DGX, 1F1B, 32 microbatches[/bold]")
    console.print(f"  iteration {1e3 * uniform:.1f} ms with 3 layers a stage -> ", end="")
    console.print(f"[bold]{1e3 * iteration:.1f} ms[/bold], layers {' '.join(str(len(s.ops)) for s in network.stages)}")
    console.print(f"  {network.seconds:.2f} s\n")
    write(stencil, PICTURE)
    console.print(f"The mapping of the stencil is drawn in {PICTURE}")
    cheaper = all(report.feasible and report.cost < report.baselines.best[1] for report in (original, stencil))
    return int(not (cheaper and circuit.extra_cx <= circuit.baseline_extra_cx and iteration < uniform))


class Service:
    """Wait for a service as long as its process lives, and say on one line of the terminal what it is doing.

    `process` prints the service's address to a pipe, and logs to the file `log`.
    """

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        self._process, self._log, self._read = process, log, 0
        self._asked, self._doing = "The service", "starting"
        with self._line():
            found = re.search("http://.*", process.stdout.readline() if process.stdout else "")
        if found is None:
            raise self._end("the service has not told its address")
        self.url = found[0]

    def ask(self, what: str, call: Callable[..., Result]) -> Result:
        """Return the answer to a call of the client, which tells its progress; SystemExit where there is none."""
        self._asked, self._doing = what, "waiting"
        with self._line():
            while True:
                try:
                    return call(progress=self._tell)
                except ServiceError as error:
                    if error.status is None:
                        raise self._end(str(error)) from None
                    if error.status not in BUSY:
                        raise SystemExit(f"{what}: {error}") from None
                    self._doing = error.detail

    def __rich__(self) -> Text:
        """Return the line: the newest of what the log says is compiled, and of the stages of the answer."""
        log = self._log.read_text(encoding="utf-8")
        for compiling in re.findall('"(compiling[^"]*)"', log[self._read :]):
            self._doing = compiling
        self._read = len(log)
        return Text(f"{self._asked}: {self._doing}", no_wrap=True, overflow="ellipsis")

    def _line(self) -> Status:
        """Show the line where there is a terminal, until the context ends."""
        return Console(stderr=True).status(self)

    def _tell(self, progress: Progress) -> None:
        """Take down which stage runs; of a limit of a day it is never far."""
        self._doing = progress.stage

    def _end(self, reason: str) -> SystemExit:
        """Return how the process has ended and what it logged last; a reason, where it lives."""
        try:
            code = self._process.wait(DEATH_S)
        except subprocess.TimeoutExpired:
            return SystemExit(reason)
        last = self._log.read_text(encoding="utf-8").splitlines()[-LAST:]
        return SystemExit("\n".join([f"the service ended with exit code {code}; the last that it logged:", *last]))


@contextmanager
def serve() -> Iterator[Service]:
    """Run `tiger serve` on a free port, and yield it once it answers."""
    # Its jobs are gone when it ends, and settings of the user's own have no part in it.
    own = {name: value for name, value in os.environ.items() if not name.startswith("TIGER_")}
    with tempfile.TemporaryDirectory() as folder:
        own |= {"TIGER_DATA_DIR": folder, "TIGER_MAX_TIME_S": str(MOST_S)}
        log = Path(folder, "log")
        with (
            log.open("w") as errors,
            subprocess.Popen(SERVE, stdout=subprocess.PIPE, stderr=errors, text=True, env=own) as process,
        ):
            try:
                yield Service(process, log)
            finally:
                process.terminate()


def show(console: Console, title: str, report: Report) -> None:
    """Print the costs and the stages of a report."""
    gap = "unknown, no useful bound" if report.gap is None else f"{100 * report.gap:.1f} %"
    console.print(f"[bold]{title}[/bold]")
    order, before = report.baselines.best
    console.print(f"  {order} order {before:g} -> [bold]{report.cost:g}[/bold], ", end="")
    console.print(f"lower bound {report.lower_bound:g}, gap {gap}, ", end="")
    console.print(f"{'proved optimal, ' if report.optimal else ''}{report.seconds:.2f} s")
    table = Table("stage", "cost after", "seconds")
    for stage in report.stages:
        table.add_row(stage.name, f"{stage.cost:g}", f"{stage.seconds:.3f}")
    console.print(table)
    console.print()


if __name__ == "__main__":
    sys.exit(main())
