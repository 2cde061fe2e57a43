"""Opens a Spark session that prints nothing, runs locally by default, and leaves no files or processes behind."""

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
from reports.java_errors import SPARK_ERRORS, describe_java_error, find_reason_in_java_output
from reports.rollup_error import RollupError

SHORT_JOB_OPTIONS = "-XX:TieredStopAtLevel=1"
"""The Java options of a short job. They disable Java's second compiler, because it would take a third of the time of a
short job. For a long job, this compiler halves the time.
"""
JAVA_CLASS_ARCHIVE = Path(sys.prefix, "share", "mqconform", "spark.jsa")
"""The archive of Spark's classes that Java maps into memory to start faster (made by scripts/java_classes.py). A
different version of Java ignores the archive.
"""


@contextmanager
def open_spark_session(
    master: str, log: Path | None = None, conf: Mapping[str, str] | None = None, *, much: bool = False
) -> Iterator[SparkSession]:
    """Open a Spark session, which is stopped at the end of the context, and write Java's output to the file
    ``log``. Raise `RollupError` if Spark fails.

    ``conf`` overrides every setting. Without ``log`` the output goes to a file that is kept only after a failure.
    ``much``: whether the jobs of the session will take minutes.
    """
    check_java()
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYSPARK_PYTHON"] = (conf or {}).get("spark.pyspark.python", sys.executable)
    if locale.getencoding().upper() != "UTF-8":
        os.environ["LC_ALL"] = "C.UTF-8"  # otherwise Java cannot open a file whose name is not ASCII
    with _raise_on_interrupt(), tempfile.TemporaryDirectory(prefix="mqconform-spark-") as scratch:
        written = log or _create_log_file()
        interrupted = signal.getsignal(signal.SIGINT)
        _silence_py4j()
        others = _list_child_processes()
        try:
            with _redirect_standard_streams(written):
                spark = _start_session(master, scratch, written, {**_build_java_options(master, much), **(conf or {})})
        except KeyboardInterrupt:
            for java in _list_child_processes() - others:  # otherwise the Java process would wait forever
                os.kill(java, signal.SIGKILL)
            if log is None:
                written.unlink(missing_ok=True)
            raise
        _silence_tracebacks(spark, interrupted)
        keep = log is not None
        try:
            yield spark
        except SPARK_ERRORS as error:
            keep = True
            raise RollupError(f"Spark failed: {describe_java_error(error)} (see {written})") from error
        finally:
            with suppress(*SPARK_ERRORS), warnings.catch_warnings():  # Java has died or was interrupted
                warnings.simplefilter("ignore", RuntimeWarning)
                spark.stop()
            if not keep:
                written.unlink(missing_ok=True)


@contextmanager
def _raise_on_interrupt() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt within the context, so that no file or process remains.

    Ctrl-C stays ignored if it was ignored.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _list_child_processes() -> set[int]:
    """Return the child processes of the main thread, or an empty result outside Linux."""
    with suppress(OSError):
        return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()))
    return set()


def _create_log_file() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="mqconform-spark-", suffix=".log")
    os.close(descriptor)
    return Path(name)


def _build_java_options(master: str, much: bool) -> dict[str, str]:
    if not master.startswith("local"):
        return {}
    options = ["-XX:+UseParallelGC" if much else SHORT_JOB_OPTIONS]
    if JAVA_CLASS_ARCHIVE.is_file() and " " not in str(JAVA_CLASS_ARCHIVE):
        options.append(f"-XX:SharedArchiveFile={JAVA_CLASS_ARCHIVE}")
    return {"spark.driver.extraJavaOptions": " ".join(options)}


def _start_session(master: str, scratch: str, log: Path, conf: Mapping[str, str]) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # otherwise two more calls of Java for each column
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # a SUT called "1e5" is not a number
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "2560m",  # with Java's memory outside the heap, 4 GiB for any number of verdicts
        }
    builder = SparkSession.builder.master(master).appName("mqconform")
    for key, value in {**settings, **conf}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except SPARK_ERRORS as error:
        why = find_reason_in_java_output(log.read_text("utf-8", "replace")) or describe_java_error(error)
        raise RollupError(f"Spark cannot start on {master!r}: {why} (see {log})") from error


def _silence_tracebacks(spark: SparkSession, interrupted: Any) -> None:
    """Keep PySpark from printing a traceback when Java dies or a user interrupts, because the command prints a
    one-line message.

    ``interrupted``: the interrupt handler that was set before the start of Spark. Spark's own handler would call
    Java, which may be busy.
    """
    if interrupted is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupted)
    server: Any = spark.sparkContext._accumulatorServer
    server.handle_error = lambda *_: None


def _silence_py4j() -> None:
    """Prevent py4j from logging its exceptions to its own loggers and to the root logger."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


@contextmanager
def _redirect_standard_streams(log: Path) -> Iterator[None]:
    """Redirect descriptors 1 and 2 to a file while Java starts, because Java inherits them."""
    sys.stdout.flush()
    sys.stderr.flush()
    with log.open("wb") as file, ExitStack() as undo:
        for descriptor in (1, 2):
            saved = os.dup(descriptor)
            undo.callback(os.close, saved)
            undo.callback(os.dup2, saved, descriptor)
            os.dup2(file.fileno(), descriptor)
        yield
