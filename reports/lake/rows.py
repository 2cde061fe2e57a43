"""Makes a table from a short list of rows in the driver, without Python on the executors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from reports.lake.schemas import build_struct_type

TIMESTAMP_TYPE = "timestamp"


def make_table(spark: SparkSession, rows: Iterable[Mapping[str, object]], columns: Mapping[str, str]) -> DataFrame:
    """Return a table of the rows with the given columns and types. Missing values are null, and additional values
    are dropped.
    """
    # The rows are a part of the plan. A Python list would be unpacked by Python at each use.
    text = json.dumps([{name: _to_plain_value(row.get(name)) for name in columns} for row in rows], ensure_ascii=True)
    read = {name: "string" if type_ == TIMESTAMP_TYPE else type_ for name, type_ in columns.items()}
    values = sql.from_json(sql.lit(text), f"array<{build_struct_type(read)}>", {"mode": "FAILFAST"})
    each = spark.range(1).select(sql.explode(values).alias("row"))
    return each.select(*(sql.col(f"row.`{name}`").cast(type_).alias(name) for name, type_ in columns.items()))


def _to_plain_value(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
