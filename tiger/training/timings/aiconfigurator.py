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
from tiger.model.arrays import BoolArray, FloatArray
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
# Products of 16 bits are the same kernels in all frameworks, so that their times differ by clocks and data: with 8,192
# tokens on an A100 (peak 312 TFLOP/s) the fastest reach 298, medians 273. When a row of large products in fp8 on an
# H100 is left out and interpolated from those beside it, a tenth are more than 8 % off among medians, and 11 % among
# the fastest.
PRODUCT_QUANTILE = 0.5
# Kernels of attention and experts differ, and what one framework has not tuned (Mixtral's experts on an H100: 23 and
# 14 ms) says nothing of others. Left out as above, a tenth of attention on an H100 is 8.9 % off, among medians 9.4 %.
KERNEL_QUANTILE = 0.0
# Products of both types of 16 bits run at one rate on all of these, and the package has only one of them.
DTYPES: Mapping[Precision, str] = {"bf16": "bfloat16", "fp16": "bfloat16", "fp8": "fp8"}
WINDOW, LATENCY = "window_size", "latency"
# The package has latencies in milliseconds.
MS = 1e-3
Columns = Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """Describe the files of an operation: their name, what rows must have, the columns of sizes, and axes of these.

    `quantile` of the times of equal rows is taken, 0 the fastest.
    """

    name: str
    quantile: float
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
    """Return the rows of a device, one where several frameworks or versions have it; None where there are none."""
    dtype = DTYPES.get(key.dtype)
    if dtype is None:
        return None
    files = sorted(folder.glob(f"*/*/*/{TABLES[key.kind].name}.parquet"))
    parts = [part for file in files for part in _read(file, key, dtype)]
    return merge_rows(parts, TABLES[key.kind].quantile) if parts else None


def merge_rows(parts: Sequence[MeasuredRows], quantile: float) -> MeasuredRows:
    """Return rows of several tables, of equal ones a quantile of their seconds, 0 the fastest, 0.5 the median."""
    axes, seconds = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.lexsort((seconds, *axes.T))
    axes, seconds = axes[order], seconds[order]
    starts = np.flatnonzero(np.any(np.diff(axes, axis=0, prepend=-1.0), axis=1))
    ranks = quantile * (np.diff(starts, append=len(axes)) - 1)
    low, high = (seconds[starts + rounded(ranks).astype(np.int64)] for rounded in (np.floor, np.ceil))
    return axes[starts], (low + high) / 2


def _read(file: Path, key: TableKey, dtype: str) -> Iterator[MeasuredRows]:
    """Yield the rows of one file, if it has any; raise InputError with its path."""
    fault = f"cannot read {describe(str(file), 300)}"
    try:
        axes, seconds = _read_columns(file, key, dtype)
    except KeyError as error:
        raise InputError(FIELD, f"{fault}: expected a column {error.args[0]}, got none") from None
    except (OSError, ValueError, NotImplementedError) as error:
        raise InputError(FIELD, f"{fault}: {describe(str(error), 300)}") from None
    if not (np.all(np.isfinite(axes) & (axes > 0)) and np.all(np.isfinite(seconds) & (seconds > 0))):
        raise InputError(FIELD, f"{fault}: expected finite sizes and times > 0, got others")
    kept = _are_aligned(axes) if key.kind is Product else np.full(len(axes), True)
    if np.any(kept):
        yield axes[kept], seconds[kept]


def _read_columns(file: Path, key: TableKey, dtype: str) -> MeasuredRows:
    """Return the rows of a key in one file; raise KeyError without a column, and what pyarrow raises."""
    import pyarrow.parquet as parquet

    table = TABLES[key.kind]
    names = parquet.read_schema(file).names
    fixed: dict[str, str | int] = dict(table.fixed(dtype))
    if WINDOW in names:
        fixed[WINDOW] = key.window or 0
    elif key.window is not None:
        return np.empty((0, len(table.sizes))), np.empty(0)
    missing = next((name for name in (*fixed, *table.sizes, LATENCY) if name not in names), None)
    if missing is not None:
        raise KeyError(missing)
    filters = [(name, "=", value) for name, value in fixed.items()]
    read = parquet.read_table(file, columns=[*table.sizes, LATENCY], filters=filters)
    axes = table.axes({name: _floats(read, name) for name in table.sizes})
    return np.column_stack(axes), _floats(read, LATENCY) * MS


def _are_aligned(axes: FloatArray) -> BoolArray:
    """Return which products have a multiple of 8 tokens, or few.

    The package has 1, 2, .. 4096, 4097 tokens; odd numbers take longer, in fp8 by 15 %, and lie beside the even ones,
    so that what is between two rows would depend on which is nearer.
    """
    tokens = axes[:, 2]
    return np.asarray((tokens % 8 == 0) | (tokens < 64))


def _floats(read: "pyarrow.Table", name: str) -> FloatArray:
    """Return a column of numbers."""
    return np.asarray(read[name].to_numpy(), np.float64)


def _head_axes(columns: Columns) -> list[FloatArray]:
    """Return the widths of heads, values as wide as keys, the heads that share those of keys, and all heads."""
    head, heads = columns["head_dim"], columns["num_heads"]
    return [head, np.ones(len(head)), heads / columns["num_key_value_heads"], heads]


HEADS = ("head_dim", "num_heads", "num_key_value_heads", "batch_size")
EXPERTS = ("hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size", "num_tokens")
TABLES: Mapping[Kind, ParquetTable] = {
    Product: ParquetTable(
        "gemm_perf",
        PRODUCT_QUANTILE,
        lambda dtype: {"gemm_dtype": dtype},
        ("n", "k", "m"),
        lambda c: [c["n"], c["k"], c["m"]],
    ),
    Attention: ParquetTable(
        "context_attention_perf",
        KERNEL_QUANTILE,
        lambda dtype: {"attn_dtype": dtype, "kv_cache_dtype": dtype},
        (*HEADS, "isl"),
        lambda c: [*_head_axes(c), c["batch_size"], c["isl"]],
    ),
    # Products of the one new token are of 16 bits, whatever its cache is kept in.
    Decoding: ParquetTable(
        "generation_attention_perf",
        KERNEL_QUANTILE,
        lambda dtype: {"attn_dtype": "bfloat16", "kv_cache_dtype": dtype},
        (*HEADS, "step"),
        lambda c: [*_head_axes(c), c["batch_size"], c["step"]],
    ),
    ExpertBlocks: ParquetTable(
        "moe_perf",
        KERNEL_QUANTILE,
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
