"""Computes the rank of verdicts in Spark. Rank 0 is the worst verdict (`reports.vocabulary`)."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as sql

from reports.vocabulary import DECIDED_VERDICTS, SEVERITY_BY_VERDICT, VERDICT_NAMES

RANKS_OF_DECIDING_VERDICTS = tuple(SEVERITY_BY_VERDICT[name] for name in DECIDED_VERDICTS)


def get_rank_of_verdict(verdict: Column) -> Column:
    """Return the rank of a verdict, from 0 (fail) to 7, or null for an unknown verdict."""
    return sql.coalesce(*(sql.when(verdict == name, sql.lit(SEVERITY_BY_VERDICT[name])) for name in VERDICT_NAMES))


def get_verdict_of_rank(rank_: Column) -> Column:
    """Return the verdict with a given rank, or null if the rank is null."""
    return sql.element_at(sql.array(*(sql.lit(name) for name in VERDICT_NAMES)), (rank_ + 1).cast("int"))


def is_verdict_decided(rank_: Column) -> Column:
    """Return whether the verdict with the given rank decides about the system (fail, warn or pass)."""
    return rank_.isin(*RANKS_OF_DECIDING_VERDICTS)


def build_verdict_count_map(numbers: Mapping[str, Column]) -> Column:
    """Return a Spark map that contains, for each verdict, the number of rows with this verdict. Verdicts without rows
    are omitted.
    """
    pairs = (each for name in VERDICT_NAMES if name in numbers for each in (sql.lit(name), numbers[name]))
    return sql.map_filter(sql.create_map(*pairs), lambda _, number: number > 0)
