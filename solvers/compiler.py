"""The numba compiler of kernels: it optimizes those that only other kernels call inside their callers alone.

By default numba optimizes every function and turns it into machine code, then links it into each function that calls
it and optimizes it there again. For kernels deep inside others that is most of the compilation, and for nothing.
"""

from collections.abc import Callable
from typing import TypeVar

import llvmlite.binding as llvm
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, StateDict
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.typed_passes import AnnotateTypes

Function = TypeVar("Function", bound=Callable[..., object])

ENVIRONMENT = "_ZN08NumbaEnv"


class OuterLibrary(JITCodeLibrary):
    """Hold a kernel that Python calls and that makes no arrays, optimized once with all that it calls.

    Numba's other passes prepare for the removal of reference counts, of which such a kernel has none.
    """

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        """Leave functions to the passes over the whole module."""
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Optimize the kernel and its callees."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class InnerLibrary(OuterLibrary):
    """Hold a kernel that kernels alone call, without machine code of its own."""

    def _optimize_final_module(self) -> None:
        """Keep the kernel for its callers, and build the address of its environment alone, which numba asks for."""
        self._shared_module = self._final_module
        for function in self._shared_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = llvm.Linkage.linkonce_odr
        variables = self._shared_module.global_variables
        addresses = [str(variable) for variable in variables if variable.name.startswith(ENVIRONMENT)]
        lines = [str(self._codegen._create_empty_module(self.name)), *addresses]
        self._final_module = llvm.parse_assembly("\n".join(lines))


@register_pass(mutates_CFG=False, analysis_only=True)
class ChooseLibrary(LoweringPass):
    """Choose how a function is built by the options that it is compiled with."""

    _name = "tiger_choose_library"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Create the library that the next pass fills; numba's own for kernels from Python that make arrays."""
        inner = state.flags.no_cpython_wrapper
        if inner or not state.flags.nrt:
            kind: type[OuterLibrary] = InnerLibrary if inner else OuterLibrary
            library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
            library.enable_object_caching()  # type: ignore[no-untyped-call]  # without annotations
            state.library = library
        return False


class Compiler(CompilerBase):
    """Compile as numba does, into libraries of our own."""

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's passes, with the choice of the library before the last steps."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ChooseLibrary, AnnotateTypes)
        passes.finalize()
        return [passes]


def widen_arguments(kernel: "Dispatcher[Function]") -> None:
    """Compile a kernel once for all integers that kernels call it with: of any width, constants or not.

    Numba compiles a function again for 32 bits, and for every constant that it is called with.
    """
    resolve = kernel.get_call_template

    def resolve_with_wide_integers(args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> object:
        return resolve(tuple(map(widen, args)), kws)

    kernel.get_call_template = resolve_with_wide_integers  # type: ignore[method-assign,assignment]  # numba asks the object


def widen(kind: types.Type) -> types.Type:
    """Return the type of 64-bit integers for constants and for narrower signed ones, and every other type itself."""
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind
