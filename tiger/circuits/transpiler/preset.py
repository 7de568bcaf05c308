"""Qiskit's own preset beside mappings of ours: the best of all circuits by what its later stages make of them."""

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from qiskit.dagcircuit import DAGCircuit
from qiskit.passmanager import PropertySet
from qiskit.transpiler import (
    CouplingMap,
    PassManager,
    Target,
    TransformationPass,
    TranspilerError,
)
from qiskit.transpiler.passes import ApplyLayout

from tiger.circuits.transpiler.delivery import (
    NEVER,
    CircuitQuality,
    DeliveryObjective,
    are_equal,
    count_gates,
    deliver,
    measure,
    rank,
    run_stage,
    translate,
    weigh_depth,
)
from tiger.circuits.transpiler.exits import keeps_exits
from tiger.circuits.transpiler.faults import SET_ASIDE, is_as_careful, list_faults
from tiger.circuits.transpiler.lone import build_lone_placement
from tiger.circuits.transpiler.own_stages import Preset
from tiger.circuits.transpiler.panic import catch_panics, may_panic
from tiger.circuits.transpiler.passes import PLAIN, SAME, set_layout
from tiger.circuits.transpiler.quiet import quiet_qiskit
from tiger.circuits.transpiler.resynthesis import Judge, Trials, VariantStages, map_variants, try_variants
from tiger.circuits.transpiler.source import Source, remove_layout
from tiger.circuits.transpiler.target import has_errors, has_rates, listed_coupling

if TYPE_CHECKING:
    from tiger.circuits.transpiler.emission import Emission
    from tiger.routing.error_rates import Errors

SOURCE, PLACED, TRIALS = "tiger_source", "tiger_placed", "tiger_trials"


class Rivals(NamedTuple):
    """Hold stages that map a circuit, and the name of what they begin with, `SOURCE` or `PLACED`.

    `shallow` ones are for circuits that end deeper than Qiskit's, and where gates do not come first. `variants` map the
    circuit written in other ways, where they are there.
    """

    begin: str = SOURCE
    stages: tuple[PassManager, ...] = ()
    shallow: tuple[PassManager, ...] = ()
    variants: VariantStages | None = None


NO_RIVALS = Rivals()
# A routed circuit, and what it ends as.
Made = tuple[Source, CircuitQuality]


