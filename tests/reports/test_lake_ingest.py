"""Ingest, with one lake and one Spark session for many cases: accepted input, refused input, and the state after a
killed ingest.
"""

import hashlib
import json
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import make_runs
import pytest
from crawl import dead_links, files_that_nothing_leads_to
from pyarrow import parquet

from reports.captures import CaptureStore
from reports.lake import vacuum
from reports.lake.files import FileAccess, get_full_name
from reports.lake.ingest import ingest
from reports.lake.manifest import LocalFileSystem, list_manifest_numbers, publish_manifest
from reports.lake.pairs import read_pair
from reports.lake.store import Lake
from reports.model import EXAMPLES_PER_PAGE, OBSERVATION_PANELS_PER_PAGE, RootCause
from reports.records import replace_lone_surrogates
from reports.rollup_error import RollupError
from reports.site import write_site
from reports.site.names import name_run_page
from reports.site_of_lake import get_run_folder, load_contents
from reports.text import MAX_SHOWN_CHARACTERS, build_system_key
from reports.vocabulary import FINDING_VERDICTS, SEVERITY_BY_VERDICT

DAY = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
RULES = {
    "MQQB-2.1.1-01": {"document": "MQQB", "section": "2.1.1", "level": "SHOULD", "says": "One.", "checks": ["t.py::a"]},
    "MQQB-2.1.1-02": {"document": "MQQB", "section": "2.1.1", "level": "MUST", "says": "Two.", "checks": []},
}
MOUNTED = "fs.viewfs.mounttable.here.link."


def hash_of(rules):
    """Return the hash that run.json has as ``suites`` (docs/run-folder.md)."""
    canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def write_run(folder: Path, lines, **values):
    """Write a run folder of schema 2; ``lines``: objects, or lines as text."""
    folder.mkdir(parents=True, exist_ok=True)
    run = {"schema": 2, "run": folder.name, "started": "2026-11-21T10:00:00Z", "finished": "2026-11-21T10:02:00Z"}
    rules = {"schema": 2, "documents": {"MQQB": "Binary"}, "rules": RULES, "coverage": [], "members": []}
    run |= {"suites": hash_of(rules), "sut": {"name": "Contoso", "vendor": "", "version": "1.0", "profile": "none"}}
    run |= {"reach": "process", "harness": "0.1.0", "selection": "all", "aborted": None, "exit": 1} | values
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
    texts = [each if isinstance(each, str) else json.dumps(each) + "\n" for each in lines]
    (folder / "verdicts.jsonl").write_text("".join(texts), encoding="utf-8")
    return folder


def line(seq, rule="MQQB-2.1.1-01", verdict="pass", **values):
    return {"schema": 2, "seq": seq, "ms": seq * 10, "rule": rule, "verdict": verdict, "expected": "a"} | values


MISSING = {"root": "queues plain", "said": "there is no <plain>", "checks": ["t.py::a"]}
"""A root cause of a run, in the form of run.json."""
TWICE_NAMED = json.dumps(line(15)).replace("}", ', "x": {"a": 1, "a": 2}}')
STRANGE = [
    line(1, observed="b", verdict="fail", test="t.py::a", evidence=[[3, 4, 7], [5]], reason="r", errata=["E1"]),
    line(1, observed="b", verdict="fail", test="t.py::a", evidence=[[3, 4, 7], [5]], reason="r", errata=["E1"]),
    line(2, "MQQB-2.1.1-02", colour={"deep": [1, "x\u202e"]}, weight=1.5, notes=["n"]),
    line(3, "MQQB-2.1.1-02", expected="\ud800 lone"),
    line(4, "MQQB-9.9.9-77"),
    "\n",
    json.dumps(line(5)) + json.dumps(line(6)) + "\n",
    json.dumps(line(5)) + "," + json.dumps(line(6)) + "\n",
    json.dumps(line(5)) + "}\n",
    json.dumps(line(7, schema=1)) + "\n",
    json.dumps(line(8, verdict="splendid")) + "\n",
    json.dumps(line("many")) + "\n",
    json.dumps(line(9, evidence=[["first"]])) + "\n",
    json.dumps(line(10, rule="nonsense")) + "\r\n",
    '{"a":' * 2_000 + "\n",
    line(11, test="t.py::b[" + "X_" * 100 + "]", evidence=[[1]]),
    line(13, ms=2**63 - 1),
    line(14, notes=["long", "x" * 50_000], advice="missed"),
    TWICE_NAMED + "\n",
    {"schema": 2, "seq": 15, "ms": 1, "capture": "captures/x.pcapng", "rejected": "the file is cut"},
    json.dumps(line(12))[:40],
]
BROKEN = {
    6: "empty line",
    7: "the line is not a JSON object",
    8: "the line is not a JSON object",
    9: "the line is not a JSON object",
    10: "schema is not 2",
    11: "unknown verdict splendid",
    12: "the line is not a JSON object",
    13: "the line is not a JSON object",
    14: "unknown rule nonsense",
    15: "the line is not a JSON object",
    17: "ms is outside the run",
    20: "captures/x.pcapng: the file is cut",
    21: "the line is cut off in the middle",
}


