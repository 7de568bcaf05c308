"""The three tensors of deepseek-ai/EPLB as arrays of a numpy file, `.npz`: phy2log, log2phy and logcnt."""

import io
import zipfile
import zlib

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.pipeline.experts.maps.expert_map import FIELD, ExpertMap
from tiger.pipeline.experts.replicas.loads import LAYERS_MAX, SLOTS_MAX
from tiger.pipeline.experts.replicas.tensors import Tensors, make_tensors

# What the arrays of the largest map take when they are unpacked, all slots being replicas of few experts.
BYTES_MAX = 4 * 8 * LAYERS_MAX * SLOTS_MAX


def write(expert_map: ExpertMap) -> bytes:
    """Return the file of a map."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **make_tensors(expert_map.phy2log, expert_map.experts)._asdict())
    return buffer.getvalue()


def read(content: bytes, gpus: int) -> ExpertMap:
    """Return the map of a file, whose slots `gpus` GPUs share; raise InputError of `map` or of an array of it.

    The slots of an expert may be listed in any order.
    """
    found = Tensors(*(_read_array(content, name) for name in Tensors._fields))
    expert_map = ExpertMap(found.phy2log, gpus)
    own = make_tensors(expert_map.phy2log, expert_map.experts)
    if not np.array_equal(found.logcnt, own.logcnt):
        raise InputError(f"{FIELD}/logcnt", "expected the replicas that phy2log has, got other numbers")
    same = found.log2phy.shape == own.log2phy.shape
    if not same or not np.array_equal(np.sort(found.log2phy, axis=-1), np.sort(own.log2phy, axis=-1)):
        raise InputError(f"{FIELD}/log2phy", "expected the slots that phy2log gives each expert, got others")
    return expert_map


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
    except (ValueError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error) as error:
        raise InputError(FIELD, "expected a numpy file (.npz) of whole numbers, got another") from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu":
        raise InputError(f"{FIELD}/{name}", "expected whole numbers, got others")
    return found
