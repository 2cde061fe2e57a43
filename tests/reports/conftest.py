"""Provides one Spark session for all tests of the lake, with settings for tables of some hundred rows.

By default Spark compiles every query and plans it again between any two stages, which pays only for millions of rows.
The session has one thread, because a second thread would have little work and would start its own Python workers. The
processes that tests start have the settings of a user.
"""

from __future__ import annotations

import budgets  # noqa: F401
import pytest

from reports.lake.command import SHORT_INGEST_SETTINGS
from reports.spark import JAVA_CLASS_ARCHIVE, SHORT_JOB_OPTIONS, open_spark_session

AS_IN_MEMORY = f" -XX:SharedArchiveFile={JAVA_CLASS_ARCHIVE}" if JAVA_CLASS_ARCHIVE.is_file() else ""
SMALL = SHORT_INGEST_SETTINGS | {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": f"{SHORT_JOB_OPTIONS} -Xms1g{AS_IN_MEMORY}",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.maxPlanStringLength": "200",
    "spark.sql.shuffle.partitions": "1",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    with open_spark_session("local[1]", tmp_path_factory.mktemp("spark") / "spark.log", SMALL) as opened:
        yield opened
