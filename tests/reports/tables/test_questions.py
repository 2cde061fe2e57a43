"""Differences, histories and exports: their content, and that strings of a system are never interpreted as markup."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
import typer
from lake_of_cases import KEPT, NEW, OTHER, PASSIVE, RULE, A
from typer.testing import CliRunner

from reports.lake import cli, difference, difference_shown, exporting, history, history_shown
from reports.lake.difference import KINDS_OF_CHANGE, compare_sides
from reports.rollup_error import RollupError


@pytest.fixture(scope="module")
def versions(lake):
    return compare_sides(lake.table, "1.0", "2.0", "versions")


def rules_of(found):
    return {kind: [step.rule for step in found.of(kind)] for kind in KINDS_OF_CHANGE if found.of(kind)}


def test_versions_are_compared_by_the_identity_of_their_rules(versions):
    assert rules_of(versions) == {
        "newly failing": [RULE],
        "newly passing": [OTHER],
        "added": [NEW],
        "removed": [PASSIVE],
        "unchanged": [KEPT],
    }
    assert (versions.first_side.runs, versions.first_side.partial, versions.second_side.runs) == (2, False, 1)
    (failing,) = versions.of("newly failing")
    assert (failing.before.verdict, failing.after.verdict, failing.after.test) == ("pass", "fail", A)


def test_two_runs_are_compared_and_a_partial_one_is_marked(lake, versions):
    first, second = sorted(
        row.run for row in lake.runs.where("sut_name = 'versions' and sut_version = '1.0'").select("run").collect()
    )
    found = compare_sides(lake.table, first, second, None)
    assert rules_of(found) == {"changed": [OTHER], "removed": [RULE, PASSIVE, KEPT]}
    assert found.second_side.partial
    assert "partial" in difference_shown.format_difference_text(found)


def test_day_or_time_selects_runs_of_last_version_started_by_then(lake):
    mine = lake.runs.where("sut_name = 'versions'")
    numbers = [row.ingest for row in mine.orderBy("ingest").collect()]
    first = mine.selectExpr("date_format(min(started), \"yyyy-MM-dd'T'HH:mm\") as at").first().at

    def meant(asked):
        return [
            row.ingest
            for row in difference._select_runs_of_compared_side(lake.runs, asked, "versions")
            .orderBy("ingest")
            .collect()
        ]

    assert meant(first) == meant(f"{first}+00:00") == numbers[:1]
    assert meant("2031-01-01") == meant("2.0") == numbers[2:]
    assert meant("1.0") == meant("versions-1.0-none") == numbers[:2]


@pytest.mark.parametrize(
    ("asked", "sut", "words"),
    [
        ("9.9", "versions", "'9.9' is not a run, version or day of 'versions' in this lake"),
        ("2020-01-01", "versions", "is not a run, version or day"),
        ("1.0", None, "'1.0' matches several systems: give the key of one"),
        ("1.0", "profiles", "(profiles-1.0-2003, profiles-1.0-xp)"),
    ],
)
def test_unknown_or_ambiguous_side_of_diff_is_named(lake, asked, sut, words):
    with pytest.raises(RollupError) as error:
        compare_sides(lake.table, asked, asked, sut)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_strings_of_a_system_stay_strings_in_every_format(versions):
    text, page, values = (show(versions) for show in difference_shown.FORMATTER_BY_NAME.values())
    assert "newly failing: 1" in text
    assert f"  {RULE}  pass -> fail" in text
    assert "    expected a|b <script>\n    observed ⟨U+202E⟩[x](http://y)\n    check    test_a\n" in text
    assert f"    again    mqconform run --rule {RULE} --sut FILE\n" in text
    assert "## Newly failing: 1" in page
    assert r"a\|b \<script\> | ⟨U\+202E⟩\[x\]\(http\://y\) |" in page
    assert all(line.count("|") - line.count(r"\|") == 7 for line in page.splitlines() if line.startswith("|"))
    read = json.loads(values)
    assert [step["rule"] for step in read["unchanged"]] == [KEPT]
    assert read["newly failing"][0]["after"]["expected"] == "a|b\n<script>"
    assert read["b"]["sut_version"] == "2.0"


MISSING = "fix this first: no <peer> (1 check depends on it)"


def test_missing_roots_precede_differences(versions):
    assert (versions.first_side.roots, versions.second_side.roots) == ((), (MISSING,))
    assert difference_shown.format_difference_text(versions).startswith(f"B: {MISSING}\nA: 1.0 (")
    shown = difference_shown.format_difference_markdown(versions)
    assert shown.startswith("**B: fix this first\\: no \\<peer\\> \\(1 check depends on it\\)**  \n")
    assert json.loads(difference_shown.format_as_json(versions))["b"]["roots"] == [MISSING]


@pytest.mark.parametrize("about", ["versions", NEW])
def test_missing_roots_of_run_precede_its_changes_in_history(lake, about):
    found = history.read_history(lake.table, about, last=5)
    assert [entry.roots for entry in found.entries] == [(MISSING,), (), ()][: len(found.entries)]
    lines = history_shown.format_history_text(found).splitlines()
    assert lines[1:3] == [MISSING, "now:"]
    assert lines[lines.index("runs:") + 2] == f"      {MISSING}"


def test_history_of_a_rule_shows_each_run_and_its_change(lake):
    found = history.read_history(lake.table, NEW, last=5)
    assert [(entry.verdict, entry.changes) for entry in found.entries] == [("pass", ("added (none before)",))]
    assert found.now == (("versions 2.0", "pass", found.entries[0].run),)
    many = history.read_history(lake.table, RULE, last=3)
    assert (len(many.entries), many.runs > 20) == (3, True)
    assert [entry.ingest for entry in many.entries] == sorted((each.ingest for each in many.entries), reverse=True)


def test_the_history_of_a_system_counts_rules_and_names_changes(lake):
    found = history.read_history(lake.table, "versions", last=50)
    assert [(entry.system, entry.partial, entry.counts) for entry in found.entries] == [
        ("versions 2.0", False, {"fail": 1, "pass": 3}),
        ("versions 1.0", True, {"inconclusive": 1}),
        ("versions 1.0", False, {"fail": 1, "warn": 1, "pass": 2}),
    ]
    assert found.entries[0].changes == (
        f"added {NEW} (none before)",
        f"newly failing {RULE} (pass before)",
        f"newly passing {OTHER} (fail before)",
    )
    text = history_shown.format_history_text(found)
    assert "versions 1.0: fail (1 rule)" in text
    assert ", partial" in text
    assert json.loads(history_shown.format_as_json(found))["now"][0]["system"] == "versions 1.0"


def test_history_of_unknown_name_lists_known_systems(lake):
    with pytest.raises(RollupError, match="neither a judged rule nor a system of this lake: its systems are "):
        history.read_history(lake.table, "nobody\nat all", last=5)


def test_csv_export_has_every_row_and_escapes_formulas(lake):
    out = io.StringIO()
    exporting.write_csv(lake.verdicts.where("sut_name = 'versions'"), out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert len(rows) == 9
    (hostile,) = [row for row in rows if row["reason"]]
    assert (hostile["reason"], hostile["expected"], hostile["notes"]) == ("'=1+1", "a|b\n<script>", "[]")
    assert hostile["started"].endswith(":00:00.000Z")
    assert hostile["capture"] == ""


def test_json_has_every_column_of_every_row_in_order(lake):
    out = io.StringIO()
    exporting.write_json(exporting.sort_table(lake.rule_current.where("sut_name = 'packets'"), "rule_current"), out)
    (row,) = json.loads(out.getvalue())
    assert list(row) == lake.rule_current.columns
    assert (row["counts"], row["retired"], row["reason"]) == ({"fail": 1}, False, None)
    assert row["beside"][0]["verdict"] == "inconclusive"
    assert row["beside"][0]["started"].endswith("Z")
    out = io.StringIO()
    exporting.write_json(lake.flaky.where("false"), out)
    assert json.loads(out.getvalue()) == []


class Opened:
    """A replacement for an opened lake, so that a command needs no Spark session."""

    def __init__(self, lake):
        self.lake = lake

    def __call__(self, *_arguments, **_options):
        return self

    def __enter__(self):
        return self.lake, lambda _stage: None

    def __exit__(self, *_error):
        return False


@pytest.fixture
def ask(lake, monkeypatch):
    from reports.lake import questions

    app = typer.Typer()
    cli.register(app)
    monkeypatch.setattr(questions, "open_lake", Opened(lake))
    return lambda *words: CliRunner().invoke(app, ["lake", *map(str, words)])


def test_diff_exits_with_1_only_for_new_failures(ask, versions, monkeypatch):
    monkeypatch.setattr(difference, "compare_sides", lambda *_asked: versions)
    worse = ask("diff", "1.0", "2.0", "--lake", "x", "--format", "json")
    assert (worse.exit_code, [step["rule"] for step in json.loads(worse.stdout)["newly failing"]]) == (1, [RULE])
    others = tuple(step for step in versions.rule_comparisons if step.kind != "newly failing")
    monkeypatch.setattr(difference, "compare_sides", lambda *_asked: replace(versions, rule_comparisons=others))
    same = ask("diff", "1.0", "2.0", "--lake", "x")
    assert (same.exit_code, same.stdout.splitlines()[-1]) == (0, "unchanged: 1")


def test_history_and_export_write_requested_output(ask, tmp_path):
    assert NEW in ask("history", NEW, "--lake", "x").stdout
    result = ask("export", "flaky", "--lake", "x", "--out", tmp_path / "flaky.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    lines = (tmp_path / "flaky.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("sut,sut_name,")
    assert len(lines) > 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("export", "nothing", "--lake", "x"), "'nothing' is not a table of a lake; known tables: runs, "),
        (("export", "runs", "--lake", "x", "--format", "xml"), "--format xml is not one of csv, json"),
        (("export", "runs", "--lake", "x", "--out", "/nowhere/at/all"), "cannot write /nowhere/at/all"),
        (("diff", "1", "2", "--lake", "x", "--format", "html"), "--format html is not one of text, markdown, json"),
    ],
)
def test_invalid_lake_command_gives_one_line_error_and_exit_2(ask, words, why):
    result = ask(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert why in line


def test_difference_of_rule_has_exactly_one_kind():
    judged = {
        name: difference.RuleVerdictOfSide(name, "r", None, None, None, None) for name in ("fail", "pass", "warn")
    }
    kinds = {
        (before, after): difference._find_kind_of_change(judged.get(before), judged.get(after))
        for before, after in (
            ("pass", "fail"),
            ("fail", "pass"),
            ("fail", "warn"),
            ("", "fail"),
            ("fail", ""),
            ("warn", "warn"),
        )
    }
    assert list(kinds.values()) == ["newly failing", "newly passing", "changed", "added", "removed", "unchanged"]
