"""Times of operations in comma-separated values."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.training.timings.csvtimes import COLUMNS, tables_of_csv
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Product

KNOWN = ("a100", "h100")
PRODUCT = Product(m=64, n=32, k=16, dtype="bf16")
HEADER = "device,operation,dtype,seconds,m,n,k,tokens\n"
ROW = "a100,product,bf16,1e-5,64,32,16,\n"


def test_rows_are_read_by_device():
    """A header, comments and blank lines say nothing, and a row may come again."""
    tables = tables_of_csv(f"# mine\n\n{HEADER}{ROW}# more\n\nh100, product, bf16, 5e-6, 64, 32, 16,\n{ROW}", KNOWN)
    assert {name: table.find(PRODUCT) for name, table in tables.items()} == {
        "a100": (pytest.approx(1e-5), "measured"),
        "h100": (pytest.approx(5e-6), "measured"),
    }


def test_sizes_that_are_left_open_are_those_beside_them():
    """Heads of keys are all heads, values as wide as keys, and there is no window."""
    text = (
        "device,operation,dtype,seconds,sequences,tokens,context,heads,kv_heads,head,value_head,window\n"
        "a100,attention,bf16,0.1,2,64,,8,,16,,\n"
        "a100,attention,bf16,0.2,2,64,,8,2,16,24,32\n"
        "a100,decoding,fp8,0.3,2,,64,8,2,16,,\n"
    )
    table = tables_of_csv(text, KNOWN)["a100"]
    sizes = {"sequences": 2, "heads": 8, "head": 16}
    plain = Attention(tokens=64, kv_heads=8, value_head=16, dtype="bf16", **sizes)
    windowed = Attention(tokens=64, kv_heads=2, value_head=24, window=32, dtype="bf16", **sizes)
    decoding = Decoding(context=64, kv_heads=2, value_head=16, dtype="fp8", **sizes)
    assert [table.find(each) for each in (plain, windowed, decoding)] == [
        (pytest.approx(seconds), "measured") for seconds in (0.1, 0.2, 0.3)
    ]


def test_experts_and_backward_passes_have_rows():
    """`pass` is forward where its cell is empty."""
    text = (
        "device,operation,pass,dtype,seconds,tokens,hidden,width,active,experts,routed\n"
        "a100,expert_blocks,,bf16,1,64,32,16,2,4,8\n"
        "a100,expert_blocks,backward,bf16,3,64,32,16,2,4,8\n"
    )
    table = tables_of_csv(text, KNOWN)["a100"]
    experts = ExpertBlocks(tokens=64, hidden=32, width=16, active=2, experts=4, routed=8, dtype="bf16")
    assert table.find(experts) == (pytest.approx(1), "measured")
    assert table.find_backward(experts) == (pytest.approx(3), "measured")


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("", "costs", "expected at least one row"),
        (HEADER, "costs", "expected at least one row"),
        ("device,operation,dtype\n", "costs/seconds", "line 1: expected a header with this column"),
        (f"second,{HEADER}", "costs", "got 'second'; did you mean 'seconds'?"),
        (f"device,{HEADER}", "costs", "once each at most, got 'device'"),
        (f"{HEADER}a100,product\n", "costs", "line 2: expected 8 cells, got 2"),
        (HEADER + ROW.replace("a100", "a10"), "costs/device", "line 2: expected a100, h100, got 'a10'"),
        (HEADER + ROW.replace("product", "gemm"), "costs/operation", "line 2: expected product, attention"),
        (HEADER + ROW.replace("bf16", "int8"), "costs/dtype", "line 2: expected fp8, bf16"),
        (HEADER + ROW.replace("1e-5", "0"), "costs/seconds", "line 2: expected a number > 0 and <= 1e9, got '0'"),
        (HEADER + ROW.replace("1e-5", "-1"), "costs/seconds", "expected a number > 0 and <= 1e9, got '-1'"),
        (HEADER + ROW.replace("1e-5", "2e9"), "costs/seconds", "expected a number > 0 and <= 1e9"),
        (HEADER + ROW.replace("1e-5", "nan"), "costs/seconds", "expected a number > 0 and <= 1e9"),
        (HEADER + ROW.replace("1e-5", ""), "costs/seconds", "expected a number > 0 and <= 1e9, got ''"),
        (HEADER + ROW.replace("64", "6.4"), "costs/m", "line 2: expected a whole number from 1"),
        (HEADER + ROW.replace("64", "0"), "costs/m", "expected a whole number from 1"),
        (HEADER + ROW.replace("64", "1" + "0" * 5000), "costs/m", "expected a whole number from 1"),
        (HEADER + ROW.replace("64", ""), "costs/m", "expected a whole number from 1"),
        (HEADER + ROW.replace("16,\n", "16,5\n"), "costs/tokens", "line 2: expected no such size of product"),
        (HEADER + ROW + ROW.replace("1e-5", "2e-5"), "costs/seconds", "line 3: expected 1e-05, as a row before"),
        (f"pass,{HEADER}sideways,{ROW}", "costs/pass", "line 2: expected forward, backward, got 'sideways'"),
        (f'{HEADER}"a100', "costs", "line 2: expected comma-separated values"),
    ],
)
def test_what_is_no_row_is_refused_with_its_line_and_column(text, field, reason):
    """Nothing is repaired."""
    with pytest.raises(InputError) as caught:
        tables_of_csv(text, KNOWN)
    assert caught.value.field == field
    assert reason in caught.value.reason


def test_a_window_of_all_tokens_is_the_row_without_one():
    """Both are one operation, so other seconds are refused."""
    header = "device,operation,dtype,seconds,sequences,tokens,heads,head,window\n"
    rows = "a100,attention,bf16,1,1,64,8,16,\na100,attention,bf16,{},1,64,8,16,64\n"
    assert list(tables_of_csv(header + rows.format(1), KNOWN)) == ["a100"]
    with pytest.raises(InputError, match="line 3: expected 1, as a row before, got 2"):
        tables_of_csv(header + rows.format(2), KNOWN)


def test_bug_a_part_may_not_be_more_than_the_whole():
    """Heads with keys are some of all heads, and experts of a rank some of all."""
    header = "device,operation,dtype,seconds,sequences,tokens,heads,kv_heads,head\n"
    with pytest.raises(InputError) as caught:
        tables_of_csv(header + "a100,attention,bf16,1,1,64,8,16,64\n", KNOWN)
    assert (caught.value.field, caught.value.reason) == (
        "costs/kv_heads",
        "line 2: expected at most 8 (heads), got 16",
    )
    header = "device,operation,dtype,seconds,tokens,hidden,width,active,experts,routed\n"
    with pytest.raises(InputError, match=r"costs/experts: line 2: expected at most 32 \(routed\), got 64"):
        tables_of_csv(header + "a100,expert_blocks,bf16,1,1,8,8,2,64,32\n", KNOWN)


WORDS = st.one_of(
    st.text(max_size=4), st.sampled_from(["a100", "product", "attention", "bf16", "1", "2", "1e-5", "-1"])
)


@cases(300, 10_000)
@given(
    names=st.lists(st.one_of(st.sampled_from(COLUMNS), st.text(max_size=3)), max_size=8),
    rows=st.lists(st.lists(WORDS, max_size=8), max_size=3),
)
def test_any_text_is_read_or_refused(names, rows):
    """Nothing but InputError comes out."""
    text = "\n".join(",".join(words) for words in [names, *rows])
    with suppress(InputError):
        assert tables_of_csv(text, KNOWN).keys() <= set(KNOWN)


@cases(100, 2000)
@given(
    sizes=st.tuples(*[st.integers(1, 10**6)] * 3),
    seconds=st.floats(1e-9, 1e9),
    dtype=st.sampled_from(["fp8", "bf16", "fp16", "fp32"]),
)
def test_a_row_that_was_written_is_found(sizes, seconds, dtype):
    """Its seconds to the last digits."""
    m, n, k = sizes
    text = f"device,operation,dtype,seconds,m,n,k\nh100,product,{dtype},{seconds!r},{m},{n},{k}\n"
    found = tables_of_csv(text, KNOWN)["h100"].find(Product(m=m, n=n, k=k, dtype=dtype))
    assert found == (pytest.approx(seconds, rel=1e-12), "measured")
