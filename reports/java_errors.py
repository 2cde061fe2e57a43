"""Translates failures of Java into one-line messages with a remedy."""

from __future__ import annotations

import re
from typing import Any

from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from reports.text import one_line

MAX_REASON_CHARACTERS = 300
JAVA_PROCESS_LOST_ERRORS = (Py4JNetworkError, ConnectionError)
"""The exceptions that calls to Java raise after the Java process has ended unexpectedly."""
SPARK_ERRORS = (PySparkException, Py4JError, *JAVA_PROCESS_LOST_ERRORS)
"""The exceptions that any request to Spark can raise."""
REMEDY_BY_EXCEPTION = {
    "UnsupportedFileSystemException": "this kind of file system is unknown: give its jars with"
    " --conf spark.jars.packages=GROUP:NAME:VERSION",
    "ClassNotFoundException": "its jars are missing: give them with --conf spark.jars.packages=GROUP:NAME:VERSION"
    " (for s3a: org.apache.hadoop:hadoop-aws in the version of Spark's Hadoop)",
    "OutOfMemoryError": "give Spark more memory with --conf spark.driver.memory=4g (or spark.executor.memory)",
    "AccessControlException": "the user of this command may not access this file or folder",
    "No space left on device": "free space on the disk (Spark itself works below TMPDIR)",
}
"""The remedy for each exception. A key is the name of the exception's class, or words of the exception's message.
"""


def describe_java_error(error: Exception) -> str:
    """Return one line that describes an exception of Py4J or PySpark: the line contains the innermost cause with
    its message, and the remedy.
    """
    try:
        cause = _get_innermost_cause(getattr(error, "java_exception", None) or getattr(error, "_origin", None))
    except JAVA_PROCESS_LOST_ERRORS as silence:
        return describe_java_error(silence)
    if isinstance(error, JAVA_PROCESS_LOST_ERRORS):
        return "its Java process has ended: it was killed, or had no memory left"
    if cause is None:
        name, message = type(error).__name__, _drop_stack_trace(str(error))
    else:
        name, message = str(cause.getClass().getSimpleName()), _drop_stack_trace(str(cause.getMessage() or ""))
    hint = next(
        (
            hint
            for known, hint in REMEDY_BY_EXCEPTION.items()
            if known in (name, *_split_words(message)) or (" " in known and known in message)
        ),
        "",
    )
    return one_line(f"{name}: {message}" if message else name, MAX_REASON_CHARACTERS) + (f"; {hint}" if hint else "")


def find_reason_in_java_output(log: str) -> str:
    """Return one line with the reason why Java ended, taken from Java's output, or an empty text if the output
    contains no reason.
    """
    found = re.findall(r'^(?:Caused by: |Exception in thread "[^"]*" |(?=Invalid ))(.+)', log, re.MULTILINE)
    return one_line(found[-1], MAX_REASON_CHARACTERS) if found else ""


def _get_innermost_cause(exception: Any) -> Any:
    for _ in range(20):  # an exception may be its own cause, in a circle
        if exception is None or (cause := exception.getCause()) is None:
            return exception
        exception = cause
    return exception


def _drop_stack_trace(message: str) -> str:
    """Return the part of a message before its stack trace."""
    lines = [line for line in message.splitlines() if line.strip() and not re.match(r"\s+at |Driver stacktrace", line)]
    return lines[0] if lines else ""


def _split_words(message: str) -> list[str]:
    return re.findall(r"[A-Za-z]+(?:Exception|Error)", message)
