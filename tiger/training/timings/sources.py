"""Tables of measured times in any form of a caller."""

from collections.abc import Collection, Mapping
from pathlib import Path

from tiger.model.text import read_text
from tiger.training.timings.aiconfigurator import PACKAGE, package_folder, read_folder, read_package
from tiger.training.timings.csvtimes import FIELD, tables_of_csv
from tiger.training.timings.tables import TimeTable


def read_tables(source: Path | str, known: Collection[str]) -> Mapping[str, TimeTable]:
    """Return the measured times of devices by name, of those `known` to machines.

    `source` is a file of comma-separated values (`csvtimes.py`), a folder of devices as aiconfigurator-core has them,
    or the word `aiconfigurator` for the installed package. Raises InputError of `costs` or below.
    """
    if str(source) == PACKAGE:
        tables = read_package(package_folder())
    elif Path(source).is_dir():
        tables = read_folder(Path(source))
    else:
        return tables_of_csv(read_text(Path(source), FIELD), known)
    return {device: table for device, table in tables.items() if device in known}
