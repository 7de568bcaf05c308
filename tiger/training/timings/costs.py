"""Where the times of operations come from: measured tables, and factors that were fitted to measured runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

from tiger.errors import InputError
from tiger.model.document import Document
from tiger.model.jsontext import read_json
from tiger.model.spelling import spelled
from tiger.model.text import FileText, find_file, read_text
from tiger.model.values import check_positive, suggest_name
from tiger.model.wording import describe

FIELD = "costs"
# The installed package of measured tables, as a word.
PACKAGE = "aiconfigurator"
# What a file of costs may state.
KEYS = ("factors", "tables", "csv")
# The schema of reports of `tiger calibrate`, which have these among their members.
CALIBRATION: Final = "tiger.calibration/1"
# Factors beyond this are slips: no software is a thousand times slower than a roofline, or quicker.
FACTOR_LIMIT = 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors(Document):
    """Hold by what to multiply the seconds of products, of attention, of numbers moved, and of messages.

    Messages go `inside` machines and `between` them.
    """

    products: float = 1.0
    attention: float = 1.0
    memory: float = 1.0
    inside: float = 1.0
    between: float = 1.0


NO_FACTORS = Factors()
NAMES = tuple(each.name for each in fields(Factors))


@dataclass(frozen=True, slots=True)
class CostSource:
    """Hold what times are from: tables by a word, a folder or the text of a CSV file, none of them for a roofline."""

    factors: Factors = NO_FACTORS
    tables: str | Path | None = None
    csv: str | None = None


USUAL_SOURCE = CostSource()


@dataclass(frozen=True, eq=False)
class CostArguments:
    """Say where the times of a transformer come from: a roofline of its devices without `costs`.

    `costs` is a file of measured operations (.csv), a folder of tables as aiconfigurator-core has them, the word
    `aiconfigurator` for that package where it is installed, or what `tiger calibrate` wrote (.json).
    """

    costs: Mapping[str, object] | Path | str | None = field(
        default=None,
        kw_only=True,
        metadata=spelled(
            "Where times of a transformer come from: a .csv of measured operations, a folder of tables, "
            "aiconfigurator for that package, or a .json of `tiger calibrate`; a roofline without it.",
            metavar="FILE|FOLDER|aiconfigurator",
            panel="Hardware",
        ),
    )


def read_source(stated: Mapping[str, object] | Path | str | None) -> CostSource:
    """Return where times come from, by a path, a word, or a document; raise InputError of `costs` or below."""
    if stated is None:
        return USUAL_SOURCE
    if isinstance(stated, Mapping):
        return source_of_document(stated)
    if not isinstance(stated, str | Path):
        raise TypeError(f"expected costs as a path, a word or a document, got {type(stated).__name__}")
    if str(stated) == PACKAGE:
        return CostSource(tables=PACKAGE)
    path = Path(stated)
    if path.is_dir():
        return CostSource(tables=path)
    return _source_of_text(FileText(path.name, read_text(path, FIELD)))


def source_of_document(document: object) -> CostSource:
    """Return where times come from, as a document or the word says it, or None a roofline; no file is opened.

    Raises InputError of `costs` or below.
    """
    if document is None:
        return USUAL_SOURCE
    if document == PACKAGE:
        return CostSource(tables=PACKAGE)
    if not isinstance(document, Mapping):
        raise InputError(FIELD, f"expected {PACKAGE!r}, an object or a file as file and text, got {describe(document)}")
    file = find_file(FIELD, document)
    return _source_of_text(file) if file is not None else _source_of_object(document)


def state_costs(stated: Mapping[str, object] | Path | str | None) -> object:
    """Return where times come from as a service takes it; raise InputError for a folder, which stays here."""
    if stated is None or isinstance(stated, Mapping) or str(stated) == PACKAGE:
        return stated
    path = Path(stated)
    if path.is_dir():
        raise InputError(
            FIELD, f"expected a file or {PACKAGE}, as a service opens no folder, got {describe(str(stated))}"
        )
    return {"file": path.name, "text": read_text(path, FIELD)}


def _source_of_text(file: FileText) -> CostSource:
    """Return where times come from by the text of a file."""
    match Path(file.file).suffix.lower():
        case ".csv":
            return CostSource(csv=file.text)
        case ".json":
            document = read_json(file.text, FIELD)
            if not isinstance(document, Mapping) or "text" in document:
                raise InputError(FIELD, f"expected an object with {' or '.join(KEYS)}, got {describe(document)}")
            return _source_of_object(document)
    raise InputError(
        FIELD, f"expected a file ending in .csv or .json, a folder or {PACKAGE}, got {describe(file.file, 300)}"
    )


def _source_of_object(document: Mapping[str, object]) -> CostSource:
    """Return where times come from by an object."""
    report = document.get("schema") == CALIBRATION
    stated = {key: value for key, value in document.items() if key in KEYS or not (report or key == "schema")}
    unknown = next((key for key in stated if key not in KEYS), None)
    if unknown is not None or not stated:
        hint = "" if unknown is None else suggest_name(unknown, KEYS)
        raise InputError(FIELD, f"expected keys out of {', '.join(KEYS)}, got {describe(unknown)}{hint}")
    tables, csv = stated.get("tables"), stated.get("csv")
    if tables not in (None, PACKAGE):
        raise InputError(f"{FIELD}/tables", f"expected {PACKAGE!r}, got {describe(tables)}")
    if csv is not None and (not isinstance(csv, str) or tables is not None):
        reason = "expected text" if not isinstance(csv, str) else "expected none beside tables"
        raise InputError(f"{FIELD}/csv", f"{reason}, got {describe(csv)}")
    return CostSource(_read_factors(stated.get("factors", {})), None if tables is None else PACKAGE, csv)


def _read_factors(stated: object) -> Factors:
    """Return factors by their names."""
    field = f"{FIELD}/factors"
    if not isinstance(stated, Mapping):
        raise InputError(field, f"expected an object, got {describe(stated)}")
    unknown = next((key for key in stated if key not in NAMES), None)
    if unknown is not None:
        reason = f"expected keys out of {', '.join(NAMES)}, got {describe(unknown)}{suggest_name(unknown, NAMES)}"
        raise InputError(field, reason)
    values = {name: check_positive(f"{field}/{name}", value) for name, value in stated.items()}
    wild = next((name for name, value in values.items() if not 1 / FACTOR_LIMIT <= value <= FACTOR_LIMIT), None)
    if wild is not None:
        limits = f"from {1 / FACTOR_LIMIT:g} to {FACTOR_LIMIT:g}"
        raise InputError(f"{field}/{wild}", f"expected a number {limits}, got {values[wild]:g}")
    return Factors(**values)