class TryVariants(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Map what is kept as `SOURCE` and other ways to write it quickly, and keep that as `TRIALS`.

    Where a variant has far fewer gates the circuit is taken as it was mapped quickly: there is a layout then, and no
    search in full has to follow.
    """

    def __init__(
        self, device: Target | CouplingMap, preset: Preset, quick: PassManager, objective: DeliveryObjective = "auto"
    ) -> None:
        """Take the device, Qiskit's own stages for it, stages that map a circuit quickly, and what counts."""
        super().__init__()
        self.device, self.preset, self.quick, self.objective = device, preset, quick, objective

    @quiet_qiskit()
    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the circuit, mapped or as it is."""
        judge = _build_judge(self.device, self.preset)
        trials = try_variants(self.property_set[SOURCE], self.quick, judge, self.objective)
        self.property_set[TRIALS] = trials
        if trials.known.mapped is None or not trials.are_far_apart:
            return dag
        self.property_set.update(trials.known.mapped.properties)
        # That of a lower level.
        self.property_set[PLAIN] = self.property_set[SAME] = None
        return trials.known.mapped.dag


class KeepBest(TransformationPass):  # type: ignore[misc]  # Qiskit has no types
    """Keep a routed circuit, or take another one where that ends better by the objective (`delivery.rank`).

    That is by two-qubit gates, then their depth, then estimated success; `depth` and `success` put theirs first.

    The others are those of Qiskit's own layout and routing and of `rivals`, which run where routing added gates. All
    pass through the translation and optimization stages of the preset. Qiskit starts from the circuit that is kept as
    `SOURCE`, else from the one on device qubits that is kept as `PLACED`, whose layout stays. A circuit of its on
    faulty pairs that the given one does without is not taken, and `SET_ASIDE` says so if it has fewer gates; nor is one
    with SWAPs in loops that are left early. Where the preset looks for better qubits after the optimization, a circuit
    on these is one more, and is finished already: Qiskit's choice rests on the gates that the optimization leaves.

    Where gates come first and the best circuit is ours but deeper than Qiskit's, the shallow rivals run, too, and of
    ours that are better than Qiskit's the one is taken that has the fewest gates by `weigh_depth`. In the table of
    `benchmarks/delivered.py` that took the three that were deeper at level 3, by 3 to 15 %, below Qiskit's depth. Where
    depth or success comes first, they are compared as the others are.
    """

    def __init__(
        self,
        device: Target | CouplingMap,
        preset: Preset,
        objective: DeliveryObjective = "auto",
        rivals: Rivals = NO_RIVALS,
    ) -> None:
        """Take the device, Qiskit's own stages for it, what counts, and other stages."""
        super().__init__()
        self.device, self.preset, self.objective, self.rivals = device, preset, objective, rivals

    @quiet_qiskit()
    def run(self, dag: DAGCircuit) -> DAGCircuit:
        """Return the circuit that ends best; the given one where others are as good."""
        keys = SOURCE, PLACED, PLAIN, TRIALS, SAME
        source, placed, plain, trials, same = (self.property_set.pop(key, None) for key in keys)
        begin = source if self.rivals.begin == SOURCE else placed
        # Rivals run where routing added gates.
        if begin is not None and count_gates(dag) <= count_gates(begin.dag):
            begin = None
        ours = [Source(dag, self.property_set), *_run_each(self.rivals.stages, begin)]
        # Qiskit's stages write into what they get, which the shallow rivals still have to begin with.
        begun = [None if each is None else each.copy() for each in (source, placed)]
        theirs = self._run_qiskit(begun[0], begun[1], plain)
        if theirs is not None and not keeps_exits((source or placed).dag, theirs.dag):
            theirs = None
        aside = theirs is not None and not is_as_careful(theirs.dag, dag, self.device)
        if theirs is not None and aside:
            fewer = count_gates(theirs.dag) < count_gates(dag)
            self.property_set[SET_ASIDE] = list_faults(theirs.dag, self.device) if fewer else None
            theirs = None
        if same and theirs is not None and self._compares_two(ours):
            # Qiskit's stages may have moved it to other qubits since, where no error rates say which are better.
            return self._take(theirs)
        # Blocks on the same qubits in another order count as equal, but Qiskit's optimization does not take them alike.
        if theirs is not None and not dag.control_flow_op_nodes() and are_equal(theirs.dag, dag):
            theirs = ours[0]
        variants = self._map_variants(source, trials, dag, theirs)
        alone = (
            len(ours) == 1
            and not variants
            and (theirs is None or theirs is ours[0])
            and self.preset.post_optimization is None
        )
        if alone and (begin is None or self.objective == "auto" or not self.rivals.shallow):
            return dag
        if theirs is not None and self._compares_two(ours):
            return self._take(self._choose_of_two(ours[0], theirs))
        begin = begin if trials is None or not trials.are_far_apart else None
        return self._take(self._choose(ours, variants, theirs, begin))

    def _take(self, best: Source) -> DAGCircuit:
        """Return a circuit, with what is known of it for the stages behind."""
        if best.properties is not self.property_set:
            said = self.property_set.pop(SET_ASIDE, None)
            self.property_set.clear()
            self.property_set.update(best.properties)
            if said:
                self.property_set[SET_ASIDE] = said
        return best.dag

    def _compares_two(self, ours: list[Source]) -> bool:
        """Return whether a circuit of ours and Qiskit's are all that there can be, and gates come first."""
        alone = len(ours) == 1 and not self.rivals.shallow and self.rivals.variants is None
        return alone and self.objective == "auto" and self.preset.post_optimization is None

    def _choose_of_two(self, ours: Source, theirs: Source) -> Source:
        """Return the circuit that ends with fewer gates; only where both have as many the others are counted.

        Where ours has fewer once it is translated it is not optimized here, which takes gates away and adds none.
        """
        try:
            with catch_panics():
                own = translate(self.preset, ours)
        except TranspilerError:
            return theirs
        try:
            with catch_panics():
                other = deliver(self.preset, theirs).dag
                fewest = count_gates(other)
                if count_gates(own.dag) < fewest:
                    return ours
                end = run_stage(self.preset.optimization, own).dag
        except TranspilerError:
            return ours
        if count_gates(end) != fewest:
            return ours if count_gates(end) < fewest else theirs
        errors = _errors_of(self.device)
        ranks = [rank(measure(each, errors), self.objective) for each in (end, other)]
        return ours if ranks[0] <= ranks[1] else theirs

    def _choose(
        self, ours: list[Source], variants: list[Source], theirs: Source | None, begin: Source | None
    ) -> Source:
        """Return which of our circuits, those written in other ways, and Qiskit's ends best.

        The shallow rivals run where they would without the circuits that are written in other ways, too.
        """
        errors = _errors_of(self.device)
        first, *others = (self._deliver(source, errors) for source in ours)
        known = first if theirs is ours[0] else [] if theirs is None else self._deliver(theirs, errors)
        made = [*first, *chain.from_iterable(others)]
        plain = min([*made, *known], key=self._rank)
        made += [each for source in variants for each in self._deliver(source, errors)]
        best = min([plain, *made], key=self._rank)
        own = min(known, key=self._rank, default=plain)
        if self.objective == "auto" and max(plain[1].depth, best[1].depth) <= own[1].depth:
            return best[0]
        made += [each for source in _run_each(self.rivals.shallow, begin) for each in self._deliver(source, errors)]
        if self.objective != "auto":
            return min([*made, *known], key=self._rank)[0]
        better = [each for each in made if self._rank(each) < self._rank(own)]
        return min(better, key=lambda each: (weigh_depth(each[1], own[1]), self._rank(each)))[0]

    def _map_variants(
        self, source: Source | None, trials: Trials | None, dag: DAGCircuit, theirs: Source | None
    ) -> list[Source]:
        """Return the best other ways to write a circuit, mapped as carefully as it is, and beside Qiskit's circuit."""
        if source is None or self.rivals.variants is None:
            return []
        judge = _build_judge(self.device, self.preset)
        trials = trials or try_variants(source, self.rivals.variants.quick, judge, self.objective)
        if not trials.variants:
            return []
        qiskit = None if theirs is None else judge(theirs)
        found = map_variants(trials, self.rivals.variants.full, self.objective, qiskit)
        return [each for each in found if is_as_careful(each.dag, dag, self.device)]

    def _rank(self, made: Made) -> tuple[float, ...]:
        """Return what circuits are compared by."""
        return rank(made[1], self.objective)

    def _run_qiskit(self, source: Source | None, placed: Source | None, plain: "Emission | None") -> Source | None:
        """Return what Qiskit's own stages route, None where they refuse or panic; `plain` is what SABRE made before."""
        try:
            with catch_panics():
                if source is not None:
                    found: Source | None
                    if plain is None or source.properties["sabre_starting_layouts"]:
                        found = self._lay_out(source)
                    else:
                        found = _place(source, plain)
                    return None if found is None else self._settle(run_stage(self.preset.routing, found))
                laid_out = None if placed is None else self._lay_out_again(placed)
                return None if laid_out is None else run_stage(self.preset.routing, laid_out)
        except TranspilerError:
            return None

    def _lay_out(self, source: Source) -> Source | None:
        """Return a circuit after Qiskit's own layout stage, None where that may panic."""
        if may_panic(source.dag, listed_coupling(self.device)):
            return None
        return run_stage(self.preset.layout, source)

    def _settle(self, source: Source) -> Source:
        """Return a circuit whose qubits that meet no other are in places that do not differ from call to call."""
        if not has_rates(self.device):
            return source
        return run_stage(build_lone_placement(self.device), source)

    def _lay_out_again(self, placed: Source) -> Source | None:
        """Return a circuit after Qiskit's own layout stage, which may route, where it gives the layout that it has.

        None where no layout is known: Qiskit's routing stage needs one.
        """
        source = remove_layout(placed)
        if source is None:
            return None
        qubits, layout = list(source.dag.qubits), placed.properties["layout"]
        found = self._lay_out(source)
        same = found is not None and all(found.properties["layout"][qubit] == layout[qubit] for qubit in qubits)
        return found if same else placed

    def _deliver(self, routed: Source, errors: "Errors | None") -> list[Made]:
        """Return a circuit and what it ends as, and the finished one on better qubits where there are some."""
        try:
            with catch_panics():
                end = deliver(self.preset, routed)
                made = [(routed, measure(end.dag, errors))]
                moved = self._move(end, frozenset(end.properties) - frozenset(routed.properties))
                if moved is not None:
                    made.append((moved, measure(deliver(self.preset, moved).dag, errors)))
        except TranspilerError:
            return [(routed, NEVER)]
        return made

    def _move(self, end: Source, added: frozenset[str]) -> Source | None:
        """Return a finished circuit on better qubits, None where there are none.

        `added` are the properties that its optimization has left. With these the next one would go back to the best
        circuit that the first has seen, which is on the other qubits.
        """
        if self.preset.post_optimization is None:
            return None
        found = run_stage(self.preset.post_optimization, end)
        if found.properties["post_layout"] is None:
            return None
        dag, properties = self._settle(run_stage(PassManager(ApplyLayout()), found))
        return Source(dag, PropertySet({key: value for key, value in properties.items() if key not in added}))


def _place(source: Source, plain: "Emission") -> Source:
    """Return a circuit as Qiskit's own layout stage leaves it where SABRE routes it so."""
    dag = set_layout(source.properties, source.dag, plain)
    # What that stage finds of the layout in order, without which level 1 looks for no better qubits.
    source.properties["is_swap_mapped"] = False
    return Source(dag, source.properties)


def _run_each(stages: tuple[PassManager, ...], begin: Source | None) -> list[Source]:
    """Return what stages make of a circuit, if there is one, those that refuse it left out."""
    found = list[Source]()
    if begin is None:
        return found
    for stage in stages:
        with suppress(TranspilerError):
            found.append(run_stage(stage, begin.copy()))
    return found


def _build_judge(device: Target | CouplingMap, preset: Preset) -> Judge:
    """Return what says what a routed circuit ends as."""
    errors = _errors_of(device)

    def judge(routed: Source) -> CircuitQuality:
        """Return that, infinitely bad where a stage refuses the circuit."""
        with suppress(TranspilerError), catch_panics():
            return measure(deliver(preset, routed).dag, errors)
        return NEVER

    return judge


def _errors_of(device: Target | CouplingMap) -> "Errors | None":
    """Return the error rates of a device that states some."""
    if isinstance(device, CouplingMap) or not has_errors(device):
        return None
    # Kernels are loaded where they are needed, and not with the plugin.
    from tiger.routing.error_rates import errors_of_target

    return errors_of_target(device).without_certainty()
