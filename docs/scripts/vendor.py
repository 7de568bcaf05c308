"""Bundle the third-party code of the page, as api/page/vendor holds it.

    python docs/scripts/vendor.py

needs node and npm. It installs the packages of docs/scripts/vendor/package-lock.json, which has their hashes, bundles
each with esbuild, and writes the licences and the SHA-256 of every file beside them. To take newer versions, change
package.json there, run `npm install --package-lock-only --omit-lockfile-registry-resolved`, and this script again.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs" / "scripts" / "vendor"
TARGET = ROOT / "api" / "page" / "vendor"
LICENCES, SUMS = "LICENSES.txt", "SHA256SUMS"
# Files of packages that are only minified: a worker cannot be part of a bundle, nor style.
ALONE = {"elkjs/lib/elk-worker.min.js": "elk-worker.js", "uplot/dist/uPlot.min.css": "uplot.css"}


def main() -> None:
    """Write every file of the folder again."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for source in SOURCES.iterdir():
            shutil.copy(source, work)
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=work, check=True)
        shutil.rmtree(TARGET, ignore_errors=True)
        TARGET.mkdir(parents=True)
        for source in sorted(work.glob("*.mjs")):
            minify(work, source.name, source.with_suffix(".js").name, "--bundle", "--format=esm")
        for name, copy in ALONE.items():
            minify(work, f"node_modules/{name}", copy)
        (TARGET / LICENCES).write_text("\n".join(licences(work)), encoding="utf-8")
    sums = [f"{digest(path)}  {path.name}\n" for path in sorted(TARGET.iterdir())]
    (TARGET / SUMS).write_text("".join(sums), encoding="utf-8")


def minify(work: Path, source: str, name: str, *options: str) -> None:
    """Write one file; licences are in a file beside it."""
    usual = ["--minify", "--legal-comments=none", "--log-level=error", f"--outfile={TARGET / name}"]
    subprocess.run(["npx", "esbuild", source, *options, *usual], cwd=work, check=True)


def licences(work: Path) -> list[str]:
    """Return name, version and licence of every package that is in a bundle."""
    lock = json.loads((work / "package-lock.json").read_text(encoding="utf-8"))
    texts = []
    for place, package in sorted(lock["packages"].items()):
        name = place.removeprefix("node_modules/")
        # Tools that bundle and check are no part of what is written.
        if not place or package.get("dev"):
            continue
        stated = json.loads((work / place / "package.json").read_text(encoding="utf-8"))
        text = next(path for path in sorted((work / place).iterdir()) if path.name.lower().startswith("licen"))
        texts.append(f"{name} {stated['version']}, {stated['license']}\n\n{text.read_text(encoding='utf-8').strip()}\n")
    return texts


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