class IngestedRuns:
    """One lake on a mounted file system, into which one ingest has put runs of both schemas, some of them hostile."""

    def __init__(self, spark, folder):
        self.spark, self.mounted, self.read = spark, folder, {}
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        for name in ("lake", "runs"):
            (folder / name).mkdir()
            hadoop.set(f"{MOUNTED}/{name}", get_full_name(str(folder / name)))
        runs = folder / "runs"
        rules = dict(list(make_runs.catalogue().items())[:40])
        self.old = make_runs.make_run(runs / "old", "Contoso", "1.0", rules=rules, verdicts=90, started=DAY)
        self.hostile = make_runs.make_run(
            runs / "hostile [x] a+b%20ü", make_runs.HOSTILE_NAME, make_runs.HOSTILE_VERSION,
            rules=rules, verdicts=90, seed=4, hostile=True,
        )  # fmt: skip
        make_runs.damage(self.hostile)
        of_run = {"started": "2026-11-20T10:00:00+02:00", "colour": "red", "aborted": "lost", "roots": [MISSING]}
        self.new = write_run(runs / "new", STRANGE, **of_run)
        (runs / "no run").mkdir()
        write_run(runs / "bad", [line(1)], sut={"name": "x"})
        write_run(runs / "twice", STRANGE, run="new", started="2026-11-20T10:00:00+02:00")
        write_run(runs / "torn", [line(1)], started="2026-11-30T10:00:00Z")
        (runs / "torn" / "rules.json").write_text('{"schema": 2, "rules": {"MQ')
        names = ["old", "no run", "new", "bad", "missing", "twice", "torn", "/old", "new/../old"]
        self.arguments = [f"viewfs://here/runs/{name}" for name in names] + ["viewfs://here/runs/host*"]
        self.report = self.ingest()

    def open(self):
        return Lake.open_or_create(self.spark, "viewfs://here/lake")

    def ingest(self, *arguments, **options):
        return ingest(self.open(), arguments or self.arguments, **options)

    def rows(self, table, **values):
        """Return the rows of a table with the given values; the content of a state is read only once."""
        lake = self.open()
        key = (lake.manifest.number, table)
        if key not in self.read:
            self.read[key] = lake.table(table).collect()
        return [row for row in self.read[key] if values.items() <= row.asDict().items()]

    def counted(self, lake, table):
        """Yield the number of rows in each file of a table."""
        for folder in lake.manifest.folders(table):
            for path in (self.path() / folder).glob("*.parquet"):
                yield parquet.read_metadata(path).num_rows

    def path(self):
        return self.mounted / "lake"


@pytest.fixture(scope="module")
def ingested(spark, tmp_path_factory):
    return IngestedRuns(spark, tmp_path_factory.mktemp("mounted"))


def test_bad_argument_does_not_prevent_ingest_of_other_runs(ingested):
    assert ingested.report.ingested_runs == ["new", ingested.hostile.run, ingested.old.run]
    refused = "\n".join(ingested.report.refused)
    assert len(ingested.report.refused) == 5
    for words in (
        "runs/no run is not a run folder: it contains no file run.json",
        "there is no run folder at viewfs://here/runs/missing",
        "bad/run.json: sut: version must be a string",
        "run new was already given with different content",
        "torn/rules.json: it cannot be read as JSON",  # 'new' has the same suites, and its rules.json is whole
    ):
        assert words in refused


def test_every_verdict_line_is_in_one_table_and_broken_lines_are_named(ingested):
    expected = {("viewfs://here/runs/new", number): why for number, why in BROKEN.items()}
    expected |= {
        (f"viewfs://here/runs/{ingested.hostile.folder.name}", n): w for n, w in ingested.hostile.broken.items()
    }
    rows = {(row.folder, row.line): row for row in ingested.rows("rejected")}
    assert rows.keys() == expected.keys()
    for at, why in expected.items():
        assert why.replace("schema is not 1", "schema is not") in rows[at].reason
    assert ingested.report.rejected_line_count == len(expected)
    for row in ingested.rows("runs"):
        assert row.lines == row.kept + row.rejected
    assert (
        sum(row.kept for row in ingested.rows("runs"))
        == len(ingested.rows("verdicts"))
        == ingested.report.kept_line_count
    )


