"""Judging on an executor, tested without an executor: the effects that a capture may have, and the reported reasons."""

import resource
import signal
import sys
import time

import pyarrow
import pytest
from patience import PATIENCE_S, run_watched
from pyspark import cloudpickle

from reports.lake import judging_worker
from reports.lake.judging_worker import JUDGED_ROWS_SCHEMA, VERDICTS_SCHEMA_DDL, CaptureJudgingWorker


class MqconformError(Exception):
    """A class with the name of the error of the harness."""


def told(path, name, profile, sut):
    seen = {"expected": path.read_bytes().decode(), "reason": profile}
    return 1_000_000, [
        {"schema": 2, "rule": "MQQB-2.1.1-01", "verdict": "pass", "test": "no", **seen},
        {"schema": 2, "rule": "MQQB-2.1.1-02", "verdict": "fail", "observed": "\ud800", "evidence": [[3, 4, 7], [5]]},
    ]


def stubborn(path, name, profile, sut):
    while True:
        try:
            time.sleep(0.01)
        except Exception:  # noqa: BLE001 - as code does that somebody else wrote
            continue


def greedy(path, name, profile, sut):
    return len(bytearray(8 << 30)), []


def deep(path, name, profile, sut):
    return deep(path, name, profile, sut)


def refused(path, name, profile, sut):
    raise MqconformError(f"{path}: at byte 4: cut")


def judged(function, *captures, seconds=PATIENCE_S):
    names, contents = zip(*captures, strict=True)
    told = {"unit": ["u"] * len(names), "profile": ["vms"] * len(names), "capture": names, "content": contents}
    batch = pyarrow.RecordBatch.from_pydict(told)
    worker = CaptureJudgingWorker(f"{__name__}:{function.__name__}", "", seconds, 1 << 30)
    return [row for part in worker(iter([batch])) for row in part.to_pylist()]


def test_worker_returns_a_row_per_verdict_without_unknown_fields():
    rows = judged(told, ("a", b"one"), ("b", b"two"))
    assert [(row["capture"], row["position"], row["rule"]) for row in rows] == [
        ("a", 0, "MQQB-2.1.1-01"), ("a", 1, "MQQB-2.1.1-02"), ("b", 0, "MQQB-2.1.1-01"), ("b", 1, "MQQB-2.1.1-02"),
    ]  # fmt: skip
    assert [row["expected"] for row in rows] == ["one", None, "two", None]
    assert {row["reason"] for row in rows[::2]} == {"vms"}
    assert (rows[1]["observed"], rows[1]["evidence"], rows[1]["rejected"]) == ("?", [[3, 4, 7], [5]], None)
    assert {row["ended_us"] for row in rows} == {1_000_000}


@pytest.mark.parametrize(
    ("function", "seconds", "why"),
    [
        (stubborn, 0.2, "not judged within 0.2 s"),
        (greedy, PATIENCE_S, "needs more than 1024 MiB of memory"),
        (
            deep,
            PATIENCE_S,
            "a bug in mqconform, not an error in the capture: RecursionError: maximum recursion depth exceeded",
        ),
        (refused, PATIENCE_S, "at byte 4: cut"),
    ],
)
def test_hostile_capture_gives_a_row_and_leaves_process_unchanged(function, seconds, why):
    before = signal.getsignal(signal.SIGALRM), resource.getrlimit(resource.RLIMIT_AS)
    rows = judged(function, ("a", b""), ("b", b""), seconds=seconds)
    assert [row["capture"] for row in rows] == ["a", "b"]
    assert all(row["rejected"].startswith(why) for row in rows)
    assert (signal.getsignal(signal.SIGALRM), resource.getrlimit(resource.RLIMIT_AS)) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_spark_and_arrow_schemas_have_the_same_columns():
    names = {"string": "string", "int": "int32", "bigint": "int64", "array<string>": "list<element: string>"}
    names |= {"array<array<int>>": "list<element: list<element: int32>>"}
    told_spark = {name: names[type_] for name, type_ in (each.split(" ") for each in VERDICTS_SCHEMA_DDL.split(", "))}
    assert told_spark == {one.name: str(one.type).replace("item:", "element:") for one in JUDGED_ROWS_SCHEMA}


def test_code_for_executors_imports_no_project_module(tmp_path):
    cloudpickle.register_pickle_by_value(judging_worker)
    try:
        (tmp_path / "sent").write_bytes(cloudpickle.dumps(CaptureJudgingWorker("json:loads", "", 1, 1 << 30)))
    finally:
        cloudpickle.unregister_pickle_by_value(judging_worker)
    code = "import pickle, sys; print(list(pickle.load(open('sent', 'rb'))(iter([]))), 'reports' in sys.modules)"
    done = run_watched([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert done.stdout == "[] False\n"
