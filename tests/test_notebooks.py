"""Tests of the notebooks: they run from top to bottom, and are committed without output."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.util import run_sync

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_committed_without_output(path: Path) -> None:
    """What a cell prints belongs to the run that printed it."""
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert [cell for cell in code if cell.outputs or cell.execution_count is not None] == []


@pytest.fixture(scope="module")
def kernel() -> Iterator[AsyncKernelManager]:
    """Return a running kernel of Python in the folder of the notebooks."""
    manager = AsyncKernelManager(kernel_name="python3")
    run_sync(manager.start_kernel)(cwd=str(NOTEBOOKS[0].parent))
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run_from_top_to_bottom(path: Path, kernel: AsyncKernelManager) -> None:
    """No cell fails, with no name left of the notebook before."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    client = NotebookClient(notebook, km=kernel, timeout=600)
    try:
        client.execute()
    finally:
        # Left to itself, it would leave its sockets open with the kernel.
        if client.kc is not None:
            client.kc.stop_channels()
