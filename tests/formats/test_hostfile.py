"""Host files of launchers and batch systems."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.hostfile import HostSlots, NodeSlots, is_entry, read_host_file, split_count

COUNTS = st.dictionaries(st.sampled_from([f"n{k:02}" for k in range(8)]), st.integers(1, 9), min_size=1)


def read(text):
    """Return the hosts of a text with their slots, every word being a host."""

    def resolve(word, where, before):
        return [NodeSlots(*split_count(word))]

    names, slots, _ = read_host_file("allocation", text, resolve)
    return dict.fromkeys(names) if slots is None else dict(zip(names, slots.tolist(), strict=True))


def write_runs(counts):
    """Return counts as Slurm abbreviates them."""
    values = np.array(list(counts.values()))
    begins = np.flatnonzero(np.diff(values, prepend=0))
    lengths = np.diff(begins, append=len(values))
    return ",".join(f"{values[k]}(x{n})" if n > 1 else f"{values[k]}" for k, n in zip(begins, lengths, strict=True))


@cases(quick=60, long=2_000)
@given(counts=COUNTS)
def test_all_forms_say_the_same(counts):
    """Open MPI, MPICH, PBS, Grid Engine and Slurm, each with comments left out and blank lines in between."""
    assert read("\n\n".join(f"{host} slots={n} max-slots={n}" for host, n in counts.items())) == counts
    assert read("\n".join(f"{host}:{n}" for host, n in counts.items())) == counts
    assert read("\n".join(f"{host} {n} q@{host} UNDEFINED" for host, n in counts.items())) == counts
    assert read(f"{' '.join(counts)} SLURM_TASKS_PER_NODE={write_runs(counts)}") == counts
    repeats = read("\n".join(host for host, n in counts.items() for _ in range(n)))
    assert repeats == (counts if max(counts.values()) > 1 else dict.fromkeys(counts))


@cases(quick=40, long=1_000)
@given(first=COUNTS, second=COUNTS)
def test_slots_of_a_host_that_comes_again_add_up(first, second):
    """The order is that of the first time, as in Open MPI."""
    text = "\n".join(f"{host} slots={n}" for counts in (first, second) for host, n in counts.items())
    assert read(text) == {host: first.get(host, 0) + second.get(host, 0) for host in [*first, *second]}
    assert [*read(text)] == [*dict.fromkeys([*first, *second])]


def test_a_host_once_says_nothing_of_slots():
    """As `scontrol show hostnames` prints them; one slot that is stated is one."""
    assert (read("n1\nn2"), read("n1:1\nn2")) == ({"n1": None, "n2": None}, {"n1": 1, "n2": 1})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("n1\nslots=4", "line 2: expected a host before 'slots=4', got none"),
        ("n1 slots=", "line 1: slots: expected a whole number from 1 to 2**53 - 1, got ''"),
        ("n1 slots=0", "line 1: slots: expected a whole number from 1"),
        ("n1 slots=1e3", "line 1: slots: expected a whole number from 1"),
        ("n1:0", "expected slots of a host from 1 to 2**53 - 1, got 0"),
        ("n1:999999999999999999", "expected slots of a host from 1 to 2**53 - 1, got 999999999999999999"),
        ("n1 0 q@n1 UNDEFINED", "line 1: slots: expected a whole number from 1"),
        ("n1 slots=2 slots=3", "line 1: expected slots of a host once, got 'slots=3' again"),
        ("n1:2 slots=2", "line 1: expected slots of a host once, got 'slots=2' again"),
        ("n1 slots=4 max_slots=2", "line 1: expected slots=N and at least as many as max_slots, got 4 and 2"),
        ("n1 max-slots=2", "line 1: expected slots=N and at least as many as max_slots, got None and 2"),
        ("n1 slots=4\nn2", "expected slots=N for all hosts or none, got none for 'n2'"),
        ("n1 SLURM_TASKS_PER_NODE=4(2)", "line 1: SLURM_TASKS_PER_NODE: expected text such as 48(x3),20, got '4(2)'"),
        ("n1 SLURM_TASKS_PER_NODE=4(x2)", "line 1: SLURM_TASKS_PER_NODE: expected the counts of 1 hosts, got those of"),
        ("n1 SLURM_TASKS_PER_NODE=0", "line 1: expected a whole number from 1"),
        ("n1:2 SLURM_TASKS_PER_NODE=2", "line 1: expected each host once, without slots, beside one SLURM_TASKS"),
        ("n1 SLURM_TASKS_PER_NODE=2 SLURM_CPUS_PER_TASK=0", "line 1: SLURM_CPUS_PER_TASK: expected a whole number"),
        (
            "n1 SLURM_CPUS_PER_TASK=2",
            "line 1: SLURM_CPUS_PER_TASK: expected it once, beside SLURM_TASKS_PER_NODE",
        ),
        (
            "n1:2 SLURM_CPUS_PER_TASK=9007199254740991",
            "expected slots of a host from 1 to 2**53 - 1, got 18014398509",
        ),
        ("n1 SLURM_TASKS_PER_NODE=2;SLURM_TASKS_PER_NODE=2", "line 1: expected each host once, without slots, bes"),
    ],
)
def test_what_is_wrong_is_named(text, reason):
    """By its line, and as a fault of the field."""
    with pytest.raises(InputError) as caught:
        read(text)
    assert (caught.value.field, caught.value.reason[: len(reason)]) == ("allocation", reason)


def test_counts_are_checked_before_they_are_written_out():
    """A few characters would stand for more hosts than memory has room for."""
    with pytest.raises(InputError, match="got those of 999999999999999999"):
        read("n1 SLURM_TASKS_PER_NODE=4(x999999999999999999)")


@pytest.mark.parametrize(
    ("line", "is_one"),
    [("n1", True), ("n1 slots=4", True), ("n1 4 q@n1 UNDEFINED", True), ("n1 n2", False), ("GPU0 GPU1 NIC0", False)],
)
def test_lines_of_host_files_are_known(line, is_one):
    """They have one word for hosts."""
    assert is_entry(line) is is_one


def test_no_hosts_are_none():
    """What an empty text means is for the caller to say."""
    assert read_host_file("allocation", " \n;", lambda *_: []) == HostSlots(())


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(pieces=st.lists(st.sampled_from([*"n01:;= \n,()", "slots=", "max-slots=2", " 2 q@n ", "SLURM_TASKS_PER_NODE="])))
def test_any_text_is_read_or_refused(pieces):
    """Slots are 1 or more, or the text is bad input."""
    with suppress(InputError):
        assert all(slots is None or slots >= 1 for slots in read("".join(pieces)).values())
