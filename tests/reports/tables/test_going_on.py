"""What is derived from the runs so far and one more is what is derived from all."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as sql
from pyspark.testing import assertDataFrameEqual

from reports.lake import changes
from reports.lake.schemas import ddl


@pytest.mark.parametrize("table", ["changes", "check_current"])
def test_a_product_goes_on_from_its_last_run(lake, spark, tmp_path, table):
    def derived(events, after=0):
        return changes.changes(events, lake.runs, after) if table == "changes" else changes.check_current(events)

    last = lake.runs.agg(sql.max("ingest")).first()[0]
    after = last - 15  # among the random runs, in which suites come and go
    there, later = (sql.col("ingest") <= after), (sql.col("ingest") > after)
    first = changes.check_current(changes.events(lake.test_runs.where(there), lake.runs.where(there), lake.catalogue))
    first.write.parquet(str(tmp_path / "before"))
    before = spark.read.schema(ddl("check_current")).parquet(str(tmp_path / "before"))
    stood = changes.Before(before, after)
    gone_on = derived(changes.events(lake.test_runs.where(later), lake.runs, lake.catalogue, stood), after)
    whole = derived(changes.events(lake.test_runs, lake.runs, lake.catalogue))
    found, expected = gone_on, whole.where(later)
    if table == "check_current":
        found, expected = (each.withColumn("judged_under", sql.sort_array("judged_under")) for each in (gone_on, whole))
    assert expected.count() > 20
    assertDataFrameEqual(found, expected, maxErrors=5)
