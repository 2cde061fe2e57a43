"""Judges captures on an executor.

Spark sends this module with the task, so the module imports no other module of the project at its top. A capture may
contain any bytes: the time and the memory for judging a capture are therefore limited, and a failure of the code that
reads the capture becomes a row with the reason.
"""

from __future__ import annotations

import contextlib
import importlib
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow

CaptureJudgeFunction = Callable[[Path, str, str, str], tuple[int, list[dict[str, Any]]]]
"""A function that judges a capture. Its arguments are the file and name of the capture, the profile, and the
address of the system.

The function returns the end time of the capture (microseconds since 1970), and the verdicts as lines of schema 2.
"""
TEXT_TYPE, TEXT_LIST_TYPE = pyarrow.string(), pyarrow.list_(pyarrow.string())
JUDGED_ROWS_SCHEMA = pyarrow.schema(
    {
        "unit": TEXT_TYPE,
        "capture": TEXT_TYPE,
        "position": pyarrow.int32(),
        "ended_us": pyarrow.int64(),
        **dict.fromkeys(("rule", "verdict", "expected", "observed", "reason", "advice"), TEXT_TYPE),
        "evidence": pyarrow.list_(pyarrow.list_(pyarrow.int32())),
        "errata": TEXT_LIST_TYPE,
        "notes": TEXT_LIST_TYPE,
        "rejected": TEXT_TYPE,
    }
)
"""The columns of a row. A row describes a verdict of a capture. If the capture has no verdict, the column ``rejected``
contains the reason.
"""
VERDICTS_SCHEMA_DDL = (
    "unit string, capture string, position int, ended_us bigint, rule string, verdict string, expected string, "
    "observed string, reason string, advice string, evidence array<array<int>>, errata array<string>, "
    "notes array<string>, rejected string"
)
"""`JUDGED_ROWS_SCHEMA` in Spark's notation."""
CAPTURE_COLUMNS = ("unit", "profile", "capture")
"""The columns of each capture that a worker gets, except ``content``."""
ROWS_PER_BATCH = 4096


class CaptureTimeout(BaseException):
    """Raised when judging a capture exceeds the time limit. General error handlers do not catch this exception."""


@dataclass(frozen=True, slots=True)
class CaptureJudgingWorker:
    """Judges the captures of one partition.

    ``entry``: ``module:function`` of a `CaptureJudgeFunction`. ``archive``: the name of the archive that contains the
    code of the function, or an empty text if the code is installed. ``sut``: the address of the captured system, or an
    empty text if the captures mark the system's packets. ``seconds``, ``octets``: the limits of time and of additional
    memory for a capture.
    """

    entry: str
    archive: str
    seconds: float
    octets: int
    sut: str = ""

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """Judge captures, which are rows of unit, profile, capture and content. Return rows of `JUDGED_ROWS_SCHEMA`."""
        judge = self._load_capture_judge()
        with tempfile.TemporaryDirectory(prefix="mqconform-judging-") as folder:
            path = Path(folder) / "capture.pcapng"
            for batch in batches:
                for row in range(batch.num_rows):
                    unit, profile, capture = (batch.column(name)[row].as_py() for name in CAPTURE_COLUMNS)
                    path.write_bytes(batch.column("content")[row].as_buffer())
                    rows = self._judge_capture(judge, path, capture, profile)
                    for start in range(0, len(rows), ROWS_PER_BATCH):
                        some = [{"unit": unit} | each for each in rows[start : start + ROWS_PER_BATCH]]
                        yield pyarrow.RecordBatch.from_pylist(some, schema=JUDGED_ROWS_SCHEMA)

    def _load_capture_judge(self) -> CaptureJudgeFunction:
        if self.archive:
            from pyspark import SparkFiles

            sent = SparkFiles.get(self.archive)
            if sent not in sys.path:
                sys.path.insert(0, sent)
        module, _, name = self.entry.partition(":")
        judge: CaptureJudgeFunction = getattr(importlib.import_module(module), name)
        return judge

    def _judge_capture(
        self, judge: CaptureJudgeFunction, path: Path, capture: str, profile: str
    ) -> list[dict[str, Any]]:
        try:
            with self._limit_time_and_memory():
                ended_us, lines = judge(path, capture, profile, self.sut)
                return [
                    {
                        name: _replace_surrogates(value)
                        for name, value in line.items()
                        if name in JUDGED_ROWS_SCHEMA.names
                    }
                    | {"capture": capture, "position": position, "ended_us": ended_us}
                    for position, line in enumerate(lines)
                ]
        except CaptureTimeout:
            why = f"not judged within {self.seconds:g} s"
        except MemoryError:
            why = f"needs more than {self.octets >> 20} MiB of memory"
        except Exception as error:  # noqa: BLE001 - any error of a capture rejects that capture alone
            why = _describe_rejection(error, path)
        return [{"capture": capture, "position": 0, "rejected": _replace_surrogates(why)}]

    @contextlib.contextmanager
    def _limit_time_and_memory(self) -> Iterator[None]:
        """Raise `CaptureTimeout` or MemoryError if the code in this context exceeds its limit of time or memory."""

        def raise_too_long(*_: object) -> None:
            raise CaptureTimeout

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _, most = limits = resource.getrlimit(resource.RLIMIT_AS)
        wanted = pages * resource.getpagesize() + self.octets
        before = signal.signal(signal.SIGALRM, raise_too_long)
        try:
            resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            resource.setrlimit(resource.RLIMIT_AS, limits)
            signal.signal(signal.SIGALRM, before)


def _describe_rejection(error: Exception, path: Path) -> str:
    """Return the reason why a capture is rejected. For an unexpected error, the reason includes the place in the
    code where the error was raised.
    """
    said = str(error).replace(f"{path}: ", "")
    if any(kind.__name__ == "MqconformError" for kind in type(error).__mro__):
        return said
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f" ({Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno})" if at is not None else ""
    return f"a bug in mqconform, not an error in the capture: {type(error).__name__}: {said}{where}"


def _replace_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which output files cannot contain."""
    if isinstance(value, str):
        return str(value).encode("utf-8", "replace").decode("utf-8")
    return [_replace_surrogates(each) for each in value] if isinstance(value, list | tuple) else value
