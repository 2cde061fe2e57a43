"""Provides the tables of the lake. Each reader continues to use one state of the lake while other processes publish
new states.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from reports.lake import manifest as manifests
from reports.lake.files import FileAccess, escape_path_pattern, get_full_name
from reports.lake.manifest import Manifest
from reports.lake.schemas import build_table_ddl, make_empty_table
from reports.rollup_error import RollupError
from reports.text import one_line

LAKE_FOLDER_NAMES = ("data", "manifests", "follow")
"""The names that files and folders in the folder of a lake may have."""


@dataclass(frozen=True, slots=True)
class Lake:
    """A state of the lake at the folder ``uri``."""

    spark: SparkSession
    files: FileAccess
    uri: str
    manifest: Manifest

    @classmethod
    def open(cls, spark: SparkSession, where: str) -> Lake:
        """Open the newest state of a lake. Raise `RollupError` if the lake has no published state."""
        lake = cls.open_or_create(spark, where)
        if not lake.manifest.number:
            raise RollupError(f"there is no lake at {one_line(where)}: create one with mqconform lake ingest")
        return lake

    @classmethod
    def open_or_create(cls, spark: SparkSession, where: str) -> Lake:
        """Open a lake, or a folder that may become a lake. Raise `RollupError` for a folder with other content."""
        files, uri = FileAccess(spark), get_full_name(where)
        manifest = manifests.read_newest_manifest(files, uri)
        if not manifest.number:
            status = files.status(uri)
            if status is not None and not status.is_folder:
                raise RollupError(f"{one_line(where)} is a file: give --lake a folder")
            if foreign := [each.name for each in files.entries(uri) if each.name not in LAKE_FOLDER_NAMES]:
                raise RollupError(
                    f"{one_line(where)} is not a lake, because it contains {one_line(foreign[0], 60)}: give --lake "
                    "another folder"
                )
        return cls(spark, files, uri, manifest)

    def table(self, name: str, of: Collection[str] | None = None) -> DataFrame:
        """Return a table (`reports.lake.schemas`).

        ``of``: the commits of a fact table, or the units of a derived table, to which the result is restricted.
        """
        folders = [escape_path_pattern(f"{self.uri}/{folder}") for folder in self.manifest.folders(name, of)]
        return (
            self.spark.read.schema(build_table_ddl(name)).parquet(*folders)
            if folders
            else make_empty_table(self.spark, name)
        )
