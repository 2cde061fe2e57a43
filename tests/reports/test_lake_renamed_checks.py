"""A lake in which newer suites rename a check: its verdicts under both names are those of one check."""

from __future__ import annotations

import hashlib
import json

import pytest

from reports.lake.difference import UNCHANGED, compare
from reports.lake.ingest import ingest
from reports.lake.store import Lake
from reports.site_of_lake import contents_of

RULE, OTHER_RULE = "MQQB-2.1.1-01", "MQQB-2.1.1-02"
OLD, NEW, OTHER = "suites/t.py::old", "suites/s.py::new", "suites/t.py::other"
ROOT = {"root": "queues plain", "said": "there is no queue", "checks": [f"{OLD}[a]"]}


def rules_json(check, renamed):
    known = {"document": "MQQB", "section": "2.1.1", "level": "MUST", "says": "One."}
    rules = {RULE: known | {"checks": [check, OTHER]}, OTHER_RULE: known | {"checks": [OTHER]}}
    return {"schema": 2, "documents": {"MQQB": "Binary"}, "rules": rules} | ({"renamed": renamed} if renamed else {})


BEFORE, AFTER = rules_json(OLD, {}), rules_json(NEW, {OLD: NEW})


@pytest.fixture
def take(spark, tmp_path):
    """Return a function that writes a run, takes it into the lake, and returns the lake."""
    number = 0

    def take_run(rules, *judged, **values):
        nonlocal number
        number += 1
        folder = tmp_path / f"run-{number}"
        folder.mkdir()
        canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        run = {"schema": 2, "run": folder.name, "started": f"2026-11-{number:02d}T10:00:00Z", "reach": "process"}
        run |= {"finished": f"2026-11-{number:02d}T11:00:00Z", "suites": hashlib.sha256(canonical.encode()).hexdigest()}
        run |= {"sut": {"name": "Contoso", "vendor": "", "version": "1.0", "profile": "none"}, "harness": "0.1.0"}
        run |= {"selection": "all", "aborted": None, "exit": 1} | values
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        (folder / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
        lines = (
            {"schema": 2, "seq": seq, "ms": seq, "rule": rule, "verdict": verdict, "expected": "a", "test": test}
            for seq, (test, rule, verdict) in enumerate(judged, 1)
        )
        (folder / "verdicts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        report = ingest(Lake.open_or_new(spark, str(tmp_path / "lake")), [str(folder)])
        assert report.taken == [folder.name]
        return Lake.open_or_new(spark, str(tmp_path / "lake"))

    return take_run


def stands(lake, rule=RULE):
    (row,) = lake.table("rule_current").where(f"rule = '{rule}'").collect()
    return row.test, row.verdict, row.tests, row.retired


def changes(lake):
    return [(row.run, row.rule, row.change) for row in lake.table("changes").orderBy("ingest", "rule").collect()]


def test_a_renamed_check_keeps_its_verdict_until_it_is_made_again(take):
    take(BEFORE, (f"{OLD}[a]", RULE, "fail"), (OTHER, RULE, "pass"))
    lake = take(AFTER, (OTHER, RULE, "pass"), selection="-k other")
    assert stands(lake) == (f"{NEW}[a]", "fail", 2, False)
    assert changes(lake) == []
    lake = take(AFTER, (f"{NEW}[a]", RULE, "pass"), selection="-k new")
    assert stands(lake) == (f"{NEW}[a]", "pass", 2, False)
    assert changes(lake) == [("run-3", RULE, "newly passing")]


def test_a_check_that_still_fails_under_its_new_name_changes_nothing(take):
    take(BEFORE, (OLD, RULE, "fail"))
    lake = take(AFTER, (NEW, RULE, "fail"))
    assert stands(lake) == (NEW, "fail", 1, False)
    assert changes(lake) == []
    assert {step.kind for step in compare(lake.table, "run-1", "run-2", None).steps} == {UNCHANGED}


def test_an_older_change_of_the_suites_removes_no_check_that_was_renamed_later(take, tmp_path):
    """The run is replaced, so that all of its product is derived anew, with the newest names."""
    older = BEFORE | {"documents": {"MQQB": "Binary Protocol"}}
    take(older, (OLD, RULE, "fail"))
    take(BEFORE, (OTHER, OTHER_RULE, "pass"), selection="-k other")
    lake = take(AFTER, (OTHER, OTHER_RULE, "pass"), selection="-k other")
    with (tmp_path / "run-1" / "verdicts.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"schema": 2, "seq": 9, "ms": 9, "rule": RULE, "verdict": "pass", "test": OTHER}) + "\n")
    report = ingest(lake, [str(tmp_path / "run-1")], replacing=True)
    assert report.replaced == ["run-1"]
    lake = Lake.open_or_new(lake.spark, lake.uri)
    assert stands(lake) == (NEW, "fail", 2, False)
    assert changes(lake) == [("run-2", OTHER_RULE, "added")]


def test_suites_without_the_new_name_go_back_to_the_old_one(take):
    take(BEFORE, (OLD, RULE, "fail"))
    take(AFTER, (NEW, RULE, "pass"))
    lake = take(BEFORE, (OLD, RULE, "fail"))
    assert stands(lake) == (OLD, "fail", 1, False)


def test_a_missing_root_of_an_older_run_names_the_renamed_check(take):
    lake = take(BEFORE, (f"{OLD}[a]", RULE, "inconclusive"), roots=[ROOT])
    assert [root.checks for run in contents_of(lake).runs for root in run.roots] == [{f"{OLD}[a]"}]
    lake = take(AFTER, (OTHER, RULE, "pass"), selection="-k other")
    assert [root.checks for run in contents_of(lake).runs for root in run.roots] == [{f"{NEW}[a]"}]