def test_schema_2_line_gets_fields_of_run_and_catalogue(ingested):
    row = next(row for row in ingested.rows("verdicts", run="new", seq=1))
    assert (row.sut, row.sut_name, row.profile) == (build_system_key("Contoso", "1.0", "none"), "Contoso", "none")
    assert (row.document, row.section, row.level, row.reach) == ("MQQB", "2.1.1", "SHOULD", "process")
    assert (row.expected, row.observed, row.reason, row.errata, row.notes) == ("a", "b", "r", ["E1"], [])
    assert row.time == datetime(2026, 11, 20, 8, 0, 0, 10_000)
    assert row.capture == f"captures/t-py-a-{hashlib.sha256(b't.py::a').hexdigest()[:8]}.pcapng"
    packets = ingested.rows("evidence", run="new", seq=1)
    assert sorted({(each.position, each.frame, each.first, each.last) for each in packets}) == [
        (0, 3, 4, 7),
        (1, 5, None, None),
    ]


def test_ingest_keeps_unknown_fields(ingested):
    row = ingested.rows("verdicts", run="new", seq=2)[0]
    assert json.loads(row.extra) == {"colour": {"deep": [1, "x\u202e"]}, "weight": 1.5}
    assert (row.expected, row.observed, row.capture) == ("a", "a", None)
    assert ingested.rows("verdicts", run="new", seq=15)[0].extra == TWICE_NAMED
    run = ingested.rows("runs", run="new")[0]
    assert json.loads(run.extra) == {"colour": "red", "roots": [MISSING]}
    assert (run.aborted, run.partial, run.ingest) == ("lost", True, 1)
    assert {row.run for row in ingested.rows("verdicts") if row.extra} == {"new"}


def test_outcome_of_should_in_must_rule_is_a_column(ingested):
    assert {row.seq: row.advice for row in ingested.rows("verdicts", run="new") if row.advice} == {14: "missed"}
    assert ingested.rows("verdicts", run="new", seq=14)[0].extra is None


def test_lone_surrogate_and_uncatalogued_rule_are_ingested(ingested):
    assert ingested.rows("verdicts", run="new", seq=3)[0].expected == replace_lone_surrogates("\ud800 lone")
    row = ingested.rows("verdicts", run="new", seq=4)[0]
    assert (row.document, row.section, row.level) == ("MQQB", "9.9.9", None)


def test_pages_show_content_of_lake(ingested, tmp_path):
    lake = ingested.open()
    contents = load_contents(lake)
    assert {system.key for system in contents.systems} == {row.sut for row in ingested.rows("runs")}
    assert {run.run: run.unfollowed for run in contents.runs if run.unfollowed} == {"new": ("MQQB-2.1.1-01",)}
    rows = ingested.rows("rule_current")
    stands = {
        (key, rule): verdict
        for key in contents.standing_verdicts.rows
        for rule, verdict in zip(
            contents.standing_verdicts.index_by_rule, contents.standing_verdicts.row(key), strict=True
        )
        if verdict
    }
    assert stands == {(row.sut, row.rule): row.verdict for row in rows if not row.retired}
    shown = [(one.rule, one.retired, SEVERITY_BY_VERDICT[one.verdict]) for one in contents.read_shown_verdicts()]
    assert shown == sorted(shown)
    assert {rule for rule, *_ in shown} == {row.rule for row in rows} <= contents.rules.keys()
    is_bad = Counter((row.rule, row.verdict in FINDING_VERDICTS) for row in rows)
    assert Counter((one.rule, one.verdict in FINDING_VERDICTS) for one in contents.read_shown_verdicts()) == {
        (rule, bad): min(number, OBSERVATION_PANELS_PER_PAGE if bad else EXAMPLES_PER_PAGE)
        for (rule, bad), number in is_bad.items()
    }
    assert {(one.erratum, one.rule) for one in contents.cited_errata} == {
        (entry, row.rule) for row in rows if not row.retired for entry in row.errata if entry
    }
    assert "no row" in contents.rules["MQQB-9.9.9-77"].says
    looked_at = [row for row in rows if row.verdict in FINDING_VERDICTS or row.retired or row.beside]
    assert [(one.system, one.rule) for one in contents.read_findings()] == [
        (one.sut, one.rule)
        for one in sorted(looked_at, key=lambda one: (one.sut, SEVERITY_BY_VERDICT[one.verdict], one.rule))
    ]
    assert (contents.run_count, contents.rejected_count) == (len(ingested.rows("runs")), len(ingested.rows("rejected")))
    assert {run.run: sum(run.counts.values()) for run in contents.runs} == Counter(
        row.run for row in ingested.rows("rule_runs")
    )
    row_of = {(row.sut, row.rule): row for row in rows}
    for one in contents.read_shown_verdicts():
        row = row_of[one.system, one.rule]
        assert one.errata == tuple(row.errata), one.rule
        assert one.notes == tuple(note[: MAX_SHOWN_CHARACTERS + 1] for note in row.notes), one.rule
    assert {run.run: run.roots for run in contents.runs if run.roots} == {
        "new": (RootCause(MISSING["said"], frozenset(MISSING["checks"])),)
    }
    write_site(contents, CaptureStore(tmp_path / "site", partial(get_run_folder, lake)))
    of_run = (tmp_path / "site" / name_run_page("new")).read_text(encoding="utf-8")
    assert "Fix this first: <bdi>there is no &lt;plain&gt;" in of_run
    assert dead_links(tmp_path / "site") == []
    assert files_that_nothing_leads_to(tmp_path / "site") == []
    assert {path.stem for path in (tmp_path / "site" / "systems").iterdir()} == {each.key for each in contents.systems}
    assert len(list((tmp_path / "site" / "rules").iterdir())) == len(contents.rules)


