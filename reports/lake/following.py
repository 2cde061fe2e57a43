"""Follows a folder of runs with Structured Streaming: each new run folder is ingested once.

The stream reports the new ``run.json`` files; its checkpoint is in the lake, below ``follow/``. Runs are ingested as
usual, so a batch that is repeated after a crash changes nothing. The module records skipped runs, which are unfinished
or unreadable, next to the checkpoint. Because the stream reports each name only once, the module itself tries these
runs again when one of their files changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from reports.lake import ingest, sources
from reports.lake.files import FileAccess, escape_path_pattern, get_full_name
from reports.lake.ingest import IngestReport, StageReporter
from reports.lake.sources import RUN_FILE, RUN_FOLDER_FILES
from reports.lake.store import Lake
from reports.rollup_error import RollupError
from reports.text import make_slug, one_line

MAX_RUNS_PER_BATCH = 200
"""The maximum number of run folders in a micro-batch."""
UNLIMITED_FILE_AGE = "36500d"
"""The maximum age of the files that the stream reports. It is unlimited, so that old run folders are also ingested."""
MAX_FAILED_SEARCHES = 3
"""The number of consecutive failed searches after which the command fails. Single failures are expected, because
another process may change the lake.
"""
FileStateByRunFolder = dict[str, list[int]]
"""For each file in a run folder, by name: its size in octets and the time of its last change (ms since 1970)."""


class RunFolderFollower:
    """Ingests the new runs in ``folder`` into the lake at ``where`` with each call of `ingest_new_runs`.

    ``on_report`` is called with the report of each ingest. The constructor raises `RollupError` for a missing
    folder, and for a folder that is itself a run.
    """

    def __init__(self, spark: SparkSession, where: str, folder: str, on_report: Callable[[IngestReport], None]) -> None:
        self._spark, self._files = spark, FileAccess(spark)
        self._where, self._on_report = where, on_report
        self._stage: StageReporter = lambda _: None
        self._runs_folder = get_full_name(folder)
        self._state = f"{get_full_name(where)}/follow/{make_slug(self._runs_folder)}"
        self._batch_error: BaseException | None = None
        status = self._files.status(self._runs_folder)
        if status is None or not status.is_folder:
            raise RollupError(f"there is no folder at {one_line(folder)}: give the folder of the runs")
        if self._files.status(f"{self._runs_folder}/{RUN_FILE}") is not None:
            raise RollupError(f"{one_line(folder)} is a run folder itself: give the folder that contains it")

    def ingest_new_runs(self, stage: StageReporter = lambda _: None) -> None:
        """Search the folder once. Ingest the new run folders, and the skipped run folders that have changed."""
        self._stage = stage
        stage("searching for new runs")
        waiting = self._read_waiting_folders()
        if changed := sorted(uri for uri in waiting if self._read_folder_state(uri) != waiting[uri]):
            self._ingest_folders(changed)
        query = self._start_query()
        try:
            with self._raise_original_error_of_batch():
                query.awaitTermination()
        finally:
            with suppress(PySparkException, Py4JError):  # Java may have died
                query.stop()
        if missed := self._find_missed_folders():
            self._ingest_folders(missed)

    def _start_query(self) -> StreamingQuery:
        found = (
            self._spark.readStream.format("binaryFile")
            .schema("path string, modificationTime timestamp, length bigint, content binary")
            .option("maxFilesPerTrigger", MAX_RUNS_PER_BATCH)
            .option("maxFileAge", UNLIMITED_FILE_AGE)
            .load(f"{escape_path_pattern(self._runs_folder)}/*/{RUN_FILE}")
            .select("path")  # their content is not read
        )
        return (
            found.writeStream.foreachBatch(self._handle_batch)
            .option("checkpointLocation", f"{self._state}/checkpoint")
            .trigger(availableNow=True)
            .start()
        )

    def _find_missed_folders(self) -> list[str]:
        """Return the run folders that the stream did not report: they are neither in the lake nor among the skipped
        folders.

        Such folders exist because Spark never reports a file again that was still empty when Spark first found it.
        """
        there = {known.folder for known in Lake.open_or_create(self._spark, self._where).manifest.runs.values()}
        there |= self._read_waiting_folders().keys()
        return [
            uri
            for uri in self._list_folders(self._files.glob(f"{escape_path_pattern(self._runs_folder)}/*/{RUN_FILE}"))
            if uri not in there
        ]

    def _list_folders(self, files: Iterable[str]) -> list[str]:
        """Return the full names, as `get_full_name` spells them, of the folders that contain the given files."""
        return sorted(f"{self._runs_folder}/{file.split('/')[-2]}" for file in files)

    @contextmanager
    def _raise_original_error_of_batch(self) -> Iterator[None]:
        """Raise the original error of a failed batch instead of Spark's report that a batch failed."""
        self._batch_error = None
        try:
            yield
        except StreamingQueryException as error:
            if self._batch_error is not None:
                raise self._batch_error from error
            raise

    def _handle_batch(self, batch: DataFrame, _: int) -> None:
        try:
            self._ingest_folders(self._list_folders(row.path for row in batch.collect()))
        except BaseException as error:
            self._batch_error = error
            raise RollupError(str(error)) from error  # Java waits for an answer, which is an Exception or None

    def _ingest_folders(self, folders: Iterable[str]) -> None:
        """Ingest the finished run folders, then record the skipped folders. With this order, a crash loses no
        folder.
        """
        before = {uri: self._read_folder_state(uri) for uri in folders}
        lake = Lake.open_or_create(self._spark, self._where)
        found, refused = sources.list_folders_at_uris(lake.files, before)
        report = IngestReport(lake.manifest.number, refused=refused)
        ingest.ingest_folders(lake, found, report, finished=True, stage=self._stage)
        lake = Lake.open_or_create(self._spark, self._where)
        there = {(known.folder, known.size, known.modified) for known in lake.manifest.runs.values()}
        done = {each.uri for each in found if (each.uri, each.size, each.modified) in there}
        left = {uri: state for uri, state in before.items() if uri not in done}
        self._write_waiting_folders(
            {uri: state for uri, state in self._read_waiting_folders().items() if uri not in before} | left
        )
        self._on_report(report)

    def _read_folder_state(self, uri: str) -> FileStateByRunFolder:
        """Return the sizes and times of a run folder's files, so that changes can be detected. The result is empty
        if the folder has no files.
        """
        return {
            each.name: [each.size, each.modified] for each in self._files.entries(uri) if each.name in RUN_FOLDER_FILES
        }

    def _read_waiting_folders(self) -> dict[str, FileStateByRunFolder]:
        uri = f"{self._state}/waiting.json"
        if self._files.status(uri) is None:
            return {}
        try:
            waiting: dict[str, FileStateByRunFolder] = json.loads(self._files.read_text(uri))["waiting"]
            return {folder: dict(state) for folder, state in waiting.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RollupError(
                f"{one_line(uri)} is broken ({one_line(str(error), 80)}): delete its folder; the command then "
                "checks all runs again, and ingests no run twice"
            ) from error

    def _write_waiting_folders(self, waiting: dict[str, FileStateByRunFolder]) -> None:
        if waiting != self._read_waiting_folders():
            self._files.replace_text(f"{self._state}/waiting.json", json.dumps({"schema": 1, "waiting": waiting}))


def repeat_searches_for_new_runs(
    look: Callable[[], None], every_s: float, say: Callable[[str], None], wait: Callable[[float], None]
) -> None:
    """Search the folder repeatedly until `KeyboardInterrupt`.

    Report each failed search, and raise its error after `MAX_FAILED_SEARCHES` consecutive failures.
    """
    failures = 0
    while True:
        try:
            look()
            failures = 0
        except RollupError as error:
            failures += 1
            if failures == MAX_FAILED_SEARCHES:
                raise
            say(f"{error}; trying again in {every_s:g} s")
        wait(every_s)
