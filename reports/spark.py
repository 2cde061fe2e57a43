"""A Spark session that is quiet, local by default and leaves nothing behind."""

from __future__ import annotations

import locale
import logging
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from reports.java import check_java
from reports.java_errors import FAILURES, java_reason, java_said
from reports.rollup_error import RollupError

QUICKLY = "-XX:TieredStopAtLevel=1"
"""Of a short job, a third is Java's second compiler; a long one takes half the time with it."""
CLASSES = Path(sys.prefix, "share", "mqconform", "spark.jsa")
"""Spark's classes as Java has them in memory (scripts/java_classes.py); another Java passes them over."""


@contextmanager
def session(
    master: str, log: Path | None = None, conf: Mapping[str, str] | None = None, *, much: bool = False
) -> Iterator[SparkSession]:
    """Open a Spark session, stopped at the end; Java's output goes to the file ``log``. Raises `RollupError`.

    ``conf`` has the last word on every setting. Without ``log`` there is a file that stays only when something failed.
    ``much``: it works for minutes.
    """
    check_java()
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYSPARK_PYTHON"] = (conf or {}).get("spark.pyspark.python", sys.executable)
    if locale.getencoding().upper() != "UTF-8":
        os.environ["LC_ALL"] = "C.UTF-8"  # else Java cannot open a file whose name is not ASCII
    with _raise_on_interrupt(), tempfile.TemporaryDirectory(prefix="mqconform-spark-") as scratch:
        written = log or _make_log()
        interrupted = signal.getsignal(signal.SIGINT)
        _silence_py4j()
        others = _list_children()
        try:
            with _redirect_standard_streams(written):
                spark = _start_session(master, scratch, written, {**_java_options(master, much), **(conf or {})})
        except KeyboardInterrupt:
            for java in _list_children() - others:  # one that finds nobody to talk to waits for ever
                os.kill(java, signal.SIGKILL)
            if log is None:
                written.unlink(missing_ok=True)
            raise
        _silence_tracebacks(spark, interrupted)
        keep = log is not None
        try:
            yield spark
        except FAILURES as error:
            keep = True
            raise RollupError(f"Spark failed: {java_reason(error)} (see {written})") from error
        finally:
            with suppress(*FAILURES), warnings.catch_warnings():  # of a Java that has died, or was interrupted
                warnings.simplefilter("ignore", RuntimeWarning)
                spark.stop()
            if not keep:
                written.unlink(missing_ok=True)


@contextmanager
def _raise_on_interrupt() -> Iterator[None]:
    """Let Ctrl-C within raise KeyboardInterrupt, so that nothing is left behind, unless it is ignored."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _list_children() -> set[int]:
    """Return what this thread, the main one, has started; nothing where there is no Linux to ask."""
    with suppress(OSError):
        return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()))
    return set()


def _make_log() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="mqconform-spark-", suffix=".log")
    os.close(descriptor)
    return Path(name)


def _java_options(master: str, much: bool) -> dict[str, str]:
    if not master.startswith("local"):
        return {}
    options = ["-XX:+UseParallelGC" if much else QUICKLY]
    if CLASSES.is_file() and " " not in str(CLASSES):
        options.append(f"-XX:SharedArchiveFile={CLASSES}")
    return {"spark.driver.extraJavaOptions": " ".join(options)}


def _start_session(master: str, scratch: str, log: Path, conf: Mapping[str, str]) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # else each column asks Java twice more
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # a SUT called "1e5" is no number
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "2560m",  # with what Java has beside its heap, 4 GiB for any number of verdicts
        }
    builder = SparkSession.builder.master(master).appName("mqconform")
    for key, value in {**settings, **conf}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except FAILURES as error:
        why = java_said(log.read_text("utf-8", "replace")) or java_reason(error)
        raise RollupError(f"Spark cannot start on {master!r}: {why} (see {log})") from error


def _silence_tracebacks(spark: SparkSession, interrupted: Any) -> None:
    """Keep PySpark from printing a traceback when Java dies or somebody interrupts: the command says it in a line.

    ``interrupted``: what handled an interrupt before Spark was started. Spark's own asks a Java that is being asked.
    """
    if interrupted is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupted)
    server: Any = spark.sparkContext._accumulatorServer
    server.handle_error = lambda *_: None


def _silence_py4j() -> None:
    """Keep py4j from logging what it raises as well: by its own loggers, and by that of all."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


@contextmanager
def _redirect_standard_streams(log: Path) -> Iterator[None]:
    """Point descriptors 1 and 2 at a file while the Java process is started, which inherits them for its life."""
    sys.stdout.flush()
    sys.stderr.flush()
    with log.open("wb") as file, ExitStack() as undo:
        for descriptor in (1, 2):
            saved = os.dup(descriptor)
            undo.callback(os.close, saved)
            undo.callback(os.dup2, saved, descriptor)
            os.dup2(file.fileno(), descriptor)
        yield
