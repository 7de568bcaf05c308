"""The code of the page reads what the service sends, as TypeScript tells from the types of the service."""

import shutil
import subprocess
from pathlib import Path

import pytest

from docs.scripts.check_page import find_errors, provide_page
from docs.scripts.typescript import TYPES
from tests.api.page.browser import go_without

pytestmark = pytest.mark.slow
# A file, a field in it, and what a careless change calls that: in code of the page, and then in the schema.
DRIFTS = (
    ("mapping.js", "distance_width", "width_of_distance"),
    ("draw/gantt.js", "start_s", "begin_s"),
    ("job.js", "violations", "failings"),
    ("job.js", "fraction", "portion"),
    ("circuit.js", "readout_error", "measurement_error"),
    ("schema.js", "time_limit_s", "time_limit_ms"),
    (TYPES.name, "baseline_extra_cx", "usual_extra_cx"),
    (TYPES.name, "media_type", "mime_type"),
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a folder with the page, TypeScript, and the types of third-party code."""
    if not (shutil.which("node") and shutil.which("npm")):
        go_without("needs Debian's packages nodejs and npm")
    try:
        provide_page(tmp_path)
    except subprocess.CalledProcessError:
        go_without("needs a registry that npm can reach")
    return tmp_path


def test_the_page_reads_what_the_service_sends(work: Path) -> None:
    """No code contradicts the types of the service; where a copy drifted, each field that one side lacks is named."""
    shutil.copytree(work / "page", work / "drifted")
    for name, old, new in DRIFTS:
        path = work / "drifted" / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    config = work / "tsconfig.json"
    config.write_text(config.read_text(encoding="utf-8").replace('["page"]', '["page", "drifted"]'), encoding="utf-8")
    errors = find_errors(work)
    assert [line for line in errors.splitlines() if not line.startswith(("drifted/", " "))] == []
    lacking = [old if name == TYPES.name else new for name, old, new in DRIFTS]
    assert [field for field in lacking if f"'{field}'" not in errors and f'"{field}"' not in errors] == []
