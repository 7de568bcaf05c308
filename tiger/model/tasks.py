"""The task graph: what is to be placed, and how much its parts talk."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, check_amounts, check_names, check_whole, unset_array
from tiger.model.hyperedges import Hyperedges


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TaskGraph:
    """Hold n tasks and the traffic between them.

    `traffic[n, n]` is a CSR matrix of directed volumes (bytes or message counts, finite and >= 0). An undirected edge
    is one entry, in either direction, and counts once; parallel edges have been added up; an entry on the diagonal (a
    self-loop) costs traffic times the distance of a node to itself, which is 0 on every metric but a dense matrix that
    says otherwise. `work[n]` is compute in any unit (default 1 each), `memory[n]` whole bytes or None where memory
    plays no part. `directed` says whether the edges have a meaning as precedence, which the levels rule needs.
    `remarks` are what a reader found odd, for the warnings of reports. Where there are `hyperedges` these are what is
    sent, and the traffic is the graph that stands for them (`of_hyperedges`).
    """

    names: tuple[str, ...]
    traffic: sp.csr_array
    work: FloatArray = field(default_factory=unset_array)
    memory: IntArray | None = None
    directed: bool = True
    remarks: tuple[str, ...] = ()
    hyperedges: Hyperedges | None = None

    def __post_init__(self) -> None:
        """Check every bound and make the arrays read-only; raise InputError that names the field."""
        names = check_names("tasks", self.names)
        size = len(names)
        work = self.work if len(self.work) else np.ones(size)
        memory = None if self.memory is None else check_whole("tasks/memory", self.memory, size)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "traffic", _check_traffic(self.traffic, size))
        object.__setattr__(self, "work", check_amounts("tasks/work", work, size))
        object.__setattr__(self, "memory", memory)

    @classmethod
    def of_hyperedges(
        cls,
        names: tuple[str, ...],
        hyperedges: Hyperedges,
        work: FloatArray | None = None,
        memory: IntArray | None = None,
        remarks: tuple[str, ...] = (),
    ) -> "TaskGraph":
        """Return tasks whose traffic is hyperedges; fields and errors as of the class."""
        size = len(names)
        if hyperedges.pins.max(initial=0) >= size:
            raise InputError("tasks/hyperedges", f"expected task indices below {size}, got {hyperedges.pins.max()}")
        return cls(
            names=names,
            traffic=hyperedges.expand(size),
            work=unset_array() if work is None else work,
            memory=memory,
            directed=False,
            remarks=remarks,
            hyperedges=hyperedges,
        )

    @property
    def size(self) -> int:
        """Return n, the number of tasks."""
        return len(self.names)


def _check_traffic(traffic: sp.csr_array, size: int) -> sp.csr_array:
    """Return the traffic as a read-only canonical float64 CSR matrix without stored zeros."""
    matrix = sp.csr_array(traffic, dtype=np.float64, copy=True)
    if matrix.shape != (size, size):
        raise InputError(
            "tasks/traffic", f"expected a {size} x {size} matrix, got {matrix.shape[0]} x {matrix.shape[1]}"
        )
    bad = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0)))
    if bad.size:
        raise InputError("tasks/traffic", f"expected finite volumes >= 0, got {matrix.data[bad[0]]:g}")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    with np.errstate(over="ignore"):
        if not np.isfinite(matrix.data.sum()):
            raise InputError("tasks/traffic", "expected a finite total volume, got one beyond the range of float64")
    return seal(matrix)


def seal(matrix: sp.csr_array) -> sp.csr_array:
    """Make the arrays of a matrix read-only, and return it."""
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix
