"""Defines the tables of the lake, with their columns and types. Programs that read the files with SQL rely on these
definitions.

Facts are written once per ingest and never change; an ingest rewrites the derived tables of the units that it
changes. Times are in UTC. Types are Spark SQL types.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

SYSTEM_COLUMN_TYPES: Final = {"sut": "string", "sut_name": "string", "sut_version": "string", "profile": "string"}
"""The columns of a system under test: its key (the `build_system_key` of the three other columns), name, version and
profile.
"""
RULE_COLUMN_TYPES: Final = {"rule": "string", "document": "string", "section": "string", "level": "string"}
RUN_COLUMN_TYPES: Final = {
    "run": "string",
    "ingest": "bigint",
    **SYSTEM_COLUMN_TYPES,
    "reach": "string",
    "started": "timestamp",
}
"""The columns that describe the run of a row, and that every table has. ``ingest``: the number of the run in the order
of ingest, from 1.
"""
PACKET_COLUMN_TYPES: Final = {
    "position": "int",
    "frame": "int",
    "first": "int",
    "last": "int",
    "time_ms": "bigint",
    "direction": "string",
    "transport": "string",
    "hex": "string",
    "dissection": "string",
}
"""The columns of a packet that is evidence for a verdict: the number of its frame in the capture, and the octets that
decided the verdict (null if the whole packet did).

Only verdict files of schema 1 fill the last five columns.
"""


def build_struct_type(columns: dict[str, str]) -> str:
    """Return the Spark type of a struct with the given columns."""
    return f"struct<{', '.join(f'{name}: {type_}' for name, type_ in columns.items())}>"


COLUMNS_OF_UNDECIDED_VERDICT_AFTER_DECISION: Final = {
    "verdict": "string",
    "run": "string",
    "ingest": "bigint",
    "started": "timestamp",
    "test": "string",
    "reason": "string",
}
"""The columns that describe the latest undecided verdict, if it is later than the current verdict of the rule."""

COLUMN_TYPES_BY_FACT_TABLE: Final[dict[str, dict[str, str]]] = {
    "runs": {
        "run": "string",
        "ingest": "bigint",
        "ingested": "timestamp",
        "folder": "string",
        "schema": "int",
        **SYSTEM_COLUMN_TYPES,
        "vendor": "string",
        "reach": "string",
        "harness": "string",
        "suites": "string",
        "selection": "string",
        "started": "timestamp",
        "finished": "timestamp",
        "exit": "int",
        "aborted": "string",
        "partial": "boolean",
        "size": "bigint",
        "modified": "timestamp",
        "digest": "string",
        "lines": "bigint",
        "kept": "bigint",
        "rejected": "bigint",
        "extra": "string",
    },
    "suites": {
        "suites": "string",
        "documents": "map<string, string>",
        "coverage": "array<"
        + build_struct_type(
            dict.fromkeys(("document", "section", "title", "demand", "kind"), "string")
            | dict.fromkeys(("rows", "catalogued", "checked", "proven", "none"), "int")
        )
        + ">",
        "members": "array<"
        + build_struct_type(dict.fromkeys(("name", "title", "exercised", "reference", "left_out"), "string"))
        + ">",
        "renamed": "map<string, string>",
    },
    "catalogue": {
        "suites": "string",
        "rule": "string",
        "document": "string",
        "section": "string",
        "title": "string",
        "level": "string",
        "form": "string",
        "kind": "string",
        "observe": "string",
        "observed": "string",
        "role": "string",
        "says": "string",
        "why": "string",
        "link": "string",
        "checked": "boolean",
        "proven": "boolean",
        "checks": "array<string>",
        "varied": "array<string>",
        "cells": "int",
        "explored": "array<string>",
    },
    "verdicts": {
        **RUN_COLUMN_TYPES,
        "seq": "bigint",
        "time": "timestamp",
        **RULE_COLUMN_TYPES,
        "verdict": "string",
        "expected": "string",
        "observed": "string",
        "reason": "string",
        "test": "string",
        "capture": "string",
        "advice": "string",
        "errata": "array<string>",
        "notes": "array<string>",
        "extra": "string",
    },
    "evidence": {"run": "string", "seq": "bigint", **PACKET_COLUMN_TYPES},
    "rejected": {"run": "string", "folder": "string", "line": "bigint", "reason": "string", "text": "string"},
    "test_runs": {
        **RUN_COLUMN_TYPES,
        "suites": "string",
        "partial": "boolean",
        "test": "string",
        **RULE_COLUMN_TYPES,
        "verdict": "string",
        "seq": "bigint",
        "lines": "bigint",
    },
    "rule_runs": {
        **RUN_COLUMN_TYPES,
        "suites": "string",
        "partial": "boolean",
        **RULE_COLUMN_TYPES,
        "verdict": "string",
        "tests": "bigint",
        "counts": "map<string, bigint>",
    },
    "exchanges": {
        "pair": "string",
        "ingest": "bigint",
        "folder": "string",
        "started": "timestamp",
        "position": "int",
        "scenario": "string",
        "letter": "string",
        "origin": "string",
        "origin_name": "string",
        "target": "string",
        "target_name": "string",
        "result": "string",
        "why": "string",
        "capture": "string",
        "broken": "map<string, array<string>>",
    },
}
COLUMN_TYPES_BY_DERIVED_TABLE: Final[dict[str, dict[str, str]]] = {
    "rule_current": {
        **SYSTEM_COLUMN_TYPES,
        **RULE_COLUMN_TYPES,
        "verdict": "string",
        "run": "string",
        "ingest": "bigint",
        "started": "timestamp",
        "reach": "string",
        "partial": "boolean",
        "test": "string",
        "seq": "bigint",
        "expected": "string",
        "observed": "string",
        "reason": "string",
        "capture": "string",
        "errata": "array<string>",
        "notes": "array<string>",
        "evidence": f"array<{build_struct_type(PACKET_COLUMN_TYPES)}>",
        "tests": "bigint",
        "counts": "map<string, bigint>",
        "retired": "boolean",
        "beside": f"array<{build_struct_type(COLUMNS_OF_UNDECIDED_VERDICT_AFTER_DECISION)}>",
    },
    "changes": {
        "sut_name": "string",
        "profile": "string",
        "rule": "string",
        "document": "string",
        "section": "string",
        "ingest": "bigint",
        "run": "string",
        "sut_version": "string",
        "verdict": "string",
        "run_before": "string",
        "version_before": "string",
        "verdict_before": "string",
        "change": "string",
    },
    "check_current": {
        "sut_name": "string",
        "profile": "string",
        "rule": "string",
        "test": "string",
        "document": "string",
        "section": "string",
        "ingest": "bigint",
        "verdict": "string",
        "counts": "boolean",
        "judged_under": "array<bigint>",
    },
    "flaky": {
        **SYSTEM_COLUMN_TYPES,
        "suites": "string",
        "rule": "string",
        "test": "string",
        "runs": "bigint",
        "verdicts": "map<string, bigint>",
        "changes": "bigint",
        "last": "string",
    },
    "matrix": {
        "document": "string",
        "section": "string",
        **SYSTEM_COLUMN_TYPES,
        "verdict": "string",
        "rules": "bigint",
        "verdicts": "bigint",
    },
    "pairs": {
        "document": "string",
        "a": "string",
        "b": "string",
        "role": "string",
        "verdict": "string",
        "rules": "bigint",
    },
}
"""The derived tables.

In ``pairs``, ``a`` is the key of a system, ``b`` is the key of its counterpart or "reference <harness>", and
``role`` is the role of ``a``.
"""
COLUMN_TYPES_BY_TABLE: Final = COLUMN_TYPES_BY_FACT_TABLE | COLUMN_TYPES_BY_DERIVED_TABLE


def build_table_ddl(table: str) -> str:
    """Return the schema of a table as a DDL text of Spark."""
    return ", ".join(f"`{name}` {type_}" for name, type_ in COLUMN_TYPES_BY_TABLE[table].items())


def make_empty_table(spark: SparkSession, table: str) -> DataFrame:
    """Return a table of the lake without rows."""
    return spark.range(0).select(
        *(sql.lit(None).cast(type_).alias(name) for name, type_ in COLUMN_TYPES_BY_TABLE[table].items())
    )


def arrange_table_columns(frame: DataFrame, table: str, *more: str) -> DataFrame:
    """Return the columns of the table in their order and with their types, followed by the additional columns ``more``,
    whose types are not changed.

    A missing column is an error.
    """
    return frame.select(
        *(sql.col(name).cast(type_).alias(name) for name, type_ in COLUMN_TYPES_BY_TABLE[table].items()), *more
    )


def compute_system_key(name: Column, version: Column, profile: Column) -> Column:
    """Return the Spark expression that computes the same key as `reports.text.build_system_key`."""
    words = sql.concat_ws(" ", name, version, profile)
    parts = sql.concat(*(sql.concat(sql.length(part), sql.lit(":"), part) for part in (name, version, profile)))
    short = sql.lower(sql.regexp_replace(sql.regexp_replace(words, "[^A-Za-z0-9]+", "-"), "^-", ""))
    short = sql.regexp_replace(sql.substring(short, 1, 40), "-$", "")
    return sql.concat_ws("-", sql.when(short == "", "x").otherwise(short), sql.substring(sql.sha2(parts, 256), 1, 8))
