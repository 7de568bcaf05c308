"""Tables of devices as aiconfigurator-core has them; small ones of our own, and the package where it is installed."""

from importlib.util import find_spec

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.timings import aiconfigurator
from tiger.training.timings.aiconfigurator import SYSTEMS, merge_rows, read_folder
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Product
from tiger.training.timings.sources import read_tables

HEADS = {"heads": 8, "kv_heads": 2, "head": 64, "value_head": 64}
PRODUCT = Product(m=64, n=32, k=16, dtype="bf16")
GEMM = {"gemm_dtype": "bfloat16", "m": 64, "n": 32, "k": 16, "latency": 2.0}
NO_PYARROW = "needs pyarrow: pip install 'tiger-mapper[measured]'"
NO_PACKAGE = "needs aiconfigurator-core and pyarrow: pip install 'tiger-mapper[measured]'"
needs_pyarrow = pytest.mark.skipif(find_spec("pyarrow") is None, reason=NO_PYARROW)
needs_package = pytest.mark.skipif(not (find_spec("aiconfigurator_core") and find_spec("pyarrow")), reason=NO_PACKAGE)


@pytest.fixture
def write(tmp_path):
    """Return the way from rows to a file of a device, and from there to its table."""

    def write_rows(rows, name="gemm_perf", version="1"):
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        file = tmp_path / "h100_sxm" / "some" / "vllm" / version / f"{name}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.Table.from_pylist(rows), file)
        return read_tables(tmp_path, ["h100"])["h100"]

    return write_rows


def test_equal_rows_are_merged_by_a_quantile():
    """The fastest, or the median of odd and of even numbers of rows."""
    axes = np.array([[1.0, 2], [3, 4]])
    parts = [(axes, np.array([1.0, 8])), (axes, np.array([4.0, 2])), (axes[:1], np.array([2.0]))]
    for quantile, seconds in ((0, [1, 2]), (0.5, [2, 5])):
        merged, times = merge_rows(parts, quantile)
        assert merged.tolist() == axes.tolist()
        assert times.tolist() == seconds


@needs_pyarrow
def test_products_are_medians_of_frameworks_in_seconds(write):
    """Rows of other types are others', those of odd numbers of tokens are left out."""
    write([GEMM, {**GEMM, "gemm_dtype": "fp8", "latency": 1.0}])
    table = write([{**GEMM, "latency": 4.0}, {**GEMM, "m": 65, "latency": 9.0}], version="2")
    assert table.find(PRODUCT) == (pytest.approx(3e-3), "measured")
    assert table.find(Product(m=64, n=32, k=16, dtype="fp16")) == table.find(PRODUCT)
    assert table.find(Product(m=64, n=32, k=16, dtype="fp8")) == (pytest.approx(1e-3), "measured")
    assert table.find(Product(m=65, n=32, k=16, dtype="bf16")).source == "extrapolated"
    assert table.find(Product(m=64, n=32, k=16, dtype="fp32")) is None


@needs_pyarrow
def test_attention_is_the_fastest_of_one_type_and_window(write):
    """Frameworks that know of no window have no column for it."""
    row = {"attn_dtype": "bfloat16", "kv_cache_dtype": "bfloat16", "batch_size": 2, "isl": 256, "latency": 4.0}
    row |= {"head_dim": 64, "num_heads": 8, "num_key_value_heads": 2}
    name = "context_attention_perf"
    write([row, {**row, "kv_cache_dtype": "fp8", "latency": 1.0}], name)
    table = write([{**row, "window_size": 0, "latency": 5.0}, {**row, "window_size": 128, "latency": 3.0}], name, "2")
    plain = Attention(sequences=2, tokens=256, dtype="bf16", **HEADS)
    windowed = Attention(sequences=2, tokens=256, window=128, dtype="bf16", **HEADS)
    assert table.find(plain) == (pytest.approx(4e-3), "measured")
    assert table.find(windowed) == (pytest.approx(3e-3), "measured")


