"""Accesses files of any file system that Hadoop supports, through the JVM of a Spark session."""

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

from reports.java_errors import describe_java_error
from reports.lake.local import get_local_path, is_url
from reports.rollup_error import RollupError
from reports.text import one_line

MISSING_FILE_EXCEPTIONS = ("FileNotFoundException", "NotInMountpointException")
SMALL_FILE_OCTETS = 64 << 20
"""The maximum size in octets of a file that is read as a whole."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The status of a file or folder: its name for Hadoop, its name in Spark's ``_metadata.file_path``, its size in
    octets, and the time of its last change in ms since 1970.
    """

    uri: str
    encoded: str
    is_folder: bool
    size: int
    modified: int

    @property
    def name(self) -> str:
        """The last part of the path of a file or folder."""
        return self.uri.rstrip("/").rpartition("/")[2]


def get_full_name(where: str) -> str:
    """Return the full name of a file for Hadoop. A local path is returned in one uniform spelling, and a URL is
    returned unchanged.

    Raise `RollupError` for a name that Hadoop cannot use.
    """
    if not where.strip():
        raise RollupError("the name of a folder is empty: give a path or a URL")
    local = get_local_path(where) if is_url(where) else Path(where)
    if local is None:
        return where.rstrip("/") if not where.endswith(":///") else where
    path = str(local.resolve())
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RollupError(
            f"the path {one_line(path)} is not UTF-8 in this locale: rename the path, or use a UTF-8 locale"
        ) from error
    return f"file://{path}"


def escape_path_pattern(uri: str) -> str:
    """Escape the characters that Spark's readers would interpret as a pattern."""
    return re.sub(r"([][{}*?\\])", r"\\\1", uri)


class FileAccess:
    """Lists, reads, writes, renames and deletes files.

    Every failure is a `RollupError`, whose one-line message names the file.
    """

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark.sparkContext._jvm
        # Each part of a name such as jvm.org.apache costs one call of Java.
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        self._streams: Any = jvm.org.apache.commons.io.IOUtils
        self._jvm = jvm
        self._gateway: Any = spark.sparkContext._gateway
        self._conf: Any = spark._jsparkSession.sessionState().newHadoopConf()

    def status(self, uri: str) -> FileStatus | None:
        """Return the status of a file or folder, or None if it is missing."""
        with _raise_error_in_one_line(uri):
            path, system = self._get_file_system(uri)
            try:
                return _build_status(system.getFileStatus(path))
            except Py4JJavaError as error:
                if error.java_exception.getClass().getSimpleName() in MISSING_FILE_EXCEPTIONS:
                    return None
                raise

    def entries(self, uri: str) -> list[FileStatus]:
        """Return the content of a folder by name. A missing folder has no content."""
        with _raise_error_in_one_line(uri):
            path, system = self._get_file_system(uri)
            try:
                return sorted((_build_status(each) for each in system.listStatus(path)), key=lambda each: each.uri)
            except Py4JJavaError as error:
                if error.java_exception.getClass().getSimpleName() in MISSING_FILE_EXCEPTIONS:
                    return []
                raise

    def glob(self, pattern: str) -> list[str]:
        """Return the sorted full names that match a pattern of Hadoop."""
        with _raise_error_in_one_line(pattern):
            path, system = self._get_file_system(pattern)
            return sorted(each.getPath().toString() for each in system.globStatus(path) or ())

    def read_text(self, uri: str) -> str:
        """Return the text of a small file. Octets that are not UTF-8 become U+FFFD."""
        with _raise_error_in_one_line(uri):
            path, system = self._get_file_system(uri)
            if (size := system.getFileStatus(path).getLen()) > SMALL_FILE_OCTETS:
                raise RollupError(f"{one_line(uri)} has {size} octets, more than the maximum of {SMALL_FILE_OCTETS}")
            stream = system.open(path)
            try:
                return str(self._streams.toString(stream, "UTF-8"))
            finally:
                stream.close()

    def write_text(self, uri: str, text: str) -> None:
        """Write a text to a new file."""
        with _raise_error_in_one_line(uri):
            path, system = self._get_file_system(uri)
            stream = system.create(path, False)
            try:
                stream.write(bytearray(text.encode("utf-8")))
                stream.hsync()
            finally:
                stream.close()

    def publish(self, source: str, target: str) -> bool:
        """Rename a file to ``target`` in one step. If ``target`` already exists, leave both files unchanged and return
        False.

        HDFS renames atomically. On other file systems Hadoop first checks whether the target exists and then
        renames. So on a local disk the function creates a link, which only one of two processes can do. In an
        object store that does not refuse to overwrite, both processes may succeed.
        """
        local, local_target = get_local_path(source), get_local_path(target)
        if local is not None and local_target is not None:
            try:
                local_target.hardlink_to(local)
            except FileExistsError:
                return False
            except OSError:
                pass  # a file system without links, or a failing one: Hadoop reports the reason
            else:
                with suppress(OSError):  # the manifest is published, and a leftover file does no harm
                    local.unlink()
                return True
        with _raise_error_in_one_line(target):
            path, system = self._get_file_system(target)
            jvm = self._jvm
            context = jvm.org.apache.hadoop.fs.FileContext.getFileContext(system.getUri(), self._conf)
            options = self._gateway.new_array(jvm.org.apache.hadoop.fs.Options.Rename, 0)
            try:
                context.rename(self._get_file_system(source)[0], path, options)
            except Py4JJavaError as error:
                if error.java_exception.getClass().getSimpleName() == "FileAlreadyExistsException":
                    return False
                raise
            return True

    def replace_text(self, uri: str, text: str) -> None:
        """Write a text to a file. If the file exists, replace its content."""
        aside = f"{uri}.new"
        self.delete(aside)
        self.write_text(aside, text)
        with _raise_error_in_one_line(uri):
            path, system = self._get_file_system(uri)
            jvm = self._jvm
            context = jvm.org.apache.hadoop.fs.FileContext.getFileContext(system.getUri(), self._conf)
            options = self._gateway.new_array(jvm.org.apache.hadoop.fs.Options.Rename, 1)
            options[0] = jvm.org.apache.hadoop.fs.Options.Rename.OVERWRITE
            context.rename(self._get_file_system(aside)[0], path, options)

    def delete(self, uri: str) -> None:
        """Delete a file, or a folder with its content. A missing file or folder is not an error."""
        with _raise_error_in_one_line(uri):
            path, system = self._get_file_system(uri)
            system.delete(path, True)

    def _get_file_system(self, uri: str) -> tuple[Any, Any]:
        path = self._path(uri)
        system = path.getFileSystem(self._conf)
        system.setWriteChecksum(False)  # otherwise Hadoop writes a second file, with a checksum, for each local file
        return path, system


def _build_status(found: Any) -> FileStatus:
    path = found.getPath()
    return FileStatus(
        path.toString(),
        path.toUri().toString(),
        found.isDirectory(),
        found.getLen(),
        found.getModificationTime(),
    )


@contextmanager
def _raise_error_in_one_line(uri: str) -> Iterator[None]:
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise RollupError(f"{one_line(uri)}: {describe_java_error(error)}") from error
