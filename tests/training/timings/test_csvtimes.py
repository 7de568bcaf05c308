"""Tests of times of operations as comma-separated values."""

import re

import pytest

from tiger.errors import InputError
from tiger.training.timings.csvtimes import tables_of_csv
from tiger.training.timings.operations import Attention, Product

HEAD = "device,operation,dtype,seconds,m,n,k,sequences,tokens,heads,kv_heads,head,value_head,window,pass\n"
KNOWN = ("h100", "a100")


def test_rows_are_found_again() -> None:
    """What is left open is as the operation has it, and a pass is forward unless it says otherwise."""
    text = (
        f"# of mine\n{HEAD}h100,product,bf16,1e-3,64,32,16,,,,,,,,\n\nh100,product,bf16,3e-3,64,32,16,,,,,,,,backward\n"
        "a100,attention,fp16,2e-3,,,,1,128,8,,64,,,\n"
    )
    tables, product = tables_of_csv(text, KNOWN), Product(m=64, n=32, k=16, dtype="bf16")
    assert tables["h100"].find(product) == (pytest.approx(1e-3), "measured")
    assert tables["h100"].find_backward(product) == (pytest.approx(3e-3), "measured")
    attention = Attention(sequences=1, tokens=128, heads=8, kv_heads=8, head=64, value_head=64, dtype="fp16")
    assert tables["a100"].find(attention) == (pytest.approx(2e-3), "measured")
    assert tables["a100"].find(product) is None


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("device,operation,dtype\n", "costs/seconds", "line 1: expected a header with this column, got none"),
        (HEAD, "costs", "expected at least one row below the header, got none"),
        (f"{HEAD}h200,product,bf16,1,1,1,1,,,,,,,,\n", "costs/device", "line 2: expected h100, a100, got 'h200'"),
        (f"{HEAD}h100,products,bf16,1,1,1,1,,,,,,,,\n", "costs/operation", "did you mean 'product'?"),
        (f"{HEAD}h100,product,int8,1,1,1,1,,,,,,,,\n", "costs/dtype", "line 2: expected fp8, bf16"),
        (
            f"{HEAD}h100,product,bf16,0,1,1,1,,,,,,,,\n",
            "costs/seconds",
            "line 2: expected a finite number > 0, got '0'",
        ),
        (
            f"{HEAD}h100,product,bf16,1,1,1,,,,,,,,,\n",
            "costs/k",
            "line 2: expected a whole number from 1 to 1e12, got ''",
        ),
        (f"{HEAD}h100,product,bf16,1,1,1,0,,,,,,,,\n", "costs/k", "line 2: expected a whole number from 1 to 1e12"),
        (f"{HEAD}h100,product,bf16,1,1,1,1,2,,,,,,,\n", "costs/sequences", "line 2: expected no such size of product"),
        (f"{HEAD}h100,product,bf16,1,1,1,1,,,,,,,,up\n", "costs/pass", "line 2: expected forward, backward, got 'up'"),
        (
            f"{HEAD}h100,product,bf16,1,1,1,1,,,,,,,,\nh100,product,bf16,2,1,1,1,,,,,,,,\n",
            "costs/seconds",
            "line 3: expected 1, as a row before, got 2",
        ),
    ],
)
def test_what_is_no_time_is_refused(text: str, field: str, reason: str) -> None:
    """With the line and the column."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        tables_of_csv(text, KNOWN)
    assert caught.value.field == field
