"""All tables of a random lake, computed by Spark and from the definitions by duckdb, are equal."""

from __future__ import annotations

import pytest
from lake_rows import DERIVED
from oracle import Oracle
from pyspark.sql import functions as sql
from pyspark.testing import assertDataFrameEqual

from reports.lake.schemas import COLUMN_TYPES_BY_TABLE, arrange_table_columns


@pytest.fixture(scope="module")
def oracle(lake):
    return Oracle(lake.folder)


def comparable(frame, table):
    """Replace maps by sorted lists, so that equal rows are sorted to the same position."""
    frame = arrange_table_columns(frame, table)
    maps = [name for name, type_ in COLUMN_TYPES_BY_TABLE[table].items() if type_.startswith("map")]
    return frame.select(
        *(sql.array_sort(sql.map_entries(name)).alias(name) if name in maps else name for name in frame.columns)
    )


@pytest.mark.parametrize("table", DERIVED)
def test_spark_and_duckdb_agree_on_every_row(lake, oracle, spark, table, tmp_path):
    oracle.write(table, tmp_path / "oracle.parquet", list(COLUMN_TYPES_BY_TABLE[table]))
    expected = spark.read.parquet(str(tmp_path / "oracle.parquet"))
    made = getattr(lake, table)
    assert made.count() > 10
    assertDataFrameEqual(comparable(made, table), comparable(expected, table), maxErrors=3)
