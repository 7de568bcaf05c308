"""Tables as comma-separated values under a header, with comments."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from tiger.errors import InputError
from tiger.model.values import suggest_name
from tiger.model.wording import describe

Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvTable:
    """Hold what a table is called in errors, its columns, and those that it must have."""

    field: str
    columns: Sequence[str]
    required: Sequence[str]

    def read(self, text: str) -> Iterator[tuple[int, Cells]]:
        """Yield the line and the cells that are not empty of every row below the header.

        Lines that begin with `#` and those without any text do not count. Raises InputError of the table, or of a
        column below it that the header lacks, with the line.
        """
        reader = csv.reader(StringIO(text, newline=""), skipinitialspace=True, strict=True)
        names: list[str] = []
        try:
            for cells in reader:
                words = [cell.strip() for cell in cells]
                if not any(words) or words[0].startswith("#"):
                    continue
                if not names:
                    names = self._check_header(reader.line_num, words)
                    continue
                if len(words) != len(names):
                    reason = f"line {reader.line_num}: expected {len(names)} cells, got {len(words)}"
                    raise InputError(self.field, reason)
                yield reader.line_num, {name: word for name, word in zip(names, words, strict=True) if word}
        except csv.Error as error:
            reason = f"line {reader.line_num}: expected comma-separated values, got {error}"
            raise InputError(self.field, reason) from None

    def _check_header(self, line: int, words: list[str]) -> list[str]:
        """Return the names of the columns, each of which a header has once."""
        for k, word in enumerate(words):
            if word not in self.columns or word in words[:k]:
                hint = "" if word in self.columns else suggest_name(word, self.columns)
                what = f"expected columns out of {', '.join(self.columns)} once each at most"
                raise InputError(self.field, f"line {line}: {what}, got {describe(word)}{hint}")
        missing = next((name for name in self.required if name not in words), None)
        if missing is not None:
            raise InputError(f"{self.field}/{missing}", f"line {line}: expected a header with this column, got none")
        return words
