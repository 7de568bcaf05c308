"""Tests of files that change all at once or not at all."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from tiger.errors import InputError
from tiger.run import outfile


def files(folder: Path) -> dict[str, str]:
    """Return what a folder holds."""
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("before", [{}, {"out.json": "old"}])
def test_check_leaves_no_trace(tmp_path: Path, before: dict[str, str]) -> None:
    """A file that is only checked does not appear, and one that is there stays as it is."""
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    outfile.check(str(tmp_path / "out.json"), "json")
    assert files(tmp_path) == before


@pytest.mark.parametrize("before", [{}, {"out.json": "old"}])
def test_write_puts_the_text_in_place(tmp_path: Path, before: dict[str, str]) -> None:
    """The file holds the text, and nothing else is left beside it."""
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    outfile.write(str(tmp_path / "out.json"), "json", "new")
    assert files(tmp_path) == {"out.json": "new"}


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up costs neither the old file nor a stray one."""

    class Full(io.BytesIO):
        """A file on a full disk."""

        def writelines(self, parts: object) -> None:
            raise OSError(28, "No space left on device")

    def open_full(path: Path, mode: str) -> Full:
        path.touch()
        return Full()

    (tmp_path / "out.json").touch()
    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(InputError, match=r"json: expected a file that can be written, got .*No space left"):
        outfile.write(str(tmp_path / "out.json"), "json", "new")
    monkeypatch.undo()
    assert files(tmp_path) == {"out.json": ""}


def test_what_comes_in_parts_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """A part that cannot be made leaves the old file."""

    def fail() -> Iterator[bytes]:
        yield b"new"
        raise ZeroDivisionError

    target = str(tmp_path / "out")
    outfile.write_parts(target, "output", [b"a", b"b"])
    with pytest.raises(ZeroDivisionError):
        outfile.write_parts(target, "output", fail())
    assert files(tmp_path) == {"out": "ab"}


def test_write_goes_through_a_link(tmp_path: Path) -> None:
    """A link stays one, and the file that it points to is replaced."""
    (tmp_path / "link").symlink_to("real")
    outfile.write(str(tmp_path / "link"), "json", "new")
    assert (tmp_path / "link").is_symlink()
    assert files(tmp_path) == {"link": "new", "real": "new"}


def test_a_device_is_written_as_it_is() -> None:
    """A device is not replaced by a file, and says itself when it is full."""
    outfile.check("/dev/null", "json")
    outfile.write("/dev/null", "json", "gone")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(InputError, match="No space left"):
        outfile.write("/dev/full", "json", "text")


@pytest.mark.parametrize("target", ["no/such/folder/out.json", ".", "", "loop", "x" * 300])
def test_a_place_that_cannot_be_written(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder, a folder, a loop of links and a name that is none are refused, by name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="expected a file that can be written") as caught:
        outfile.check(target, "json")
    assert caught.value.field == "json"


def test_a_read_only_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be written is not replaced, though its folder would allow that."""
    (tmp_path / "out.json").write_text("old")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(InputError, match="it is read-only"):
        outfile.check(str(tmp_path / "out.json"), "json")


@pytest.mark.parametrize("before", [{}, {"model.bqm": b"old"}])
def test_write_takes_bytes_too(tmp_path: Path, before: dict[str, bytes]) -> None:
    """Bytes are written as they are."""
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    outfile.write(str(tmp_path / "model.bqm"), "output", b"\x00\xff\r\n")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"model.bqm": b"\x00\xff\r\n"}
