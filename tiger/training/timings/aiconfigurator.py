"""Times of forward operations that the tables of `aiconfigurator-core` hold, as parquet files of devices.

Needs the extra `tiger-mapper[measured]`. A folder of a device has `OPERATION/FRAMEWORK/VERSION/TABLE.parquet`, with
milliseconds in the column `latency`. Attention is causal and starts without a cache; experts get equal shares of the
tokens.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.model.wording import describe
from tiger.training.precision import Precision
from tiger.training.timings.axes import Kind, TableKey
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Product
from tiger.training.timings.tables import MeasuredRows, TimeTable

if TYPE_CHECKING:
    import pyarrow

FIELD = "costs"
PACKAGE = "aiconfigurator"
# The folders of the package that are of devices which machines may have, by the names that these have there.
SYSTEMS: Mapping[str, str] = {
    "a100": "a100_sxm",
    "h100": "h100_sxm",
    "h200": "h200_sxm",
    "b200": "b200_sxm",
    "b300": "b300_sxm",
    "gb200": "gb200",
    "gb300": "gb300",
    "l40s": "l40s",
    "rtx-pro-6000": "rtx_pro_6000_server",
    "b60": "b60",
}
# Products of both types of 16 bits run at one rate on all of these, and the package has only one of them.
DTYPES: Mapping[Precision, str] = {"bf16": "bfloat16", "fp16": "bfloat16", "fp8": "fp8"}
MS = 1e-3
Columns = Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """Describe the files of an operation: their name, what rows must have, the columns of sizes, and axes of these."""

    name: str
    fixed: Callable[[str], Mapping[str, str]]
    sizes: Sequence[str]
    axes: Callable[[Columns], Sequence[FloatArray]]


def package_folder() -> Path:
    """Return the folder of devices in the package; raise InputError where it is not installed."""
    found = find_spec("aiconfigurator_core")
    places = found.submodule_search_locations if found is not None else None
    if not places:
        what = "expected aiconfigurator-core, pip install 'tiger-mapper[measured]', or a folder or file of times"
        raise InputError(FIELD, what)
    return Path(places[0]) / "systems" / "data"


@cache
def read_package(folder: Path) -> Mapping[str, TimeTable]:
    """Return the tables of the devices of an installed package, read once; none is read before it is asked for."""
    return read_folder(folder)


def read_folder(folder: Path) -> Mapping[str, TimeTable]:
    """Return the tables of the devices that a folder has, by their names; files are read when they are asked for.

    Raises InputError for a folder of none, and where pyarrow is missing.
    """
    tables = {
        name: TimeTable(partial(read_rows, folder / system))
        for name, system in SYSTEMS.items()
        if (folder / system).is_dir()
    }
    if not tables:
        known = ", ".join(SYSTEMS.values())
        raise InputError(FIELD, f"expected a folder with one of {known}, got none in {describe(str(folder), 300)}")
    if find_spec("pyarrow") is None:
        raise InputError(FIELD, "expected pyarrow to read parquet, pip install 'tiger-mapper[measured]'")
    return tables


def read_rows(folder: Path, key: TableKey) -> MeasuredRows | None:
    """Return the rows of a device, each the fastest that a framework has; None where there are none."""
    table, dtype = TABLES[key.kind], DTYPES.get(key.dtype)
    if dtype is None:
        return None
    parts = [part for file in sorted(folder.glob(f"*/*/*/{table.name}.parquet")) for part in _read(file, key, dtype)]
    if not parts:
        return None
    axes, seconds = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.lexsort(axes.T)
    axes, seconds = axes[order], seconds[order]
    starts = np.flatnonzero(np.any(np.diff(axes, axis=0, prepend=-1.0), axis=1))
    return axes[starts], np.minimum.reduceat(seconds, starts)


def _read(file: Path, key: TableKey, dtype: str) -> Iterator[MeasuredRows]:
    """Yield the rows of one file, if it has any."""
    import pyarrow.parquet as parquet

    table = TABLES[key.kind]
    try:
        names = parquet.read_schema(file).names
        filters: list[tuple[str, str, str | int]] = [(name, "=", value) for name, value in table.fixed(dtype).items()]
        # Without this column a framework knows of no window.
        if "window_size" in names:
            filters.append(("window_size", "=", key.window or 0))
        elif key.window is not None:
            return
        read = parquet.read_table(file, columns=[*table.sizes, "latency"], filters=filters)
    except (OSError, ValueError) as error:
        raise InputError(FIELD, f"cannot read {describe(str(file), 300)}: {describe(str(error), 300)}") from None
    if read.num_rows:
        columns = {name: _floats(read, name) for name in table.sizes}
        yield np.column_stack(table.axes(columns)), _floats(read, "latency") * MS


def _floats(read: "pyarrow.Table", name: str) -> FloatArray:
    """Return a column of numbers."""
    return np.asarray(read[name].to_numpy(), np.float64)


def _head_axes(columns: Columns) -> list[FloatArray]:
    """Return the widths of heads, the heads that share those of keys, and all heads."""
    head, heads = columns["head_dim"], columns["num_heads"]
    return [head, head, heads / columns["num_key_value_heads"], heads]


HEADS = ("head_dim", "num_heads", "num_key_value_heads", "batch_size")
EXPERTS = ("hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size", "num_tokens")
TABLES: Mapping[Kind, ParquetTable] = {
    Product: ParquetTable(
        "gemm_perf", lambda dtype: {"gemm_dtype": dtype}, ("n", "k", "m"), lambda c: [c["n"], c["k"], c["m"]]
    ),
    Attention: ParquetTable(
        "context_attention_perf",
        lambda dtype: {"attn_dtype": dtype, "kv_cache_dtype": dtype},
        (*HEADS, "isl"),
        lambda c: [*_head_axes(c), c["batch_size"], c["isl"]],
    ),
    # Products of the one new token are of 16 bits, whatever its cache is kept in.
    Decoding: ParquetTable(
        "generation_attention_perf",
        lambda dtype: {"attn_dtype": "bfloat16", "kv_cache_dtype": dtype},
        (*HEADS, "step"),
        lambda c: [*_head_axes(c), c["batch_size"], c["step"]],
    ),
    ExpertBlocks: ParquetTable(
        "moe_perf",
        lambda dtype: {"moe_dtype": dtype, "distribution": "balanced"},
        EXPERTS,
        lambda c: [
            c["hidden_size"],
            c["inter_size"] / c["moe_tp_size"],
            c["topk"],
            c["num_experts"],
            c["num_experts"] / c["moe_ep_size"],
            c["num_tokens"],
        ],
    ),
}
