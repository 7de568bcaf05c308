"""Check the types of the page against those of the service: `python docs/scripts/check_page.py`.

It needs node and npm. TypeScript reads the JavaScript of api/page with its comments: what these call a report, a view
or a request has the fields that api/page/types.d.ts gives it, and no others. Third-party code has the types of its
packages, which docs/scripts/vendor/package-lock.json names.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs" / "scripts" / "vendor"
PAGE = ROOT / "api" / "page"


def main() -> int:
    """Print what is wrong, and return 1 where something is."""
    with tempfile.TemporaryDirectory() as folder:
        provide_page(Path(folder))
        errors = find_errors(Path(folder))
    sys.stdout.write(errors)
    return 1 if errors else 0


def provide_page(work: Path) -> None:
    """Copy the page into a folder, with packages beside it in place of what was bundled of them."""
    shutil.copytree(SOURCES, work, dirs_exist_ok=True)
    install = ["npm", "ci", "--no-audit", "--no-fund", "--silent", "--ignore-scripts", "--prefer-offline"]
    subprocess.run(install, cwd=work, check=True)
    shutil.copytree(PAGE, work / "page", ignore=shutil.ignore_patterns("vendor"))
    (work / "page" / "vendor").mkdir()
    for source in SOURCES.glob("*.mjs"):
        shutil.copy(source, work / "page" / "vendor" / f"{source.stem}.js")


def find_errors(work: Path) -> str:
    """Return what TypeScript finds wrong in a folder with the page, a line each."""
    checked = subprocess.run(
        ["node", "node_modules/typescript/bin/tsc"], cwd=work, check=False, capture_output=True, text=True
    )
    # What it says of a wrong call of its own is no finding.
    if checked.returncode and not checked.stdout:
        raise RuntimeError(checked.stderr)
    return checked.stdout


if __name__ == "__main__":
    sys.exit(main())
