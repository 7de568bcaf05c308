"""From the text of a SPEC to a task graph."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.patterns.messages import MESSAGE_LIMIT
from tiger.formats.patterns.spec import _READERS, KINDS, build, parse

VALID = (
    "halo:2x3", "halo:2x2x3,wrap=1", "halo:3x4,faces=2.5,corners=1e-1,wrap=1", "halo:1x5,corners=1,wrap=0",
    "halo:2x2,corners=0.5,wrap=1", "ring:5", "alltoall:4", "fft:2x3", "tree-allreduce:5", "ring:6*0.5+fft:2x3*2e0",
    "halo:2x3+alltoall:6*0.01", "ring:3++fft:2x2*2+halo:4++ring:1",
    "cg:2x4", "parallel:tp=2,pp=3,dp=4,layers=6,hidden=8,sequence=4,batch=2,bytes=4",
    "parallel:tp=2,cp=2,ep=4,dp=2,pp=3,layers=3,experts=4,top_k=1,vocabulary=9,wtp=2.5,wpp=0",
)  # fmt: skip
REFUSED = """
    none halo halo: :4 halo:4x halo:x4 halo:-4 halo:+4 halo:4.0 halo:4X4 halo:1e3 halo:0x4 halo:4,4 HALO:4x4 halo:4x4,
    halo:1x1x1x1x1x1x1 halo:2048x2048 halo:4,wrap=2 halo:4,wrap= halo:4,wrap=1,wrap=1 halo:4,faces=-1 halo:4,faces=nan
    halo:4,faces=1,faces=1 halo:4,edges=1 halo:4,faces=1e101 halo:4,faces=1e999 halo:4,faces=1e+3 ring:0 ring:2x2
    ring:4,
    ring:1048577 ring:99999999999999 alltoall:4097 alltoall:0 fft:4 fft:2x2x2 fft:0x2 fft:1x4097 tree-allreduce:0
    ring:4* ring:4*x ring:4*-1 ring:4*2*3 ring:4+ +ring:4 ring:4+++ring:4 ring:4++ ++ring:4 ring:4++ring:3+ring:4
    2*ring:4 ring:4*inf ring:4+hallo:4
    alltoall:4096+alltoall:4096 alltoall:4096++alltoall:4096 ring:1048576++ring:1
    halo:64x64x64,corners=1+halo:64x64x64,corners=1+halo:64x64x64,corners=1
    cg:4 cg:3x3 cg:4x2 cg:2x8 cg:2x2x2 cg:2048x2048 parallel: parallel:8 parallel:layers=4 parallel:tp= parallel:tp=0
    parallel:tp=2,tp=2 parallel:tp=2, parallel:cp=2,cp=2 parallel:xp=2 parallel:pp=5 parallel:tp=1e3
    parallel:tp=2048,dp=1024 parallel:tp=2,wtp=-1 parallel:tp=2,ep=2
    ring:\u0663 halo:4\u00d74"""


def matrix(spec):
    """Return the volumes as a dense matrix."""
    return build(spec).traffic.toarray()


def test_kinds_are_those_that_can_be_read():
    """The table of kinds and that of readers agree, and examples are of their kind."""
    assert [kind.name for kind in KINDS] == list(_READERS)
    for kind in KINDS:
        assert kind.example.startswith(f"{kind.name}:")
        assert build(kind.example).size >= 64


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "rows"),
    [
        ("halo:2x3", ["010100", "101010", "010001", "100010", "010101", "001010"]),
        ("halo:2x3,faces=3,corners=2", ["030320", "303232", "030023", "320030", "232303", "023030"]),
        ("halo:4,wrap=1", ["0101", "1010", "0101", "1010"]),
        ("halo:2,wrap=1", ["02", "20"]),
        ("halo:1x3,wrap=1,corners=5", ["011", "101", "110"]),
        ("halo:2x2,faces=0,corners=1,wrap=1", ["0004", "0040", "0400", "4000"]),
        ("halo:2x2,faces=0", ["0000"] * 4),
        ("ring:3", ["010", "001", "100"]),
        ("ring:2", ["01", "10"]),
        ("ring:1", ["0"]),
        ("alltoall:3", ["011", "101", "110"]),
        ("alltoall:1", ["0"]),
        ("fft:2x3", ["011100", "101010", "110001", "100011", "010101", "001110"]),
        ("tree-allreduce:5", ["01100", "10011", "10000", "01000", "01000"]),
        ("cg:1x1", ["0"]),
        ("cg:1x2", ["01", "10"]),
        ("cg:2x2", ["0100", "1010", "0101", "0010"]),
        ("cg:2x4", ["01100000", "10010000", "10011000", "01100100", "00100110", "00011001", "00001001", "00000110"]),
        ("parallel:tp=2,layers=1,hidden=1,sequence=1,microbatches=1,bytes=1", ["04", "40"]),
        ("parallel:dp=5,layers=1,hidden=1,sequence=1,bytes=1*0.1", ["04000", "00400", "00040", "00004", "40000"]),
        ("parallel:pp=3,layers=3,hidden=1,sequence=1,microbatches=2,bytes=2", ["040", "404", "040"]),
        ("parallel:pp=2,layers=2,hidden=1,sequence=1,bytes=1", ["08", "80"]),
        ("ring:3*2+alltoall:3", ["031", "103", "310"]),
        ("ring:2*3++ring:1++ring:2+alltoall:2", ["03000", "30000", "00000", "00002", "00020"]),
    ],
)
def test_volumes_by_hand(spec, rows):
    """Row k is what rank k sends."""
    assert matrix(spec).tolist() == [[float(digit) for digit in row] for row in rows]
    assert build(spec).names == tuple(map(str, range(len(rows))))


@pytest.mark.parametrize("spec", VALID)
def test_messages_are_counted_before_they_are_made(spec):
    """The numbers by formula are those of the blocks."""
    pattern = parse(spec)
    assert pattern.messages == sum(len(source) for source, _, _ in pattern.blocks())
    assert pattern.ranks == build(spec).size


EXTENTS = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@pytest.mark.slow
@given(extents=EXTENTS, faces=st.integers(0, 3), corners=st.integers(0, 3), wrap=st.integers(0, 1))
def test_halos_are_those_of_the_definition(extents, faces, corners, wrap):
    """A message for each step of at most 1 along each axis of more than one rank; so the traffic is symmetric."""
    expected = np.zeros((np.prod(extents),) * 2)
    steps = np.array(list(np.ndindex(*[3] * len(extents)))) - 1
    for rank, place in enumerate(np.ndindex(*extents)):
        for step in steps:
            moved = (place + step) % extents if wrap else place + step
            along = np.count_nonzero(step)
            if along and not np.any(step[np.array(extents) == 1]) and np.all((moved >= 0) & (moved < extents)):
                expected[rank, np.ravel_multi_index(moved, extents)] += faces if along == 1 else corners
    spec = f"halo:{'x'.join(map(str, extents))},faces={faces},corners={corners},wrap={wrap}"
    assert np.array_equal(matrix(spec), expected)
    assert np.array_equal(expected, expected.T)
    assert parse(spec).messages == sum(len(source) for source, _, _ in parse(spec).blocks())


@given(rows=st.integers(1, 6), columns=st.integers(1, 6))
def test_an_fft_talks_inside_rows_and_columns(rows, columns):
    """Two ranks exchange where they differ in exactly one coordinate."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    expected = (row[:, None] == row) ^ (column[:, None] == column)
    assert np.array_equal(matrix(f"fft:{rows}x{columns}"), expected)