def test_the_capture_of_a_long_test_is_named_as_the_harness_names_it(ingested):
    capture = ingested.rows("verdicts", run="new", seq=11)[0].capture
    assert capture.startswith("captures/x-x-")
    assert len(capture) <= len("captures/") + 120 + len("-01234567.pcapng")


def test_repeated_verdict_line_is_ingested_once(ingested):
    assert len(ingested.rows("verdicts", run="new", seq=1)) == 2
    assert [row.lines for row in ingested.rows("test_runs", run="new", test="t.py::a")] == [1]


def test_verdict_lines_of_schema_1_keep_their_packets(ingested):
    given = json.loads((ingested.old.folder / "verdicts.jsonl").read_text().splitlines()[0])
    packets = ingested.rows("evidence", run=ingested.old.run, seq=1)
    found = [
        {name: row[name] for name in given["evidence"][0]} for row in sorted(packets, key=lambda row: row.position)
    ]
    assert found == given["evidence"]
    assert {row.first for row in packets} == {None}


def test_repeated_ingest_changes_nothing_and_reads_no_lines(ingested, monkeypatch):
    before = list_manifest_numbers(FileAccess(ingested.spark), "viewfs://here/lake")
    monkeypatch.setattr("reports.lake.lines.read_file_contents", lambda _: pytest.fail("lines are read"))
    again = ingested.ingest("viewfs://here/runs/old", "viewfs://here/runs/new")
    assert (again.known_argument_count, again.ingested_runs, again.refused) == (2, [], [])
    assert list_manifest_numbers(FileAccess(ingested.spark), "viewfs://here/lake") == before


def test_a_copy_of_a_run_elsewhere_is_the_same_run(ingested, tmp_path):
    copy = shutil.copytree(ingested.new, tmp_path / "copy")
    again = ingested.ingest(str(copy))
    assert (again.known_argument_count, again.ingested_runs, again.refused) == (1, [], [])


class Killed(BaseException):
    """An exception that simulates the end of the process: no error handler catches it."""


def reading(ingested):
    """Return everything that a reader of the lake can see: the manifest, and the numbers of rows."""
    lake = ingested.open()
    tables = ("runs", "verdicts", "rejected", "test_runs", "rule_current", "matrix", "changes", "exchanges")
    return lake.manifest, {table: sum(ingested.counted(lake, table)) for table in tables}


