"""D-Wave's quantum computers as a sampler of dense models.

Windows of a mapping problem are dense: a search for an embedding takes minutes there and finds longer chains than the
embedding of a clique, which is known by construction (Boothby, King, Roy, arXiv:1507.04774, for cliques on Chimera). So
a model of n variables is embedded as the clique of n variables, whatever its couplings are.

What a machine draws cannot be repeated: the law that the same seed gives the same mapping ends here.
"""

import weakref
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Protocol, cast

import dimod
import networkx as nx
import numpy as np
from dimod.core.composite import Composite
from dimod.core.sampler import Sampler
from dimod.core.structured import Structured

from tiger.errors import InputError
from tiger.model.seams import Figure
from tiger.solvers.samplers.cliques import CliqueEmbedding, Cliques
from tiger.solvers.samplers.cloud import release, translate_errors
from tiger.solvers.samplers.qpu_options import CHAINS, check_options, estimate_us, starts_from_mapping
from tiger.solvers.samplers.qpu_time import QpuTime

# The prefactor that Ocean takes for chain strengths too (dwave.embedding.chain_strength).
TORQUE = 1.414
# Reads of a sample without `num_reads`.
READS = 100
# Of simulated annealing where nothing is submitted: as many as in windows that it is asked for itself.
DRY_SWEEPS = 100


