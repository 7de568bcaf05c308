"""The embeddings of cliques on a QPU: found once for a working graph, and models laid out on them."""

from functools import cached_property
from pickle import UnpicklingError
from typing import TYPE_CHECKING

import dimod
import networkx as nx
import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from dwave.embedding import EmbeddedStructure


class Cliques:
    """Find the clique embeddings of a Chimera, Pegasus or Zephyr graph: `largest` is the size of the largest.

    Busclique finds those of every size at once and keeps them in a file of its own, where there can be one.
    """

    def __init__(self, graph: nx.Graph) -> None:
        from minorminer.busclique import busgraph_cache

        if "family" not in graph.graph:
            raise InputError("solver", "expected the working graph of a QPU (Chimera, Pegasus or Zephyr), got another")
        self._found = busgraph_cache(graph)
        try:
            self.largest = len(self._found.largest_clique())
        except (OSError, EOFError, UnpicklingError):
            # Its other way to do without a file finds one size a call, and crashes on sizes far above the largest.
            self._found._fetch_cache = lambda _, find: find()
            self.largest = len(self._found.largest_clique())

    def find(self, size: int) -> dict[int, tuple[int, ...]]:
        """Return the qubits of the variables 0..size-1 of a clique; empty above the largest."""
        chains: dict[int, tuple[int, ...]] = self._found.find_clique_embedding(size)
        return chains


class CliqueEmbedding:
    """Hold the embedding of the clique of variables 0..n-1: `chains[k]` are the qubits of one, joined in `structure`.

    Every pair of variables has couplers between its chains, so that the layout of models is the same for all of them.
    """

    def __init__(self, structure: "EmbeddedStructure") -> None:
        self.structure = structure
        self.size = len(structure)

    @property
    def qubits(self) -> int:
        """Return how many qubits the chains have."""
        return len(self._qubits)

    def embed(self, spins: dimod.BinaryQuadraticModel, strength: float) -> dimod.BinaryQuadraticModel:
        """Return a model of spins 0..n-1 on the qubits, with couplings of -strength within chains; O(couplers).

        As `EmbeddedStructure.embed_bqm` does, in a fortieth of its time: biases are shared evenly by the qubits of a
        chain, couplings by the couplers between two of them.
        """
        vectors = spins.to_numpy_vectors(range(self.size))
        low, high = np.minimum(*vectors.quadratic[:2]), np.maximum(*vectors.quadratic[:2])
        coupling = np.zeros((self.size, self.size))
        coupling[low, high] = vectors.quadratic.biases
        between = coupling[self._pair[:, 0], self._pair[:, 1]] * self._share
        values = np.concatenate([between, np.full(len(self._within), -strength)])
        linear = vectors.linear_biases[self._owner] / self._length[self._owner]
        ends = np.concatenate([self._between, self._within])
        offset = float(spins.offset) + strength * len(self._within)
        used = values != 0
        model = dimod.BinaryQuadraticModel.from_numpy_vectors(
            linear, (ends[used, 0], ends[used, 1], values[used]), offset, dimod.SPIN
        )
        model.relabel_variables(dict(enumerate(self._qubits.tolist())))
        return model

    @cached_property
    def _length(self) -> IntArray:
        """Return the length of each chain."""
        return np.array([len(self.structure[k]) for k in range(self.size)], np.int64)

    @cached_property
    def _qubits(self) -> IntArray:
        """Return the qubits, chain by chain."""
        return np.concatenate([np.array(self.structure[k], np.int64) for k in range(self.size)])

    @cached_property
    def _owner(self) -> IntArray:
        """Return the variable of each qubit."""
        return np.repeat(np.arange(self.size), self._length)

    @cached_property
    def _within(self) -> IntArray:
        """Return the two qubits, by number, of each coupler within a chain."""
        return self._number([edge for k in range(self.size) for edge in self.structure.chain_edges(k)])

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of variables."""
        return [(low, high) for high in range(self.size) for low in range(high)]

    @cached_property
    def _counts(self) -> IntArray:
        """Return how many couplers each pair of variables has."""
        return np.array([len(list(self.structure.interaction_edges(*pair))) for pair in self._pairs], np.int64)

    @cached_property
    def _pair(self) -> IntArray:
        """Return the two variables of each coupler between chains."""
        return np.repeat(np.array(self._pairs, np.int64).reshape(-1, 2), self._counts, axis=0)

    @cached_property
    def _share(self) -> FloatArray:
        """Return the part of a coupling that each coupler between chains has."""
        return np.repeat(1.0 / np.maximum(self._counts, 1), self._counts)

    @cached_property
    def _between(self) -> IntArray:
        """Return the two qubits, by number, of each coupler between chains."""
        return self._number([edge for pair in self._pairs for edge in self.structure.interaction_edges(*pair)])

    def _number(self, edges: list[tuple[int, int]]) -> IntArray:
        """Return the numbers of qubits at the ends of edges."""
        number = {qubit: k for k, qubit in enumerate(self._qubits.tolist())}
        return np.array([[number[u], number[v]] for u, v in edges], np.int64).reshape(-1, 2)
