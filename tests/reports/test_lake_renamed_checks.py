"""A lake in which newer suites rename a check: verdicts under the old and the new name count as verdicts of
one check.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from reports.lake.difference import UNCHANGED_VERDICT_KIND, compare_sides
from reports.lake.ingest import ingest
from reports.lake.store import Lake
from reports.site_of_lake import load_contents

RULE, OTHER_RULE = "MQQB-2.1.1-01", "MQQB-2.1.1-02"
OLD, NEW, OTHER = "suites/t.py::old", "suites/s.py::new", "suites/t.py::other"
ROOT = {"root": "queues plain", "said": "there is no queue", "checks": [f"{OLD}[a]"]}


def rules_json(check, renamed):
    known = {"document": "MQQB", "section": "2.1.1", "level": "MUST", "says": "One."}
    rules = {RULE: known | {"checks": [check, OTHER]}, OTHER_RULE: known | {"checks": [OTHER]}}
    return {"schema": 2, "documents": {"MQQB": "Binary"}, "rules": rules} | ({"renamed": renamed} if renamed else {})


BEFORE, AFTER = rules_json(OLD, {}), rules_json(NEW, {OLD: NEW})


class Systems:
    """A lake of several systems, one for each test; ``stands``, ``changes`` and ``roots`` of a stage are read only
    once.
    """

    def __init__(self, spark, folder):
        self.spark, self.folder, self.uri = spark, folder, str(folder / "lake")
        self.stands, self.changes, self.roots, self.number = {}, {}, {}, 0

    def write_run(self, system, rules, *judged, **values):
        """Write a run folder of a system; each folder has a later start than the previous one."""
        self.number += 1
        folder = self.folder / f"{system}-{self.number}"
        folder.mkdir()
        canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        day = f"2026-11-{self.number:02d}"
        run = {"schema": 2, "run": folder.name, "started": f"{day}T10:00:00Z", "reach": "process"}
        run |= {"finished": f"{day}T11:00:00Z", "suites": hashlib.sha256(canonical.encode()).hexdigest()}
        run |= {"sut": {"name": system, "vendor": "", "version": "1.0", "profile": "none"}, "harness": "0.1.0"}
        run |= {"selection": "all", "aborted": None, "exit": 1} | values
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        (folder / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
        lines = (
            {"schema": 2, "seq": seq, "ms": seq, "rule": rule, "verdict": verdict, "expected": "a", "test": test}
            for seq, (test, rule, verdict) in enumerate(judged, 1)
        )
        (folder / "verdicts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return folder

    def ingest(self, stage, *folders, replaced=()):
        """Ingest run folders together, and read the standing verdicts of this stage."""
        given = [str(folder) for folder in (*folders, *replaced)]
        report = ingest(self.lake(), given, replacing=bool(replaced))
        assert sorted(report.ingested_runs) == sorted(folder.name for folder in folders)
        assert report.replaced_runs == [folder.name for folder in replaced]
        lake = self.lake()
        for row in lake.table("rule_current").where(f"rule = '{RULE}'").collect():
            self.stands[stage, row.sut_name] = row.test, row.verdict, row.tests, row.retired
        for row in lake.table("changes").collect():
            self.changes.setdefault((stage, row.sut_name), []).append((row.run, row.rule, row.change))

    def read_roots(self, stage):
        """Record the checks that depend on a root cause, by system."""
        for run in load_contents(self.lake()).runs:
            for root in run.roots:
                self.roots[stage, run.run.rpartition("-")[0]] = root.checks

    def lake(self):
        return Lake.open_or_create(self.spark, self.uri)


@pytest.fixture(scope="module")
def systems(spark, tmp_path_factory):
    """Return a lake into which five systems were ingested in three stages: with suites before the renaming, with suites
    after it, and again with suites before it.
    """
    made = Systems(spark, tmp_path_factory.mktemp("renamed"))
    older = BEFORE | {"documents": {"MQQB": "Binary Protocol"}}
    replaced = made.write_run("replaced", older, (OLD, RULE, "fail"))
    made.ingest(
        "before",
        replaced,
        made.write_run("replaced", BEFORE, (OTHER, OTHER_RULE, "pass"), selection="-k other"),
        made.write_run("later", BEFORE, (f"{OLD}[a]", RULE, "fail"), (OTHER, RULE, "pass")),
        made.write_run("failing", BEFORE, (OLD, RULE, "fail")),
        made.write_run("rooted", BEFORE, (f"{OLD}[a]", RULE, "inconclusive"), roots=[ROOT]),
        made.write_run("back", BEFORE, (OLD, RULE, "fail")),
    )
    made.read_roots("before")
    made.ingest(
        "after",
        made.write_run("replaced", AFTER, (OTHER, OTHER_RULE, "pass"), selection="-k other"),
        made.write_run("later", AFTER, (OTHER, RULE, "pass"), selection="-k other"),
        made.write_run("failing", AFTER, (NEW, RULE, "fail")),
        made.write_run("rooted", AFTER, (OTHER, RULE, "pass"), selection="-k other"),
        made.write_run("back", AFTER, (NEW, RULE, "pass")),
    )
    made.read_roots("after")
    with (replaced / "verdicts.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"schema": 2, "seq": 9, "ms": 9, "rule": RULE, "verdict": "pass", "test": OTHER}) + "\n")
    made.ingest(
        "last",
        made.write_run("later", AFTER, (f"{NEW}[a]", RULE, "pass"), selection="-k new"),
        made.write_run("back", BEFORE, (OLD, RULE, "fail")),
        replaced=[replaced],
    )
    return made


def test_renamed_check_keeps_its_verdict_until_it_runs_again(systems):
    assert systems.stands["after", "later"] == (f"{NEW}[a]", "fail", 2, False)
    assert ("after", "later") not in systems.changes
    assert systems.stands["last", "later"] == (f"{NEW}[a]", "pass", 2, False)
    assert systems.changes["last", "later"] == [("later-12", RULE, "newly passing")]


def test_renamed_check_that_still_fails_gives_no_change(systems):
    assert systems.stands["after", "failing"] == (NEW, "fail", 1, False)
    assert ("last", "failing") not in systems.changes
    steps = compare_sides(systems.lake().table, "failing-4", "failing-9", None).rule_comparisons
    assert {step.kind for step in steps} == {UNCHANGED_VERDICT_KIND}


def test_an_older_change_of_the_suites_removes_no_check_that_was_renamed_later(systems):
    """After a replaced run, all tables of its product are derived anew with the newest names, and the renamed check
    still counts.
    """
    assert systems.stands["last", "replaced"] == (NEW, "fail", 2, False)
    assert systems.changes["last", "replaced"] == [("replaced-2", OTHER_RULE, "added")]


def test_suites_without_new_name_use_old_name(systems):
    assert systems.stands["after", "back"] == (NEW, "pass", 1, False)
    assert systems.stands["last", "back"] == (OLD, "fail", 1, False)


def test_a_missing_root_of_an_older_run_names_the_renamed_check(systems):
    assert systems.roots["before", "rooted"] == {f"{OLD}[a]"}
    assert systems.roots["after", "rooted"] == {f"{NEW}[a]"}