class GraphSampler(Protocol):
    """Sample models whose couplings are those of a working graph, as DWaveSampler and MockDWaveSampler do."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """Return the options by name."""
        ...

    @property
    def properties(self) -> Mapping[str, object]:
        """Return the properties that the machine publishes."""
        ...

    def to_networkx_graph(self) -> nx.Graph:
        """Return the working graph, a Chimera, Pegasus or Zephyr graph with whatever is missing from it."""
        ...

    def sample(self, bqm: dimod.BinaryQuadraticModel, **options: object) -> dimod.SampleSet:
        """Return samples, or the promise of them."""
        ...


class QpuSampler(Sampler):
    """Sample dense models on a D-Wave QPU by clique embedding.

    `machine` is one that D-Wave's configuration names unless it is given, and is connected to when first needed.
    `chain_strength` is in units of the model's energy in spins; without it, it is `torque` times the root mean square
    of the couplings times the root of the mean degree (uniform torque compensation, arXiv:2006.04913). Biases are left
    for the machine to scale to its range. Broken chains are read by majority. `info["figures"]` of an answer says what
    the embedding took. Several threads may sample at once.
    """

    tuned, concurrent = True, True

    def __init__(
        self, machine: GraphSampler | None = None, *, chain_strength: float | None = None, torque: float = TORQUE
    ) -> None:
        if not (chain_strength is None or chain_strength > 0) or not torque > 0:
            raise ValueError(f"expected a chain strength and a torque above 0, got {chain_strength} and {torque}")
        self._given, self._strength, self._torque = machine, chain_strength, torque
        self._embeddings: dict[int, CliqueEmbedding] = {}
        self._budget: QpuTime | None = None
        self._dry = False
        # The one from which this one is derived has the connection, and releases it.
        self._origin: QpuSampler | None = None

    def __reduce__(self) -> "tuple[partial[QpuSampler], tuple[GraphSampler | None]]":
        """Rebuild without the connection, which belongs to one process, as does a budget."""
        if self._budget is not None or self._dry:
            raise TypeError("expected a sampler without a budget, which belongs to one process")
        return partial(QpuSampler, chain_strength=self._strength, torque=self._torque), (self._given,)

    def limit(self, budget: QpuTime | None, *, dry: bool) -> "QpuSampler":
        """Return the same within a budget of QPU access time, and where `dry`, with nothing submitted at all.

        Simulated annealing answers in place of the machine then, and figures have estimated times.
        """
        with translate_errors():
            # Found once for all that is derived from this one.
            _ = self._cliques
        sampler = object.__new__(type(self))
        sampler.__dict__.update(self.__dict__)
        sampler._budget, sampler._dry, sampler._origin = budget, dry, self
        return sampler

    @property
    def parameters(self) -> dict[str, list[str]]:
        """Return the options of `sample`; a QPU has no temperatures, sweeps or seed to set. Connects to the machine."""
        with translate_errors():
            return {name: [] for name in ("num_reads", *CHAINS, *self._machine.parameters)}

    @property
    def properties(self) -> dict[str, object]:
        """Return the machine's properties and the most variables; connects to the machine."""
        with translate_errors():
            return {"child_properties": dict(self._machine.properties), "max_variables": self.max_variables}

    @property
    def max_variables(self) -> int:
        """Return how many variables a model may have, those of the largest clique of the working graph.

        On a working graph that is new to this computer and not perfect, the first call takes up to minutes (Pegasus).
        """
        with translate_errors():
            return self._cliques.largest

    def check_options(self, options: Mapping[str, object]) -> None:
        """Raise InputError of `ising/sampler/NAME` for an option of `sample` that the machine does not take."""
        with translate_errors():
            check_options(options, self._machine.parameters, self._machine.properties)
            if starts_from_mapping(options) and isinstance(self._machine, Stack):
                # Layers such as a spin reversal transform change the model alone.
                wanted = "expected none under a composed sampler, which does not pass on the state to begin with"
                raise InputError("ising/sampler/initial_state", f"{wanted}, got one")

    def sample(self, bqm: dimod.BinaryQuadraticModel, *, num_reads: int = READS, **options: object) -> dimod.SampleSet:
        """Return `num_reads` samples; raises InputError, before anything is submitted, above `max_variables`.

        `options` are those of the machine (`tiger.solvers.samplers.qpu_options`), `chain_strength` and `torque`, which
        go before those of the sampler, and `initial_state`, the value of every variable.
        """
        if bqm.num_variables > self.max_variables:
            limit = f"expected at most {self.max_variables} variables, the largest clique of the QPU's working graph"
            raise InputError("solver", f"{limit}, got a model of {bqm.num_variables}: take smaller windows")
        spins = bqm.change_vartype(dimod.SPIN, inplace=False)
        spins.relabel_variables(dict(zip(bqm.variables, range(bqm.num_variables), strict=True)))
        strength = self._chain_strength(spins, options)
        asked: dict[str, object] = {"num_reads": num_reads}
        asked |= {name: value for name, value in options.items() if name not in CHAINS}
        with translate_errors():
            embedding = self._embedding(bqm.num_variables)
            estimate_s = self._estimate_s(embedding, asked) if self._budget or self._dry else None
            if "initial_state" in asked:
                state = cast(Mapping[object, int], asked["initial_state"])
                spin = {k: 2 * (state[label] > 0) - 1 for k, label in enumerate(bqm.variables)}
                asked["initial_state"] = {qubit: spin[k] for k, chain in embedding.structure.items() for qubit in chain}
            claimed_s = self._budget.claim(estimate_s) if self._budget else 0.0
            used_s: float | None = None
            try:
                if self._dry:
                    sample_set, used_s = self._sample_locally(spins, num_reads), estimate_s
                else:
                    sample_set, used_s = self._submit(embedding, spins, strength, asked)
            finally:
                if self._budget:
                    self._budget.settle(claimed_s, used_s)
        figures = _figures(embedding, sample_set) | {"chain_strength": strength}
        sample_set.info["figures"] = figures if used_s is None else figures | {"qpu_access_time_us": used_s * 1e6}
        sample_set.relabel_variables(dict(enumerate(bqm.variables)))
        sample_set.change_vartype(bqm.vartype)
        return sample_set

    def _submit(
        self,
        embedding: CliqueEmbedding,
        spins: dimod.BinaryQuadraticModel,
        strength: float,
        options: dict[str, object],
    ) -> tuple[dimod.SampleSet, float | None]:
        """Return the machine's samples of a model, and the seconds of access time that it states."""
        from dwave.embedding import unembed_sampleset

        # Every read comes back by itself, so that shares of reads are right.
        mode = {"answer_mode": "raw"} if "answer_mode" in self._machine.parameters else {}
        answer = self._machine.sample(embedding.embed(spins, strength), **options, **mode)
        answer.resolve()
        sample_set: dimod.SampleSet = unembed_sampleset(answer, embedding.structure, spins, chain_break_fraction=True)
        used_us = sample_set.info.get("timing", {}).get("qpu_access_time")
        return sample_set, None if used_us is None else float(used_us) / 1e6

    def _sample_locally(self, spins: dimod.BinaryQuadraticModel, num_reads: int) -> dimod.SampleSet:
        """Return samples of simulated annealing."""
        from dwave.samplers import SimulatedAnnealingSampler

        sample_set: dimod.SampleSet = SimulatedAnnealingSampler().sample(
            spins, num_reads=num_reads, num_sweeps=DRY_SWEEPS, seed=0
        )
        return sample_set

    def _estimate_s(self, embedding: CliqueEmbedding, options: Mapping[str, object]) -> float | None:
        """Return the seconds of access time that a submission is expected to take, None where nothing is published."""
        us = estimate_us(self._machine.properties, embedding.qubits, options)
        return None if us is None else us / 1e6

    def _chain_strength(self, spins: dimod.BinaryQuadraticModel, options: Mapping[str, object]) -> float:
        """Return the coupling that holds chains together; options go before what the sampler was made with."""
        from dwave.embedding.chain_strength import uniform_torque_compensation

        strength = options.get("chain_strength", None if "torque" in options else self._strength)
        if strength is not None:
            return float(cast(float, strength))
        return float(uniform_torque_compensation(spins, prefactor=options.get("torque", self._torque))) or 1.0

    def _embedding(self, size: int) -> CliqueEmbedding:
        """Return the embedding of the clique of variables 0..size-1, found once."""
        from dwave.embedding import EmbeddedStructure

        if size not in self._embeddings:
            self._embeddings[size] = CliqueEmbedding(EmbeddedStructure(self._graph.edges, self._cliques.find(size)))
        return self._embeddings[size]

    @cached_property
    def _machine(self) -> GraphSampler:
        """Return the machine, connected to."""
        if self._given is not None:
            return self._given
        from dwave.system import DWaveSampler

        connection = DWaveSampler()
        weakref.finalize(self, release, connection).atexit = False
        machine: GraphSampler = connection
        return machine

    @cached_property
    def _graph(self) -> nx.Graph:
        """Return the working graph."""
        return self._machine.to_networkx_graph()

    @cached_property
    def _cliques(self) -> "Cliques":
        """Return the clique embeddings of the working graph."""
        return Cliques(self._graph)


