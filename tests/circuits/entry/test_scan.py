"""The size of a text, before anything parses it."""

import time
from contextlib import suppress

import pytest

from tiger.circuits.entry.scan import CircuitLimits, scan
from tiger.errors import InputError

TWO, THREE = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n', 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
SMALL = CircuitLimits(max_qubits=10, max_gates=100, max_bytes=5000, max_bytes_3=2000)


def refusal(text: str, limits: CircuitLimits = SMALL) -> str:
    """Return why a text is refused."""
    with pytest.raises(InputError) as caught:
        scan(text, limits)
    assert caught.value.field == "circuit"
    return caught.value.reason


@pytest.mark.parametrize(("text", "language"), [(TWO, 2), (THREE, 3), ("// a\n/* b */ OPENQASM 3;", 3)])
def test_the_language_is_the_one_declared(text: str, language: int) -> None:
    """Comments may come first."""
    assert scan(text, SMALL).language == language


@pytest.mark.parametrize("text", ["", "qreg q[2];", "OPENQASM 4.0;", "root:x:0:0", "OPENQASM x;"])
def test_a_text_that_declares_no_language_is_refused(text: str) -> None:
    """Nothing of the text comes back, as it may be any file."""
    assert refusal(text).endswith("got another beginning")


@pytest.mark.parametrize(
    "text",
    [
        TWO + "qreg q[100000000];",
        TWO + "qreg\nq // [1]\n[ 100000000 ];",
        TWO + "qreg a[6]; qreg b[6];",
        THREE + "qubit[100000000] q;",
        THREE + "qubit/* */[1_000_000] q;",
        THREE + "qubit[0xfffffff] q;",
        THREE + "x $100000000;",
        THREE + "qubit a;" * 11,
    ],
)
def test_too_many_qubits_are_refused_at_once(text: str) -> None:
    """However the number is written, and before a parser sees it."""
    begun = time.process_time()
    assert "expected at most 10 qubits" in refusal(text)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (THREE + "qubit[10000*10000] q;", "line 3: expected the size of a register as a whole number"),
        (TWO + "creg c[101];", "line 3: expected at most 100 classical bits, got more"),
        (THREE + "\nbit[100000000] c;", "line 4: expected at most 100 classical bits"),
        (TWO + "qreg q[2];\nx q[99999999999999999999];", "line 4: expected whole numbers of at most 18 digits, got 20"),
        (TWO + " " * 5000, "expected at most 5000 bytes of text"),
        (THREE + " " * 3000, "expected at most 2000 bytes of OpenQASM 3, got 3"),
    ],
)
def test_other_sizes_are_bounded(text: str, reason: str) -> None:
    """Bits, digits and the text itself."""
    assert refusal(text).startswith(reason)


@pytest.mark.parametrize("name", ["/etc/passwd", "../qelib1.inc", "file:///etc/passwd", "stdgates.inc", ""])
def test_an_include_of_a_file_is_refused(name: str) -> None:
    """The language's own library is the only one, and it is no file."""
    assert "expected no include but 'qelib1.inc', as files are never read" in refusal(
        f'OPENQASM 2.0; include "{name}";'
    )


def test_an_include_in_a_comment_is_none() -> None:
    """Nor is one in a string of another statement."""
    assert scan(TWO + "// include '/etc/passwd';\nqreg q[1];", SMALL).language == 2


@pytest.mark.parametrize(
    "text",
    [
        TWO + "// \r /*\nqreg q[100000000];\n// */",
        THREE + "// \rqubit[100000000] q;",
        "// \rOPENQASM 3.0;\nOPENQASM 2.0; qreg q[100000000];",
    ],
)
def test_nothing_hides_in_what_is_no_comment(text: str) -> None:
    """The languages end comments differently, and only one of them has such of many lines."""
    assert "expected at most 10 qubits" in refusal(text)


@pytest.mark.parametrize(
    "text", ["@note /*\nqubit[100000000] q;\n@note */", "#pragma /*\nqubit q;", "pragma x", "defcal x q {}", "cal {}"]
)
def test_passages_in_other_languages_are_refused(text: str) -> None:
    """Their text is free, so that it could open a comment and hide what follows."""
    assert refusal(THREE + text).startswith("line 3: expected no pragmas, annotations or calibrations")


