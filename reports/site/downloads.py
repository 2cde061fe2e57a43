"""Writes the tables of the pages as CSV and JSON files for programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from reports.site import names

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of cells that a spreadsheet would interpret as formulas."""


def write_table(site: Path, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table to ``data/<table>.csv`` and to ``.json`` (an array of objects), one row at a time."""
    with (
        (site / names.name_data_file(table, "csv")).open("w", encoding="utf-8", errors="replace", newline="") as sheet,
        (site / names.name_data_file(table, "json")).open("w", encoding="ascii") as objects,
    ):
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(columns)
        objects.write("[")
        for number, row in enumerate(rows):
            writer.writerow([_escape_cell(each) for each in row])
            objects.write(f"{',' if number else ''}\n{json.dumps(dict(zip(columns, row, strict=True)), default=str)}")
        objects.write("\n]\n")


def _escape_cell(value: object) -> object:
    """Escape a cell that begins like a formula, because tested systems choose the texts and a spreadsheet would execute
    the formula.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
