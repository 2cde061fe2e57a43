"""Writes a table of the lake as CSV or JSON, for ``mqconform lake export``."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from typing import TextIO

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from reports.lake.schemas import COLUMN_TYPES_BY_DERIVED_TABLE
from reports.text import escape_formula

_TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"
_NESTED_TYPES = (ArrayType, MapType, StructType)


def write_csv(rows: DataFrame, out: TextIO) -> None:
    """Write a table as CSV: a line of column names, then a line for each row.

    Arrays, maps and structs are written as JSON, and null as an empty cell. A text that a spreadsheet would
    interpret as a formula gets a leading apostrophe, because tested systems choose the texts.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows.columns)
    texts = {name for name, type_ in rows.dtypes if type_ == "string"}
    cells = rows.select(
        *(_format_cell_column(field.name, field.dataType).alias(field.name) for field in rows.schema.fields)
    )
    for row in cells.toLocalIterator():
        writer.writerow(
            "" if cell is None else escape_formula(cell) if name in texts else cell
            for name, cell in zip(rows.columns, row, strict=True)
        )


def write_json(rows: DataFrame, out: TextIO) -> None:
    """Write a table as a JSON array. Each row is an object on one line that has every column."""
    lines = rows.select(sql.to_json(sql.struct("*"), _JSON_OPTIONS).alias("line"))
    texts: Iterator[str] = (row.line for row in lines.toLocalIterator())
    out.write("[")
    for number, text in enumerate(texts):
        out.write(f"{',' if number else ''}\n{text}")
    out.write("\n]\n")


TABLE_WRITER_BY_FORMAT: dict[str, Callable[[DataFrame, TextIO], None]] = {"csv": write_csv, "json": write_json}
_JSON_OPTIONS = {"ignoreNullFields": "false", "timestampFormat": _TIME_FORMAT}


def sort_table(rows: DataFrame, table: str) -> DataFrame:
    """Return a derived table in sorted order, so that exports can be compared.

    Return a table of facts unsorted, because it may have millions of rows.
    """
    if table not in COLUMN_TYPES_BY_DERIVED_TABLE:
        return rows
    return rows.orderBy(*(field.name for field in rows.schema.fields if not isinstance(field.dataType, _NESTED_TYPES)))


def _format_cell_column(name: str, type_: DataType) -> Column:
    if isinstance(type_, _NESTED_TYPES):
        return sql.to_json(sql.col(name), _JSON_OPTIONS)
    if isinstance(type_, TimestampType):
        return sql.date_format(name, _TIME_FORMAT)
    return sql.col(name).cast("string")