@needs_pyarrow
def test_decoding_is_by_the_type_of_its_cache(write):
    """The step is the number of tokens before the new one."""
    row = {"attn_dtype": "bfloat16", "kv_cache_dtype": "fp8", "batch_size": 2, "step": 127, "latency": 4.0}
    row |= {"head_dim": 64, "num_heads": 8, "num_key_value_heads": 2}
    table = write([row], "generation_attention_perf")
    assert table.find(Decoding(sequences=2, context=127, dtype="fp8", **HEADS)) == (pytest.approx(4e-3), "measured")
    assert table.find(Decoding(sequences=2, context=127, dtype="bf16", **HEADS)) is None


@needs_pyarrow
def test_experts_are_those_of_one_rank(write):
    """Ranks share columns and experts, and tokens are balanced."""
    row = {"moe_dtype": "bfloat16", "distribution": "balanced", "num_tokens": 64, "hidden_size": 32, "inter_size": 64}
    row |= {"topk": 2, "num_experts": 8, "moe_tp_size": 4, "moe_ep_size": 2, "latency": 4.0}
    table = write([row, {**row, "distribution": "power_law_1.2", "latency": 9.0}], "moe_perf")
    experts = ExpertBlocks(tokens=64, hidden=32, width=16, active=2, experts=4, routed=8, dtype="bf16")
    assert table.find(experts) == (pytest.approx(4e-3), "measured")


@needs_pyarrow
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"m": 1}, "expected a column gemm_dtype, got none"),
        ({**GEMM, "latency": 0.0}, "expected finite sizes and times > 0"),
        ({**GEMM, "m": "many"}, "could not convert"),
        ({**GEMM, "gemm_dtype": 3}, "cannot read"),
    ],
)
def test_other_files_are_refused(write, row, reason):
    """With their path."""
    with pytest.raises(InputError, match=reason) as caught:
        write([row]).find(PRODUCT)
    assert "gemm_perf.parquet" in caught.value.reason


@needs_pyarrow
def test_what_is_no_parquet_is_refused(tmp_path):
    """And not taken for an empty table."""
    file = tmp_path / "h100_sxm" / "gemm" / "vllm" / "1" / "gemm_perf.parquet"
    file.parent.mkdir(parents=True)
    file.write_text("m,n,k", encoding="utf-8")
    with pytest.raises(InputError, match="cannot read"):
        read_folder(tmp_path)["h100"].find(PRODUCT)


@needs_package
def test_the_package_has_rates_below_the_peak_of_devices():
    """989 TFLOP/s of an H100 in 16 bits, and twice that in 8."""
    tables = read_tables("aiconfigurator", ["h100"])
    assert list(tables) == ["h100"]
    wide = {dtype: Product(m=8192, n=8192, k=8192, dtype=dtype) for dtype in ("bf16", "fp8")}
    found = {dtype: tables["h100"].find(product) for dtype, product in wide.items()}
    assert 400e12 < wide["bf16"].flops / found["bf16"].seconds < 989e12
    assert 800e12 < wide["fp8"].flops / found["fp8"].seconds < 1979e12
    assert read_tables("aiconfigurator", ["h100"])["h100"] is tables["h100"]


@needs_package
def test_the_package_has_every_device_that_has_a_name():
    """And products of each in 16 bits."""
    tables = read_tables("aiconfigurator", list(SYSTEMS))
    assert tables.keys() == SYSTEMS.keys()
    assert all(table.find(Product(m=4096, n=4096, k=4096, dtype="bf16")) for table in tables.values())


def test_a_missing_package_is_named(monkeypatch):
    """With the extra that brings it, and what else could be given."""
    monkeypatch.setattr(aiconfigurator, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"tiger-mapper\[measured\]"):
        read_tables("aiconfigurator", ["h100"])


def test_a_missing_reader_of_parquet_is_named(monkeypatch, tmp_path):
    """Before any time is looked up."""
    (tmp_path / "h100_sxm").mkdir()
    monkeypatch.setattr(aiconfigurator, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="expected pyarrow"):
        read_folder(tmp_path)