def test_ingest_killed_at_any_stage_leaves_lake_unchanged_and_replace_takes_new_content(
    ingested, tmp_path, monkeypatch
):
    late = write_run(tmp_path / "late", [line(1), "broken\n"], started="2026-11-25T10:00:00Z")
    other = write_run(tmp_path / "other", [line(1, "MQQB-7.7.7-01", "fail")], run="new")
    refused = ingested.ingest(str(other))
    assert (refused.ingested_runs, refused.number) == ([], ingested.report.number)
    assert "run new is in the lake with different content, from viewfs://here/runs/new: --replace" in refused.refused[0]
    before = reading(ingested)
    seen = []

    def stop_at_the_third(name):
        seen.append(name)
        if len(seen) == 3:
            raise Killed(name)

    def look(name):
        # What lies there now is what a kill at this instant leaves.
        seen.append(name)
        assert ingested.open().manifest == before[0]

    with pytest.raises(Killed):
        ingested.ingest(str(late), str(other), replacing=True, stage=stop_at_the_third)
    assert ingested.open().manifest == before[0]
    seen.clear()
    publishes = FileAccess.publish

    def look_and_publish(*to):
        # A kill now leaves all that was written; a copy of it stays for the vacuum.
        assert reading(ingested) == before
        data = ingested.path() / "data"
        for new in {each.name for each in data.iterdir()} - before[0].commits_in_use() - left:
            shutil.copytree(data / new, data / f"{new}-killed")
        return publishes(*to)

    left = {each.name for each in (ingested.path() / "data").iterdir()} - before[0].commits_in_use()
    with monkeypatch.context() as patched:
        patched.setattr(FileAccess, "publish", look_and_publish)
        done = ingested.ingest(str(late), str(other), replacing=True, stage=look)
    assert len(seen) > 12
    assert list((ingested.path() / "data").glob("*-killed"))
    assert (done.ingested_runs, done.kept_line_count, done.rejected_line_count, done.number) == (
        ["late"],
        2,
        1,
        before[0].number + 1,
    )
    assert ingested.rows("runs", run="late")[0].ingest == before[0].last_ingest + 1
    assert done.replaced_runs == ["new"]
    assert [(row.seq, row.ingest) for row in ingested.rows("verdicts", run="new")] == [(1, 1)]
    assert {row.run for row in ingested.rows("test_runs")} == {"late", "new", ingested.old.run, ingested.hostile.run}
    assert {row.rule for row in ingested.rows("rule_current", run="new")} == {"MQQB-7.7.7-01"}


def write_pair(folder, *results, **values):
    """Write the folder of a pair of Contoso and Fabrikam, with a result for each direction."""
    folder.mkdir()
    systems = {"A": {"name": "Contoso", "version": "1.0", "profile": "none"}, "B": {"name": "Fabrikam"}}
    cells = [
        {"scenario": "express", "origin": origin, "target": target, "outcome": {"result": result, "why": "w"}}
        | {"capture": "e.pcapng", "broken": {"B": ["MQQB-2.1.1-01", "MQQB-2.1.1-01"]} if result == "fail" else {}}
        for result, origin, target in zip(results, "AB", "BA", strict=False)
    ]
    tree = {"schema": 1, "letters": {"express": "E"}, "systems": systems, "cells": cells} | values
    (folder / "pair.json").write_text(json.dumps(tree), encoding="utf-8")
    return str(folder)


def test_results_of_pairs_are_ingested_once_and_the_latest_result_of_a_scenario_is_current(ingested, tmp_path):
    before = ingested.open().manifest
    first = write_pair(tmp_path / "first", "fail", "pass", started="2026-11-26T10:00:00Z")
    report = ingested.ingest(first, "viewfs://here/runs/old")
    assert (report.ingested_pair_count, report.ingested_runs, report.known_argument_count, report.number) == (
        1,
        [],
        1,
        before.number + 1,
    )
    shutil.copytree(first, tmp_path / "copy")
    again = ingested.ingest(first, str(tmp_path / "copy"))
    assert (again.ingested_pair_count, again.known_argument_count, again.refused, again.number) == (
        0,
        1,
        [],
        before.number + 1,
    )
    second = write_pair(tmp_path / "second", "unsupported", started="2026-11-27T10:00:00Z")
    bad = write_pair(tmp_path / "bad", "splendid")
    report = ingested.ingest(second, bad)
    assert (report.ingested_pair_count, len(report.refused)) == (1, 1)
    assert "unknown result splendid" in report.refused[0]
    contoso, fabrikam = build_system_key("Contoso", "1.0", "none"), build_system_key("Fabrikam", "", "")
    assert [(row.ingest, row.origin, row.result, row.broken) for row in ingested.rows("exchanges")] == [
        (1, contoso, "fail", {fabrikam: ["MQQB-2.1.1-01"]}),
        (1, fabrikam, "pass", {}),
        (2, contoso, "unsupported", {}),
    ]
    lake = ingested.open()
    exchanges = {one.origin: one for one in load_contents(lake).exchanges}
    assert {key: (one.result, one.letter) for key, one in exchanges.items()} == {
        contoso: ("unsupported", "E"),
        fabrikam: ("pass", "E"),
    }
    assert get_run_folder(lake, exchanges[fabrikam].pair) == tmp_path / "first"
    assert (lake.manifest.runs, lake.manifest.derived) == (before.runs, before.derived)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"cells": 1}, "cells must be a list"),
        ({"systems": {"A": {"name": "x"}}}, "B is not a system of the pair"),
        ({"schema": 9}, "schema 9 is unknown"),
        ({"systems": {"A": {"name": 1}}}, "name must be a string"),
        ({"started": "soon"}, "started must be a time"),
        ({"letters": {"express": 1}}, "express must be a string"),
    ],
)
def test_malformed_results_of_a_pair_are_refused(tmp_path, values, words):
    with pytest.raises(RollupError, match=words):
        read_pair(LocalFileSystem(), write_pair(tmp_path / "pair", "pass", **values))


