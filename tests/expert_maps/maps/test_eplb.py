"""EPLB's three tensors in a numpy file."""

import io
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.expert_maps.maps.eplb import read, write
from tiger.expert_maps.maps.expert_map import ExpertMap
from tiger.expert_maps.replicas.tensors import make_tensors

GOOD = make_tensors(np.array([[0, 1, 1, 2]]), 3)._asdict()
SOUND = write(ExpertMap(GOOD["phy2log"], 2))


def pack(arrays: dict[str, np.ndarray]) -> bytes:
    """Return a numpy file of arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_numpy_reads_what_is_written(expert_map):
    """By the names that EPLB gives the tensors."""
    found = np.load(io.BytesIO(write(expert_map)))
    assert sorted(found) == ["log2phy", "logcnt", "phy2log"]
    assert found["log2phy"][0].tolist() == [[0, 4], [1, 5], [2, -1], [3, -1]]


def test_slots_of_an_expert_may_be_in_any_order():
    """EPLB lists them as it made them."""
    assert read(pack(GOOD | {"log2phy": GOOD["log2phy"][:, :, ::-1]}), 2).phy2log.tolist() == [[0, 1, 1, 2]]


def test_bug_slots_may_have_more_padding():
    """Serving systems leave room for the most replicas that an expert can have."""
    wider = np.pad(GOOD["log2phy"], ((0, 0), (0, 0), (0, 2)), constant_values=-1)
    assert read(pack(GOOD | {"log2phy": wider}), 2).phy2log.tolist() == [[0, 1, 1, 2]]


@pytest.mark.parametrize("shape", ["(1000000000000000, 1)", "(1, 4", "(99999999999999999999999, )"])
def test_bug_headers_that_numpy_stumbles_over_are_refused(shape):
    """Sizes beyond memory and beyond whole numbers, and what is no Python."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("phy2log.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InputError, match=r"^map: expected a numpy file"):
        read(buffer.getvalue(), 2)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"", "map"),
        (b"PK\x03\x04", "map"),
        (pack({"phy2log": GOOD["phy2log"]}), "map/log2phy"),
        (pack(GOOD | {"phy2log": np.zeros((1, 2))}), "map/phy2log"),
        (pack(GOOD | {"phy2log": np.array([[0, 1, 3, 3]])}), "map/0"),
        (pack(GOOD | {"logcnt": np.array([[2, 1, 1]])}), "map/logcnt"),
        (pack(GOOD | {"log2phy": GOOD["log2phy"][:, :, :1]}), "map/log2phy"),
        (pack(GOOD | {"log2phy": GOOD["log2phy"][:, :, [0, 1, 1]]}), "map/log2phy"),
        (pack(GOOD | {"log2phy": np.int64(3)}), "map/log2phy"),
        (pack(GOOD | {"phy2log": np.array([[object()]])}), "map"),
    ],
)
def test_wrong_arrays_are_named(content, field):
    """What is no numpy file, lacks an array, or has one that says something else; nothing in it is run."""
    with pytest.raises(InputError) as caught:
        read(content, 2)
    assert caught.value.field == field


@pytest.mark.slow
@cases(quick=50, long=2_000)
@given(at=st.integers(0, len(SOUND) - 1), byte=st.integers(0, 255), cut=st.integers(0, len(SOUND)))
def test_damaged_files_are_read_or_refused(at, byte, cut):
    """Nothing but a map or bad input comes of one."""
    for content in (SOUND[:at] + bytes([byte]) + SOUND[at + 1 :], SOUND[:cut]):
        with suppress(InputError):
            assert read(content, 2).experts > 0