@pytest.mark.parametrize(
    "text",
    [
        "cx q[0],q[1];" * 101,
        "h q;" * 21,
        "barrier q;" * 21,
        "measure q -> c;" * 21,
        "if(c==1) h q;" * 21,
        "gate a x { h x; h x; } gate b x { a x; a x; } gate c x { b x; b x; }" + "c q[0];" * 13,
        "gate a x { h x; h x; }"
        + "".join(f"gate a{k} x {{ a{k - 1 if k else ''} x; a{k - 1 if k else ''} x; }}" for k in range(60))
        + "a59 q[0];",
    ],
)
def test_operations_are_counted_as_they_will_be_written_out(text: str) -> None:
    """Whole registers and gates defined by gates count in full, doubling ones too."""
    assert refusal(f"{TWO}qreg q[5]; creg c[5]; {text}", CircuitLimits(max_gates=100)).endswith("operations, got more")


def test_operations_on_an_alias_count_for_all_qubits() -> None:
    """What a name stands for is not worked out."""
    assert "expected at most 100 operations" in refusal(f"{THREE}qubit[5] q; let a = q[0:4]; {'h a;' * 21}")


def test_gates_may_not_be_defined_too_deep() -> None:
    """Whoever writes them out calls itself as often."""
    deep = "gate a0 x { h x; }" + "".join(f"gate a{k} x {{ a{k - 1} x; }}" for k in range(1, 99))
    assert "at most 64 deep" in refusal(TWO + deep, CircuitLimits())


@pytest.mark.parametrize(
    "text", ["pow(2) @ f q[0], q[1], q[2];", "ctrl(2) @ x q[0];", "gate g a, b, c { ctrl @ cx a, b, c; }"]
)
def test_modified_gates_on_three_qubits_are_refused(text: str) -> None:
    """Some parsers compute their matrix."""
    assert "got a modified one on more: decompose it first" in refusal(f"{THREE}qubit[5] q; {text}")


def test_gates_of_a_text_are_named() -> None:
    """Also such that nothing calls."""
    assert scan(TWO + "gate f(t) a, b { rz(t) a; cx a, b; } gate g a { }", SMALL).gates == {"f": 2, "g": 0}


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        "gate a ",
        "gate a {",
        "/* ",
        "qreg[",
        "qubit q[",
        "a[ ",
        "1",
        " ",
        "x[1",
        "(",
        "@ ",
        "let a",
        "{",
        "}",
        "include",
    ],
)
@pytest.mark.parametrize("head", [TWO, THREE, TWO + "gate a x {"], ids=["2", "3", "in a gate"])
def test_no_text_takes_long(head: str, part: str) -> None:
    """Every pattern is searched for in time that grows with the text alone; with its square it would take minutes."""
    begun = time.process_time()
    with suppress(InputError):
        scan(head + part * (100_000 // len(part)), CircuitLimits())
    assert time.process_time() - begun < 3


@pytest.mark.long
def test_a_large_text_is_scanned_quickly() -> None:
    """Thirty thousand gates take less than three seconds, under coverage and on a slow machine too."""
    text = TWO + "qreg q[50];" + "cx q[0],q[1];\n" * 30_000
    begun = time.process_time()
    scan(text, CircuitLimits())
    assert time.process_time() - begun < 3


def test_bug_definitions_count_too() -> None:
    """A text of nothing but definitions takes a parser gigabytes."""
    definitions = "".join(f"gate g{k} a {{}}" for k in range(7))
    assert refusal(f"{TWO}{definitions} qreg q[1];").endswith("operations, got more")


@pytest.mark.parametrize("text", ["/*\nqreg q[100000000]; */", "/**/qreg/**/q[ 100000000 ] ;"])
def test_a_comment_of_the_other_language_is_refused(text: str) -> None:
    """No parser has to be asked, as OpenQASM 2 has no use for the two characters."""
    assert "got '/*'" in refusal(TWO + text)