def test_second_publication_is_refused_without_effect(ingested):
    lake = ingested.open()
    before = set((ingested.path() / "manifests").iterdir())
    with pytest.raises(
        RollupError, match="was changed by another process during this ingest, so no run was ingested: ingest again"
    ):
        publish_manifest(lake.files, lake.uri, replace(lake.manifest, runs={}))
    assert ingested.open().manifest == lake.manifest
    assert set((ingested.path() / "manifests").iterdir()) == before


def test_vacuum_merges_and_deletes_unused_files_and_keeps_content(ingested):
    before = reading(ingested)
    data = ingested.path() / "data"
    for keep in (100, 1):  # somebody may still read what another state followed today
        young = vacuum.delete_unused_files(ingested.open(), keep=keep, hours=24, compact=False, stage=lambda _: None)
        assert (young.deleted_state_count, young.folders) == (0, 0)
    done = vacuum.delete_unused_files(ingested.open(), keep=1, hours=0, compact=True, stage=lambda _: None)
    after = reading(ingested)
    assert after[1] == before[1]
    assert done.merged_ingest_count > 1
    assert len(after[0].commits) == 1
    assert {each.name for each in data.iterdir()} == after[0].commits_in_use()
    assert len(list((ingested.path() / "manifests").glob("[!.]*"))) == 1
    assert ingested.ingest("viewfs://here/runs/old").known_argument_count == 1


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (
            "s3a://bucket/lake",
            "S3AFileSystem not found; its jars are missing: give them with --conf spark.jars.packages",
        ),
        ("nosuch://host/lake", 'No FileSystem for scheme "nosuch"'),
        ("hdfs://nosuch.invalid/lake", "nosuch.invalid"),
        ("", "the name of a folder is empty"),
    ],
)
def test_unavailable_file_system_gives_one_line_error_and_no_local_folder(
    ingested, tmp_path, monkeypatch, where, words
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RollupError) as caught:
        Lake.open_or_create(ingested.spark, where)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert words in ingested.ingest(where).refused[0]
    assert not list(tmp_path.iterdir())


def test_folder_with_other_content_is_not_a_lake(ingested, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RollupError, match=r"is not a lake, because it contains mine\.txt"):
        Lake.open_or_create(ingested.spark, str(tmp_path))
    with pytest.raises(RollupError, match="no lake at"):
        Lake.open(ingested.spark, str(tmp_path / "nowhere"))


def test_invalid_manifest_is_named(ingested, tmp_path):
    (tmp_path / "manifests").mkdir()
    path = tmp_path / "manifests" / "00000003.json"
    other = (ingested.path() / "manifests" / f"{ingested.open().manifest.number:08d}.json").read_text()
    for text in ("{", "[]", '{"schema": "7"}', "{}", other.replace('"number": ', '"number": 4')):
        path.write_text(text)
        with pytest.raises(RollupError, match=r"00000003\.json is not a manifest"):
            Lake.open_or_create(ingested.spark, str(tmp_path))
    path.write_text('{"schema": 2}')
    with pytest.raises(RollupError, match="has schema 2: a newer mqconform wrote this lake"):
        Lake.open_or_create(ingested.spark, str(tmp_path))


def test_runs_are_numbered_by_start_whatever_the_argument_order(ingested):
    rows = sorted(ingested.rows("runs"), key=lambda row: row.ingest)
    assert [row.run for row in rows][:3] == ["new", ingested.hostile.run, ingested.old.run]