class Stack:
    """Sample through layers on top of a machine, such as a spin reversal transform, as the machine itself does."""

    def __init__(self, top: Sampler, machine: GraphSampler) -> None:
        self.parameters: Mapping[str, object] = top.parameters
        self.properties, self.to_networkx_graph = machine.properties, machine.to_networkx_graph
        self._sample = top.sample

    def sample(self, bqm: dimod.BinaryQuadraticModel, **options: object) -> dimod.SampleSet:
        """Return samples, or the promise of them."""
        sample_set: dimod.SampleSet = self._sample(bqm, **options)
        return sample_set


def adapt(sampler: Sampler) -> Sampler:
    """Return clique embedding on the D-Wave machine under a sampler; one without such a machine is returned as it is.

    Of composed samplers the layers below the last that embeds are kept. Raises InputError for one that would search for
    embeddings into another structure, which takes minutes for dense models.
    """
    layers = _layers(sampler)
    depth = max((k for k, layer in enumerate(layers) if isinstance(layer, Structured)), default=None)
    if depth is None:
        return sampler
    machine = cast(GraphSampler, layers[depth])
    embedding = [k for k, layer in enumerate(layers[:depth]) if _embeds(layer)]
    if "family" in machine.to_networkx_graph().graph:
        top = embedding[-1] + 1 if embedding else 0
        return QpuSampler(machine if top == depth else Stack(layers[top], machine))
    if not embedding:
        return sampler
    what = "expected a sampler of any couplings, or one on a D-Wave machine (Chimera, Pegasus or Zephyr graph)"
    name = type(layers[embedding[0]]).__name__
    raise InputError("solver", f"{what}, got {name} on a structure of its own, into which dense models hardly embed")


def _layers(sampler: Sampler) -> list[Sampler]:
    """Return a sampler and those that it is composed of, the outermost first."""
    layers: list[Sampler] = []
    child: Sampler | None = sampler
    while isinstance(child, Sampler) and all(child is not layer for layer in layers):
        layers.append(child)
        children = child.children if isinstance(child, Composite) else [getattr(child, "child", None)]
        child = next(iter(children), None)
    return layers


def _embeds(layer: Sampler) -> bool:
    """Return whether a layer has another structure than the one below it."""
    # The size of the largest clique, a property of DWaveCliqueSampler, may take minutes to work out.
    clique = hasattr(type(layer), "largest_clique_size")
    return clique or hasattr(layer, "target_structure") or isinstance(layer, Structured)


def _figures(embedding: CliqueEmbedding, sample_set: dimod.SampleSet) -> dict[str, Figure]:
    """Return figures of an embedding: qubits, the longest chain, and broken chains where there were any chains."""
    record = sample_set.record
    figures: dict[str, Figure] = {
        "qubits": embedding.qubits,
        "max_chain_length": embedding.structure.max_chain_length,
    }
    if "chain_break_fraction" in record.dtype.names:
        broken = np.average(record.chain_break_fraction, weights=record.num_occurrences)
        figures["chain_break_fraction"] = float(broken)
    return figures
