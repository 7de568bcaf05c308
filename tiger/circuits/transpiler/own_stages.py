"""Qiskit's own stages for a configuration, of which a comparison needs some alone."""

import copy
from functools import cached_property

from qiskit.transpiler import PassManager, PassManagerConfig, StagedPassManager
from qiskit.transpiler.passes import VF2PostLayout
from qiskit.transpiler.preset_passmanagers import common
from qiskit.transpiler.preset_passmanagers.clifford_t import clifford_t_pass_manager_legacy
from qiskit.transpiler.preset_passmanagers.plugin import PassManagerStagePluginManager

from tiger.circuits.transpiler.target import has_errors

# The level whose optimization ends with a search for better qubits, unless a layout method is named.
SEARCHING_LEVEL = 3


class OwnStages:
    """Build Qiskit's stages of a level when they are asked for: all of them take 5 ms, those that are needed half.

    `post_optimization` is the search for better qubits, None where the optimization itself has it or there is none.
    """

    def __init__(self, config: PassManagerConfig, level: int) -> None:
        """Take a configuration with a coupling map."""
        self._config, self._level = config, level
        self.post_optimization: PassManager | None = None

    @cached_property
    def layout(self) -> PassManager:
        """Return the stage that chooses a layout, and may route."""
        return self._build("layout", self._config.layout_method)

    @cached_property
    def routing(self) -> PassManager:
        """Return the stage that routes."""
        return self._build("routing", self._config.routing_method)

    @cached_property
    def translation(self) -> PassManager:
        """Return the stage that translates to the gates of the device."""
        return self._build("translation", self._config.translation_method)

    @cached_property
    def optimization(self) -> PassManager:
        """Return the stage that optimizes what is translated."""
        return self._build("optimization", self._config.optimization_method)

    def separate_search(self) -> None:
        """Make the search for better qubits a stage behind the optimization."""
        named = copy.copy(self._config)
        named.layout_method = "trivial"  # any that is named
        limits = common.get_vf2_limits(
            self._level, self._config.layout_method, self._config.initial_layout, exact_match=True
        )
        self.optimization = OwnStages(named, self._level).optimization
        search = VF2PostLayout(named.target, seed=-1, strict_direction=True, **limits._asdict())
        self.post_optimization = PassManager(search)

    def _build(self, stage: str, method: str | None) -> PassManager:
        """Return a stage as the presets have it."""
        if common.is_clifford_t_basis(self._config.basis_gates, self._config.target):
            whole = clifford_t_pass_manager_legacy(self._config, optimization_level=self._level)
            found: PassManager = getattr(whole, stage)
            return found
        plugins = PassManagerStagePluginManager()
        return plugins.get_passmanager_stage(stage, method or "default", self._config, optimization_level=self._level)


# What has stages to run a circuit through.
Preset = StagedPassManager | OwnStages


def build_own_preset(config: PassManagerConfig, level: int, seed: int, ours: str) -> OwnStages:
    """Return Qiskit's stages for a configuration with a device, and its defaults where a method is `ours`.

    The optimization is the one that runs later. Qiskit's ends with a search for better qubits where it chooses the
    layout itself; where the layout is `ours`, that search is the stage behind it, unless gates are approximated.
    """
    plain = copy.copy(config)
    plain.seed_transpiler = seed
    if plain.coupling_map is None:  # the presets route for a coupling map alone
        plain.coupling_map = plain.target.build_coupling_map()
    plain.layout_method = None if config.layout_method == ours else config.layout_method
    plain.routing_method = None if config.routing_method == ours else config.routing_method
    own = OwnStages(plain, level)
    if config.layout_method == ours and level == SEARCHING_LEVEL:
        limits = common.get_vf2_limits(level, plain.layout_method, plain.initial_layout, exact_match=True)
        # A finished circuit is optimized again, which may not approximate it twice.
        if limits.call_limit and has_errors(plain.target) and plain.approximation_degree == 1:
            own.separate_search()
    return own
