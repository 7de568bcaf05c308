"""Tests of where compiled kernels are kept, and of folders that cannot be written to.

Rights do not bind root, so that the folders of numba refuse by themselves here.
"""

import errno
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import caching, config

from tiger.solvers import kernel
from tiger.solvers.kernel_folders import REMEDY, find_place

TEXT = "from tiger.solvers.kernel import kernel\n\n@kernel\ndef double(value):\n    return 2 * value\n"


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that imports a kernel anew and doubles 2; it is kept in `kept`, temporarily in `temporary`."""
    file = tmp_path / "doubled.py"
    file.write_text(TEXT)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(kernel, "LOSSES", [])

    def run() -> int:
        names: dict[str, Callable[[int], int]] = {"__name__": "doubled"}
        exec(compile(TEXT, str(file), "exec"), names)
        return names["double"](2)

    yield run
    kernel.FILES.pop(str(file), None)


@pytest.fixture
def read_alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which no folder can be written to, but for the temporary one."""
    ensure = caching._CacheLocator.ensure_cache_path

    def refuse(locator: caching._CacheLocator) -> None:
        if f"tiger-kernels-{os.getuid()}" not in locator.get_cache_path():
            raise PermissionError
        ensure(locator)

    return lambda: monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)


def test_bug_kernels_in_a_folder_that_cannot_be_written_to_were_compiled_again(double, read_alone, tmp_path) -> None:
    """Tests an image whose file system is read alone."""
    assert double() == 4
    read_alone()
    with kernel.refuse_to_compile():
        assert double() == 4
    assert list((tmp_path / "temporary").rglob("*.nb?")) == []


def test_bug_each_process_compiled_again_what_it_could_not_write(double, read_alone, tmp_path, caplog) -> None:
    """Tests that a temporary folder of this user alone has what is compiled, for all of its processes."""
    read_alone()
    with caplog.at_level(logging.WARNING, "tiger"):
        assert double() == 4
    with kernel.refuse_to_compile():
        assert double() == 4
    place = find_place()
    assert (place.folder, place.lasts) == (tmp_path / "temporary" / f"tiger-kernels-{os.getuid()}", False)
    assert place.folder.stat().st_mode & 0o777 == 0o700
    assert place.unwritable[0] == tmp_path / "kept"


@pytest.mark.parametrize("kind", ["open", "link", "none"])
def test_a_temporary_folder_that_others_can_write_to_is_not_used(kind, double, read_alone, tmp_path) -> None:
    """Tests one that all may enter, a link and a place without one: the kernel runs, and is not kept."""
    folder, other = tmp_path / "temporary" / f"tiger-kernels-{os.getuid()}", tmp_path / "other"
    other.mkdir(mode=0o700)
    {"open": folder.mkdir, "link": lambda: folder.symlink_to(other), "none": folder.parent.rmdir}[kind]()
    read_alone()
    assert double() == 4
    assert (find_place().folder, find_place().lasts) == (None, False)
    assert [*other.iterdir(), *tmp_path.rglob("*.nb?")] == []


def test_bug_a_disk_that_is_full_ended_what_had_to_compile(double, monkeypatch, caplog) -> None:
    """Tests that the kernel runs, and that it is said once that it is not kept."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", fail)
    with caplog.at_level(logging.ERROR, "tiger"):
        assert [double(), double()] == [4, 4]
    (line,) = caplog.messages
    assert line == f"search kernels are not kept: [Errno 28] No space left on device; {REMEDY}"


def test_bug_a_torn_file_ended_what_loaded_it(double, tmp_path) -> None:
    """Tests files that a machine left empty when it lost its power: they are written again."""
    double()
    for index in (tmp_path / "kept").rglob("*.nbi"):
        index.write_bytes(b"")
    assert double() == 4
    with kernel.refuse_to_compile():
        assert double() == 4


def test_what_is_said_of_kernels_that_are_compiled(double, read_alone, tmp_path) -> None:
    """Tests that they are only said to be kept where they are, with the folders at fault and the remedy elsewhere."""
    assert find_place().describe() == "they are kept, so this happens once after installation"
    read_alone()
    said = find_place().describe()
    assert f"kept in {tmp_path / 'temporary'}" in said
    assert f"as none can be written to of {tmp_path / 'kept'}, " in said
    assert said.endswith(REMEDY)
    shutil.rmtree(tmp_path / "temporary")
    assert find_place().describe().startswith("they are not kept, as none can be written to of ")


def test_locators_that_numba_is_told_to_use_may_find_nothing(double, monkeypatch) -> None:
    """Tests numba's own variable for that."""
    monkeypatch.setattr(config, "CACHE_DIR", os.devnull)
    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    assert double() == 4
    assert find_place().folder is None
