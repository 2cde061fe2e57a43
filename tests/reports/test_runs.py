"""Run folders: what is taken, and what is refused in one line that names the thing."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import make_runs
import pytest

from reports.rollup_error import RollupError
from reports.runs import count_lines, inside, load_run, load_runs


@pytest.fixture
def folder(tmp_path):
    rules = dict(list(make_runs.catalogue().items())[:5])
    make_runs.make_run(tmp_path / "run", "Contoso", "1.0", rules=rules, verdicts=5)
    return tmp_path / "run"


def change(path, **values):
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | values))


def test_a_run_folder_is_read(folder):
    run = load_run(folder)
    assert (run.sut.name, run.sut.version, run.reach, run.exit) == ("Contoso", "1.0", "process", 1)
    assert run.started == datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
    rule = run.rules["MQQB-2.1.1-01"]
    assert (rule.document, rule.section, rule.title, rule.why) == ("MQQB", "2.1.1", "Protocol Session", "")


def test_a_run_that_was_killed_is_read(folder):
    change(folder / "run.json", finished=None, exit=None)
    run = load_run(folder)
    assert run.finished is None
    assert run.exit is None


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(RollupError, match=r"no run folder at .*/nowhere"):
        load_run(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["verdicts.jsonl", "run.json", "rules.json"])
def test_a_folder_without_one_of_its_files_is_no_run_folder(folder, name):
    (folder / name).unlink()
    with pytest.raises(RollupError, match=f"run is not a run folder.*{name}"):
        load_run(folder)


def test_a_verdict_file_that_is_a_link_to_another_place_is_refused(folder, tmp_path):
    (folder / "verdicts.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (folder / "verdicts.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(RollupError, match="not a run folder"):
        load_run(folder)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"schema": 3}, "schema 3 is unknown"),
        ({"run": None}, "run must be a string"),
        ({"started": "yesterday"}, "started must be a time"),
        ({"sut": "Contoso"}, "sut: expected a JSON object"),
        ({"sut": {"name": "x"}}, "sut: version must be a string"),
        ({"exit": "1"}, "exit must be an integer"),
    ],
)
def test_a_wrong_key_is_named(folder, values, says):
    change(folder / "run.json", **values)
    with pytest.raises(RollupError, match=rf"run\.json.*{says}"):
        load_run(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a":' * 100_000])
def test_a_broken_file_is_named(folder, text):
    (folder / "rules.json").write_text(text)
    with pytest.raises(RollupError, match=r"rules\.json"):
        load_run(folder)


@pytest.mark.parametrize("document", ["../x", "MQQB\n", "mqqb", ""])
def test_a_document_is_a_short_name(folder, document):
    change(folder / "rules.json", rules={"R-1": {"document": document, "section": "1", "level": "MUST"}})
    with pytest.raises(RollupError, match="document must be"):
        load_run(folder)


def test_titles_are_strings(folder):
    assert load_run(folder).titles["MQMQ"] == "Data Structures"
    change(folder / "rules.json", documents={"MQQB": 5})
    with pytest.raises(RollupError, match="documents: MQQB must be a string"):
        load_run(folder)


def test_a_path_that_is_not_utf_8_is_refused_before_spark_starts(folder):
    odd = Path(os.fsdecode(os.fsencode(folder.parent) + b"/run\xff"))
    folder.rename(odd)
    with pytest.raises(RollupError, match="is not UTF-8"):
        load_run(odd)


def test_the_same_run_twice_is_refused(folder):
    with pytest.raises(RollupError, match="given twice"):
        load_runs([folder, folder])


def test_nothing_to_roll_up_is_said(folder):
    (folder / "verdicts.jsonl").write_bytes(b"")
    with pytest.raises(RollupError, match=r"no verdicts to roll up.*verdicts\.jsonl empty"):
        load_runs([folder])


def test_a_lone_surrogate_does_not_get_in(folder):
    change(folder / "run.json", selection="\ud800")
    load_run(folder).selection.encode("utf-8")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../secret",
        "captures/../../secret",
        "captures",
        "leads-out",
        "loop",
        "x" * 5_000,
        "a\0b",
        "..\\x",
    ],
)
def test_a_path_may_not_leave_its_folder(tmp_path, path):
    folder = tmp_path / "run"
    (folder / "captures").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / "leads-out").symlink_to(tmp_path / "secret")
    (folder / "loop").symlink_to(folder / "loop")
    assert inside(folder, path) is None


def test_a_file_of_the_folder_is_found(tmp_path):
    (tmp_path / "a.pcapng").write_bytes(b"x")
    assert inside(tmp_path.resolve(), "a.pcapng") == tmp_path.resolve() / "a.pcapng"


@pytest.mark.parametrize(
    ("data", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"a\r\nb\n", 2)]
)
def test_lines_are_counted_also_without_a_last_line_end(tmp_path, data, lines):
    (tmp_path / "f").write_bytes(data)
    assert count_lines(tmp_path / "f") == lines
