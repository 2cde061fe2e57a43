"""One Spark session for all tests of the lake: it starts once, and is set for tables of some hundred rows.

With its defaults Spark compiles every query, and plans it anew between any two of its stages: for millions of rows that
is soon earned, here it is most of the work. One thread, because a second has little to do and asks for tasks and Python
workers of its own. The processes that tests start have the settings of a user.
"""

from __future__ import annotations

import budgets  # noqa: F401
import pytest

from reports.lake.command import SHORT_INGEST_SETTINGS
from reports.spark import CLASS_ARCHIVE, SHORT_JOB_OPTIONS, open_spark_session

AS_IN_MEMORY = f" -XX:SharedArchiveFile={CLASS_ARCHIVE}" if CLASS_ARCHIVE.is_file() else ""
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
