"""Files of any file system that Hadoop knows, through the JVM of a Spark session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from reports.java_errors import java_reason
from reports.lake.local import is_url, local_path
from reports.rollup_error import RollupError
from reports.text import one_line

NOTHING_THERE = ("FileNotFoundException", "NotInMountpointException")
SMALL = 64 << 20
"""Octets of the largest file that is read whole."""


@dataclass(frozen=True, slots=True)
class Status:
    """Names a file or folder, and as Spark's column ``_metadata.file_path`` has it, octets, ms of 1970."""

    uri: str
    encoded: str
    is_folder: bool
    size: int
    modified: int

    @property
    def name(self) -> str:
        """The last part of the name."""
        return self.uri.rstrip("/").rpartition("/")[2]


def uri_of(where: str) -> str:
    """Return a full name for Hadoop: of a local path one alone, however it is written; else the URL as it is.

    Raises `RollupError`.
    """
    if not where.strip():
        raise RollupError("an empty name is no folder: give a path or a URL")
    local = local_path(where) if is_url(where) else Path(where)
    if local is None:
        return where.rstrip("/") if not where.endswith(":///") else where
    path = str(local.resolve())
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RollupError(f"the path {one_line(path)} is not UTF-8 here: rename it or use a UTF-8 locale") from error
    return f"file://{path}"


def as_pattern(uri: str) -> str:
    """Escape the letters that Spark's readers take for a pattern."""
    return re.sub(r"([][{}*?\\])", r"\\\1", uri)


class Files:
    """Lists, reads, writes, renames and deletes. Every failure is a `RollupError` of one line that names the file."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark.sparkContext._jvm
        # Each part of such a name is a question to Java.
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        self._streams: Any = jvm.org.apache.commons.io.IOUtils
        self._jvm = jvm
        self._gateway: Any = spark.sparkContext._gateway
        self._conf: Any = spark._jsparkSession.sessionState().newHadoopConf()

    def status(self, uri: str) -> Status | None:
        """Return what is there; None when nothing is."""
        with _one_line_errors(uri):
            path, system = self._file_system_of(uri)
            try:
                return _build_status(system.getFileStatus(path))
            except Py4JJavaError as error:
                if error.java_exception.getClass().getSimpleName() in NOTHING_THERE:
                    return None
                raise

    def entries(self, uri: str) -> list[Status]:
        """Return what a folder holds, by name; nothing when there is no such folder."""
        with _one_line_errors(uri):
            path, system = self._file_system_of(uri)
            try:
                return sorted((_build_status(each) for each in system.listStatus(path)), key=lambda each: each.uri)
            except Py4JJavaError as error:
                if error.java_exception.getClass().getSimpleName() in NOTHING_THERE:
                    return []
                raise

    def glob(self, pattern: str) -> list[str]:
        """Return the full names that match a pattern of Hadoop's, sorted."""
        with _one_line_errors(pattern):
            path, system = self._file_system_of(pattern)
            return sorted(each.getPath().toString() for each in system.globStatus(path) or ())

    def read_text(self, uri: str) -> str:
        """Return a small file's text; octets that are not UTF-8 become U+FFFD."""
        with _one_line_errors(uri):
            path, system = self._file_system_of(uri)
            if (size := system.getFileStatus(path).getLen()) > SMALL:
                raise RollupError(f"{one_line(uri)}: {size} octets are too many for such a file")
            stream = system.open(path)
            try:
                return str(self._streams.toString(stream, "UTF-8"))
            finally:
                stream.close()

    def write_text(self, uri: str, text: str) -> None:
        """Write a new file."""
        with _one_line_errors(uri):
            path, system = self._file_system_of(uri)
            stream = system.create(path, False)
            try:
                stream.write(bytearray(text.encode("utf-8")))
                stream.hsync()
            finally:
                stream.close()

    def publish(self, source: str, target: str) -> bool:
        """Rename a file in one step; False when there is a ``target`` already, which stays as it is.

        HDFS does both in one step. Elsewhere Hadoop looks first and renames then: on a local disk a link is made, which
        only one of two at once can do. In object stores that do not refuse it themselves, two may both succeed.
        """
        local, local_target = local_path(source), local_path(target)
        if local is not None and local_target is not None:
            try:
                local_target.hardlink_to(local)
            except FileExistsError:
                return False
            except OSError:
                pass  # a file system without links, or one that fails: Hadoop says what is wrong
            else:
                with suppress(OSError):  # it is published, and a file aside is in nobody's way
                    local.unlink()
                return True
        with _one_line_errors(target):
            path, system = self._file_system_of(target)
            jvm = self._jvm
            context = jvm.org.apache.hadoop.fs.FileContext.getFileContext(system.getUri(), self._conf)
            options = self._gateway.new_array(jvm.org.apache.hadoop.fs.Options.Rename, 0)
            try:
                context.rename(self._file_system_of(source)[0], path, options)
            except Py4JJavaError as error:
                if error.java_exception.getClass().getSimpleName() == "FileAlreadyExistsException":
                    return False
                raise
            return True

    def replace_text(self, uri: str, text: str) -> None:
        """Write a file that may be there, whole or not at all."""
        aside = f"{uri}.new"
        self.delete(aside)
        self.write_text(aside, text)
        with _one_line_errors(uri):
            path, system = self._file_system_of(uri)
            jvm = self._jvm
            context = jvm.org.apache.hadoop.fs.FileContext.getFileContext(system.getUri(), self._conf)
            options = self._gateway.new_array(jvm.org.apache.hadoop.fs.Options.Rename, 1)
            options[0] = jvm.org.apache.hadoop.fs.Options.Rename.OVERWRITE
            context.rename(self._file_system_of(aside)[0], path, options)

    def delete(self, uri: str) -> None:
        """Delete a file, or a folder with all that it holds; nothing there is no error."""
        with _one_line_errors(uri):
            path, system = self._file_system_of(uri)
            system.delete(path, True)

    def _file_system_of(self, uri: str) -> tuple[Any, Any]:
        path = self._path(uri)
        system = path.getFileSystem(self._conf)
        system.setWriteChecksum(False)  # beside each local file it would write a second one, not in the same step
        return path, system


def _build_status(found: Any) -> Status:
    path = found.getPath()
    return Status(
        path.toString(),
        path.toUri().toString(),
        found.isDirectory(),
        found.getLen(),
        found.getModificationTime(),
    )


@contextmanager
def _one_line_errors(uri: str) -> Iterator[None]:
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise RollupError(f"{one_line(uri)}: {java_reason(error)}") from error
