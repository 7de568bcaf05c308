"""Where compiled kernels are kept: in numba's folders, or in a temporary one where none of those can be written to.

Numba passes over a folder that it cannot write to, with all that is compiled in there. Here that is loaded, so that an
image, or an installation that many users share, is compiled once, by who may write to it.
"""

import inspect
import os
import pickle
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    IndexDataCacheFile,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
    _CacheLocator,
)

# What reading a file of another version raises, one that is torn, or one that this user may not read.
UNREADABLE = (AttributeError, ImportError, EOFError, pickle.UnpicklingError, OSError)
REMEDY = (
    "set NUMBA_CACHE_DIR to a folder that can, or run `tiger warm` where TIGER is installed and who runs it may write"
)


class TemporaryLocator(UserWideCacheLocator):
    """Locate a function's folder among temporary files, in one that its user alone can enter."""

    def __init__(self, function: FunctionType, file: str) -> None:
        super().__init__(function, file)  # type: ignore[no-untyped-call]  # numba has no annotations
        self._root = Path(tempfile.gettempdir(), f"tiger-kernels-{os.getuid()}")
        self._cache_path = str(self._root / Path(self._cache_path).name)

    def ensure_cache_path(self) -> None:
        """Make the folder; raise PermissionError where it is not its user's alone, for what is in there is run."""
        self._root.mkdir(mode=0o700, exist_ok=True)
        found = self._root.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise PermissionError(f"{self._root} is not a folder of this user alone")
        super().ensure_cache_path()  # type: ignore[no-untyped-call]  # as above

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> "TemporaryLocator | None":
        """Return the locator, None where there is no such folder, as on Windows, whose users have no numbers."""
        with suppress(OSError, AttributeError):
            located: TemporaryLocator | None = super().from_function(function, file)  # type: ignore[no-untyped-call]  # as above
            return located
        return None


class UnwritableLocator(InTreeCacheLocator):
    """Locate the folder beside a function's file without writing to it, so that other folders are read at least."""

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> "UnwritableLocator | None":
        """Return the locator, None for a function that is in no file."""
        return cls(function, file) if os.path.exists(file) else None  # noqa: PTH110 (as numba does, which never raises)


class KernelFolders(CompileResultCacheImpl):
    """Find the folder of a function: numba's first one that can be written to, or else a temporary one."""

    _locator_classes = [  # noqa: RUF012 (as numba declares it)
        *CompileResultCacheImpl._locator_classes,
        TemporaryLocator,
        UnwritableLocator,
    ]


class KernelFile(IndexDataCacheFile):
    """Keep what a function is compiled to in the last of its folders, and load it from the first that has it.

    Files that cannot be read count as missing.
    """

    def __init__(self, folders: list[str], name: str, stamp: object) -> None:
        super().__init__(folders[-1], name, stamp)  # type: ignore[no-untyped-call]  # as above
        self._folders, self._name = folders, name

    def load(self, key: object) -> object:
        """Return the value kept under a key, None if there is none."""
        for folder in self._folders:
            with suppress(*UNREADABLE):
                found: object = IndexDataCacheFile(folder, self._name, self._source_stamp).load(key)
                if found is not None:
                    return found
        return None

    def _load_index(self) -> dict[object, str]:
        """Return the names of the last folder's files by their keys, which numba asks for when it writes another."""
        with suppress(*UNREADABLE):
            names: dict[object, str] = super()._load_index()  # type: ignore[no-untyped-call]  # as above
            return names
        return {}


def list_unwritable(function: Callable[..., object], chosen: _CacheLocator) -> Iterator[_CacheLocator]:
    """Yield the locators of numba's folders that come before the one which was chosen, as they cannot be written to."""
    for kind in (UserProvidedCacheLocator, InTreeCacheLocator, UserWideCacheLocator):
        if type(chosen) is kind:
            return
        if kind is not UserProvidedCacheLocator or config.CACHE_DIR:  # type: ignore[attr-defined]  # set from the environment
            yield kind(function, inspect.getfile(function))


@dataclass(frozen=True, slots=True)
class Place:
    """Hold the folder that kernels are written to, None if there is none, and those before it that cannot be."""

    folder: Path | None
    unwritable: tuple[Path, ...]
    lasts: bool

    def describe(self) -> str:
        """Return whether kernels are kept, and what to do where they are not."""
        if self.lasts:
            return "they are kept, so this happens once after installation"
        kept = f"they are kept in {self.folder} for now" if self.folder else "they are not kept"
        return f"{kept}, as none can be written to of {self.name_unwritable()}: {REMEDY}"

    def name_unwritable(self) -> str:
        """Return the folders that cannot be written to."""
        return ", ".join(map(str, self.unwritable))


def find_place() -> Place:
    """Return where the kernels of this file's folder are kept, as those of the others are beside it."""
    try:
        chosen = KernelFolders(find_place).locator  # type: ignore[no-untyped-call]  # as above
    except RuntimeError:
        # NUMBA_CACHE_LOCATOR_CLASSES names other locators, which find no folder.
        chosen = UnwritableLocator(find_place, __file__)  # type: ignore[no-untyped-call]  # as above
    before = tuple(_name_folder(locator) for locator in list_unwritable(find_place, chosen))
    folder = None if isinstance(chosen, UnwritableLocator) else _name_folder(chosen)
    return Place(folder, before, not isinstance(chosen, TemporaryLocator | UnwritableLocator))


def _name_folder(locator: _CacheLocator) -> Path:
    """Return a folder of numba's, or of the files beside it; not one in there that is named by a hash."""
    folder = Path(locator.get_cache_path())
    return folder if isinstance(locator, InTreeCacheLocator) else folder.parent