@given(parts=st.lists(st.sampled_from(["halo:2x3,corners=1", "ring:6", "alltoall:6", "fft:3x2"]), min_size=1,
                      max_size=4),
       factors=st.lists(st.integers(0, 9), min_size=4, max_size=4))  # fmt: skip
def test_specs_add_up_and_scale(parts, factors):
    """The matrix of a sum is the sum of the matrices, each times its factor."""
    terms = list(zip(parts, factors, strict=False))
    expected = sum(factor * matrix(part) for part, factor in terms)
    assert np.array_equal(matrix("+".join(f"{part}*{factor}" for part, factor in terms)), expected)


@pytest.mark.parametrize("spec", REFUSED.split())
def test_malformed_specs_are_refused(spec):
    """Wrong syntax and numbers out of range are bad input of the tasks."""
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        build(spec)
    assert caught.value.field == "tasks"
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "hallo:4",
            "with a kind out of halo, ring, alltoall, fft, tree-allreduce, cg, parallel (such as halo:16x16), "
            "got 'hallo:4'",
        ),
        ("ring:a", "got 'a' in 'ring:a'; the syntax is ring:n[*FACTOR] (such as ring:64; kinds: halo, ring, "),
        (
            "cg:3x3",
            "powers of two, with as many columns as rows or twice as many, got 3 rows and 3 columns in 'cg:3x3'",
        ),
        ("parallel:tp=x", "tp: expected a whole number, got 'x'"),
        ("parallel:pp=5", "expected layers as a multiple of pp=5, got 96 in 'parallel:pp=5'"),
        ("ring:4+fft:2x3", "of the same number of ranks, got 4 in 'ring:4' and 6 in 'fft:2x3'"),
        ("alltoall:4097", f"expected at most {MESSAGE_LIMIT:,} messages, got 16,781,312"),
    ],
)
def test_messages_say_what_was_expected(spec, message):
    """Kinds, syntax, sizes and limits."""
    with pytest.raises(InputError) as caught:
        build(spec)
    assert message in caught.value.reason


@pytest.mark.parametrize("spec", ["ring:" + "9" * 10**6, "halo:" + "1x" * 10**5 + "1", "ring:4+" * 10**5, "x" * 10**6,
                                  "halo:4" + ",wrap=1" * 10**5, "ring:4*" + "9" * 10**6])  # fmt: skip
def test_long_specs_are_refused_at_once_and_briefly(spec):
    """Digits by the million cost no time, and are not repeated in the message."""
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        build(spec)
    assert time.process_time() - start < 1
    assert len(str(caught.value)) < 500


@st.composite
def mutated(draw):
    """Draw a valid text with one to three characters replaced, inserted or taken out."""
    text = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 1))
        text = text[:at] + draw(st.text("0127x,@.*+-=e: \nwé", max_size=2)) + text[at + cut :]
    return text


@pytest.mark.slow
@cases(quick=200, long=2_000)
@given(text=mutated())
def test_any_text_is_read_or_refused(text):
    """Nothing but InputError of the tasks escapes, and what is read has the number of ranks that was counted."""
    try:
        pattern = parse(text)
        refused_field = "tasks"
    except InputError as error:
        pattern, refused_field = None, error.field
    assert refused_field == "tasks"
    if pattern is not None and max(pattern.messages, pattern.ranks) <= 10**5:
        assert build(text).size == pattern.ranks
