"""Writes the results of ``mqconform pair`` to the table `exchanges`, and finds the current results."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake import manifest, rows
from reports.lake.manifest import IngestCommit, IngestedPair, get_table_folder
from reports.lake.pairs import PairSource
from reports.lake.schemas import COLUMN_TYPES_BY_FACT_TABLE
from reports.lake.store import Lake
from reports.lake.writing import write_parquet

EXCHANGES_TABLE = "exchanges"


def write_pairs(lake: Lake, sources: Sequence[PairSource]) -> Lake:
    """Write the results of new pairs of systems to the lake, publish the lake's next state, and return this state."""
    commit = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:8]}"
    known, found = dict(lake.manifest.pairs), []
    for number, each in enumerate(sources, len(known) + 1):
        known[each.digest] = IngestedPair(number, each.folder)
        found += [{"pair": each.digest, "ingest": number, "folder": each.folder} | row for row in each.rows]
    write_parquet(
        rows.make_table(lake.spark, found, COLUMN_TYPES_BY_FACT_TABLE[EXCHANGES_TABLE]),
        f"{lake.uri}/{get_table_folder(commit, EXCHANGES_TABLE)}",
    )
    commits = (*lake.manifest.commits, IngestCommit(commit, (), (EXCHANGES_TABLE,)))
    state = replace(lake.manifest, number=lake.manifest.number + 1, commits=commits, pairs=known)
    manifest.publish_manifest(lake.files, lake.uri, state)
    return replace(lake, manifest=state)


def find_current_exchanges(lake: Lake) -> DataFrame:
    """Return the current result of each scenario in each direction. This is the result of the latest pair that ran
    the scenario.
    """
    latest = sql.max("ingest").over(Over.partitionBy("origin", "target", "scenario"))
    return lake.table(EXCHANGES_TABLE).withColumn("latest", latest).where("ingest = latest")
