"""Applies renames of checks that newer suites declare: a verdict under the old name of a check counts as a verdict of
the renamed check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

SYSTEM_KEY_COLUMNS = ("sut",)
"""The columns that identify the runs of one system."""
_OLD_NAME_COLUMN, _NEW_NAME_COLUMN = "function", "new_name"


def rename_checks(
    rows: DataFrame, runs: DataFrame, suites: DataFrame, key: Sequence[str] = SYSTEM_KEY_COLUMNS
) -> DataFrame:
    """Replace the names of checks in the column ``test`` by the names that the suites of the latest run give them,
    and return the rows.

    ``key``: the columns of ``rows`` and ``runs`` that identify a system, whose latest run counts.
    """
    names = sql.broadcast(_find_new_names(runs, suites, key))
    parameters = sql.substr("test", sql.length(_OLD_NAME_COLUMN) + 1)
    renamed = sql.when(sql.col(_NEW_NAME_COLUMN).isNotNull(), sql.concat(_NEW_NAME_COLUMN, parameters)).otherwise(
        sql.col("test")
    )
    with_function = rows.withColumn(_OLD_NAME_COLUMN, sql.substring_index("test", "[", 1))
    return with_function.join(names, [*key, _OLD_NAME_COLUMN], "left").withColumn("test", renamed).select(*rows.columns)


def rename_checks_in_catalogue(
    catalogue: DataFrame, runs: DataFrame, suites: DataFrame, key: Sequence[str]
) -> DataFrame:
    """Return the catalogues of older suites, extended so that a renamed check appears under its old name and under its
    new name.
    """
    names = _find_new_names(runs, suites, key).select(_OLD_NAME_COLUMN, _NEW_NAME_COLUMN).distinct()
    added = (
        catalogue.select("suites", "rule", sql.explode("checks").alias(_OLD_NAME_COLUMN))
        .join(sql.broadcast(names), _OLD_NAME_COLUMN)
        .groupBy("suites", "rule")
        .agg(sql.collect_set(_NEW_NAME_COLUMN).alias("added"))
    )
    both = sql.array_union("checks", sql.coalesce("added", sql.array().cast("array<string>")))
    joined = catalogue.join(sql.broadcast(added), ["suites", "rule"], "left")
    return joined.withColumn("checks", both).select(*catalogue.columns)


def find_new_names_by_system(runs: DataFrame, suites: DataFrame) -> dict[str, Mapping[str, str]]:
    """Return, for each system (by its key), the new name of each renamed check. The keys are the old names without
    parameters.
    """
    newest = {row.sut: row.suites for row in _find_newest_suites(runs, SYSTEM_KEY_COLUMNS).collect()}
    known = suites.where(sql.col("suites").isin(sorted(set(newest.values())))).select("suites", "renamed")
    names = {row.suites: row.renamed or {} for row in known.collect()}
    return {system: names.get(of, {}) for system, of in newest.items()}


def _find_new_names(runs: DataFrame, suites: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return a row for each check that the newest suites renamed: the columns of the key, the old name and the new
    name.
    """
    newest = _find_newest_suites(runs, key)
    names = suites.select("suites", sql.explode("renamed").alias(_OLD_NAME_COLUMN, _NEW_NAME_COLUMN))
    return names.join(sql.broadcast(newest), "suites").select(*key, _OLD_NAME_COLUMN, _NEW_NAME_COLUMN)


def _find_newest_suites(runs: DataFrame, key: Sequence[str]) -> DataFrame:
    return runs.groupBy(*key).agg(sql.max_by("suites", "ingest").alias("suites"))
