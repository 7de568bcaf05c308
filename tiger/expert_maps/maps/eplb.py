"""The three tensors of deepseek-ai/EPLB as arrays of a numpy file, `.npz`: phy2log, log2phy and logcnt."""

import io
import zipfile
import zlib

import numpy as np

from tiger.errors import InputError
from tiger.expert_maps.maps.expert_map import FIELD, ExpertMap
from tiger.expert_maps.replicas.loads import LAYERS_MAX, SLOTS_MAX
from tiger.expert_maps.replicas.tensors import Tensors, make_tensors
from tiger.expert_maps.traces import NO_ARRAY
from tiger.model.arrays import IntArray

# What the arrays of the largest map take when they are unpacked, all slots being replicas of few experts.
BYTES_MAX = 4 * 8 * LAYERS_MAX * SLOTS_MAX


def write(expert_map: ExpertMap) -> bytes:
    """Return the file of a map."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **make_tensors(expert_map.phy2log, expert_map.experts)._asdict())
    return buffer.getvalue()


def read(content: bytes, gpus: int) -> ExpertMap:
    """Return the map of a file, whose slots `gpus` GPUs share; raise InputError of `map` or of an array of it.

    The slots of an expert may be listed in any order, and serving systems pad them with more of -1 than EPLB does.
    """
    found = Tensors(*(_read_array(content, name) for name in Tensors._fields))
    expert_map = ExpertMap(found.phy2log, gpus)
    own = make_tensors(expert_map.phy2log, expert_map.experts)
    if not np.array_equal(found.logcnt, own.logcnt):
        raise InputError(f"{FIELD}/logcnt", "expected the replicas that phy2log has, got other numbers")
    if not _list_same_slots(found.log2phy, own.log2phy):
        raise InputError(f"{FIELD}/log2phy", "expected the slots that phy2log gives each expert, got others")
    return expert_map


def _list_same_slots(found: IntArray, own: IntArray) -> bool:
    """Return whether arrays list the same slots for each expert, in any order and with any number of -1."""
    if found.ndim != 3 or found.shape[:2] != own.shape[:2] or found.shape[2] < own.shape[2]:
        return False
    listed = np.sort(found, axis=2)
    padding = found.shape[2] - own.shape[2]
    return bool((listed[..., :padding] == -1).all() and np.array_equal(listed[..., padding:], np.sort(own, axis=2)))


def _read_array(content: bytes, name: str) -> IntArray:
    """Return an array of whole numbers of a numpy file, without running anything that it may hold."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if archive.getinfo(f"{name}.npy").file_size > BYTES_MAX:
                raise InputError(f"{FIELD}/{name}", f"expected at most {BYTES_MAX} bytes, got more")
            found = np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
    except KeyError:
        raise InputError(f"{FIELD}/{name}", "expected an array of this name, got none") from None
    except InputError:
        raise
    except (*NO_ARRAY, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error) as error:
        raise InputError(FIELD, "expected a numpy file (.npz) of whole numbers, got another") from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu":
        raise InputError(f"{FIELD}/{name}", "expected whole numbers, got others")
    return found
