"""The tables derived from the stored earlier runs and the new runs equal the tables derived from all runs."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as sql
from pyspark.testing import assertDataFrameEqual

from reports.lake import changes
from reports.lake.schemas import build_table_ddl


@pytest.fixture(scope="module")
def last(lake):
    """Return the number of the run from which the tables continue; it is among the random runs, whose suites change."""
    return lake.runs.agg(sql.max("ingest")).first()[0] - 15


@pytest.fixture(scope="module")
def gone_on(lake, spark, last, tmp_path_factory):
    """Return the events of each check after the ingest ``last``, computed from the stored earlier verdicts."""
    there, later = (sql.col("ingest") <= last), (sql.col("ingest") > last)
    first = changes.derive_check_current(
        changes.list_check_events(lake.test_runs.where(there), lake.runs.where(there), lake.catalogue)
    )
    where = str(tmp_path_factory.mktemp("going-on") / "before")
    first.write.parquet(where)
    before = changes.EarlierVerdicts(spark.read.schema(build_table_ddl("check_current")).parquet(where), last)
    return changes.list_check_events(lake.test_runs.where(later), lake.runs, lake.catalogue, before).cache()


def test_changes_of_product_continue_from_its_last_run(lake, gone_on, last):
    expected = lake.changes.where(sql.col("ingest") > last)  # duckdb agrees with them
    assert expected.count() > 20
    assertDataFrameEqual(changes.derive_changes(gone_on, lake.runs, last), expected, maxErrors=5)


def test_check_events_of_product_continue_from_its_last_run(lake, gone_on):
    whole = changes.derive_check_current(changes.list_check_events(lake.test_runs, lake.runs, lake.catalogue))
    found, expected = (
        each.withColumn("judged_under", sql.sort_array("judged_under"))
        for each in (changes.derive_check_current(gone_on), whole)
    )
    assert expected.count() > 20
    assertDataFrameEqual(found, expected, maxErrors=5)
