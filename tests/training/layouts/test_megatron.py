"""Tests of layouts of Megatron-LM as a text."""

import pytest

from tiger.errors import InputError
from tiger.training.layouts.megatron import SYMBOL_LIMIT, expand_layout, write_layout


@pytest.mark.parametrize(
    ("layout", "stages"),
    [
        ("Ettt|(tt|)*2,m|L", ("Ettt", "tt", "tt", "m", "L")),
        ("E,t*3|t*2,|,t*3,L", ("Ettt", "tt", "tttL")),
        ("E|t|*2tL", ("E", "t", "", "tL")),
        ("E(t|t)*2L", ("Et", "tt", "tL")),
        ("(E)*1t*1m*1L*1", ("EtmL",)),
        ("E|(t)*2t*0|L", ("E", "tt", "L")),
        ("Et*7|(t*8|)*14,t*7L", ("E" + "t" * 7, *["t" * 8] * 14, "t" * 7 + "L")),
    ],
)
def test_repeats_are_written_out_and_back(layout: str, stages: tuple[str, ...]) -> None:
    """Commas mean nothing, groups and symbols repeat, a bar ends a stage; what is written is read as the same."""
    assert expand_layout(layout) == stages
    assert expand_layout(write_layout(stages)) == stages


@pytest.mark.parametrize(
    ("layout", "place"),
    [
        ("Ett |tL", "at character 4, got ' |tL'"),
        ("Et(t|", "at character 3, got '(t|'"),
        ("E(t|)tL", "at character 2, got '(t|)tL'"),
        ("E(t(t|)*2)*2L", "at character 2"),
        ("E(tx|)*2L", "at character 4, got 'x|'"),
        ("Et*xL", "at character 3, got '*xL'"),
        ("Et**2", "at character 3"),
        ("Et*2*3", "at character 5"),
        ("Et)L", "at character 3"),
        ("E(tt|)*99999999", f"expected at most {SYMBOL_LIMIT} symbols in all, got more at character 8"),
        (f"Et*{'9' * 40}", "got more at character 4"),
        ("(t*300|)*300(t*300|)*300,(t*300|)*4000", "got more"),
    ],
)
def test_a_faulty_layout_is_refused_where_it_is_faulty(layout: str, place: str) -> None:
    """Before anything large is made of it."""
    with pytest.raises(InputError) as caught:
        expand_layout(layout)
    assert caught.value.field == "layout"
    assert place in caught.value.reason
