"""The real job, once: three SUTs, four runs, one of them hostile and damaged."""

import json
from collections import Counter
from pathlib import Path

import make_runs
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

import reports.cli
from harness.judging.verdicts import PASSES_SHOWN
from reports.model import RunTotals
from reports.rollup_error import RollupError
from reports.rollup_job import JUDGEMENTS_SHOWN, account
from reports.text import slug
from reports.vocabulary import SEVERITY

APP = typer.Typer()
APP.callback()(lambda: None)
reports.cli.register(APP)


class Rolled:
    """One roll-up through the command line, and what went in."""

    def __init__(self, folder: Path) -> None:
        self.made = make_runs.make_all(folder / "runs", verdicts=500)
        self.out = folder / "out ü [1]"
        before = set(Path.cwd().iterdir())
        self.result = self.roll_up()
        self.litter = set(Path.cwd().iterdir()) - before

    def roll_up(self):
        folders = [str(made.folder) for made in self.made]
        return CliRunner().invoke(APP, ["rollup", *folders, "--out", str(self.out)], catch_exceptions=False)

    def table(self, name):
        return pq.read_table(self.out / "lake" / name, partitioning="hive").to_pylist()

    def good_lines(self):
        for made in self.made:
            text = (made.folder / "verdicts.jsonl").read_text(encoding="utf-8")
            for number, line in enumerate(text.split("\n"), start=1):
                if line and number not in made.broken:
                    yield json.loads(line)


@pytest.fixture(scope="module")
def rolled(tmp_path_factory):
    return Rolled(tmp_path_factory.mktemp("rollup"))


def test_damaged_lines_give_exit_3_and_one_line_that_names_them(rolled):
    assert rolled.result.exit_code == 3
    rejected, captures = rolled.result.stderr.splitlines()
    hostile = rolled.made[-1]
    first = min(hostile.broken)
    assert f"{len(hostile.broken)} of {sum(made.lines for made in rolled.made)} lines rejected" in rejected
    assert f"verdicts.jsonl:{first} (empty line)" in rejected
    assert "captures not in their run folder" in captures


def test_every_line_is_accounted_for(rolled):
    lines = sum(made.lines for made in rolled.made)
    kept, rejected = rolled.table("verdicts"), rolled.table("rejected")
    assert len(kept) + len(rejected) == lines
    given = Counter((line["run"], line["seq"]) for line in rolled.good_lines())
    assert Counter((row["run"], row["seq"]) for row in kept) == given
    for row in rolled.table("runs"):
        assert row["lines"] == row["kept"] + row["rejected"]


def test_each_damaged_line_is_named_with_its_reason(rolled):
    hostile = rolled.made[-1]
    rows = {row["line"]: row for row in rolled.table("rejected")}
    assert rows.keys() == hostile.broken.keys()
    for line, why in hostile.broken.items():
        assert why in rows[line]["reason"]
        assert rows[line]["folder"] == str(hostile.folder)


def test_verdicts_are_kept_field_by_field(rolled):
    rows = {(row["run"], row["seq"]): row for row in rolled.table("verdicts")}
    for line in rolled.good_lines():
        row = rows[line["run"], line["seq"]]
        assert row["sut_name"] == line["sut"]
        assert row["time"].strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z" == line["time"]
        for name in (
            "sut_version",
            "reach",
            "rule",
            "section",
            "level",
            "verdict",
            "expected",
            "reason",
            "test",
            "errata",
            "notes",
        ):
            assert row[name] == line[name]
        if "\ud800" not in line["observed"]:
            assert row["observed"] == line["observed"]
            assert row["evidence"] == line["evidence"]


def test_verdicts_are_partitioned_by_document_and_a_safe_name_of_the_sut(rolled):
    found = {
        str(path.parent.relative_to(rolled.out / "lake")) for path in (rolled.out / "lake").rglob("*/*/*/*.parquet")
    }
    names = [slug(made.sut) for made in rolled.made]
    assert found == {f"verdicts/document={document}/sut={name}" for document in ("MQQB", "MQMQ") for name in names}


def expected_rules(rolled):
    """Work out the latest worst verdicts without Spark."""
    started = {"contoso-old": 0, "contoso": 1}
    order = {made.run: started.get(made.folder.name, 0) for made in rolled.made}
    by_rule = {}
    for line in rolled.good_lines():
        by_rule.setdefault((line["sut"], line["sut_version"], line["rule"]), []).append(line)
    for key, lines in by_rule.items():
        latest = max(lines, key=lambda line: order[line["run"]])["run"]
        yield (
            key,
            min(
                (line for line in lines if line["run"] == latest),
                key=lambda line: (SEVERITY[line["verdict"]], line["seq"]),
            ),
        )


def test_every_verdict_that_is_shown_quotes_its_packets() -> None:
    assert PASSES_SHOWN >= JUDGEMENTS_SHOWN


def test_a_rule_has_the_worst_verdict_of_the_latest_run(rolled):
    rows = {(row["sut_name"], row["sut_version"], row["rule"]): row for row in rolled.table("rule_matrix")}
    expected = dict(expected_rules(rolled))
    assert rows.keys() == expected.keys()
    for key, line in expected.items():
        row = rows[key]
        assert (row["run"], row["seq"], row["verdict"]) == (line["run"], line["seq"], line["verdict"])
        assert (row["document"], row["section"], row["test"]) == (line["document"], line["section"], line["test"])


def test_the_matrix_counts_rules_and_lines(rolled):
    rows = rolled.table("matrix")
    expected = Counter(
        (line["document"], line["section"], *key[:2], line["verdict"]) for key, line in expected_rules(rolled)
    )
    key = ("document", "section", "sut_name", "sut_version", "verdict")
    assert {tuple(row[name] for name in key): row["rules"] for row in rows if row["rules"]} == expected
    latest = {line["run"] for _, line in expected_rules(rolled)}
    assert sum(row["verdicts"] for row in rows) == sum(line["run"] in latest for line in rolled.good_lines())


def test_matrix_json_agrees_with_the_matrix_table(rolled):
    value = json.loads((rolled.out / "matrix.json").read_text())
    names = {sut["key"]: (sut["name"], sut["version"]) for sut in value["suts"]}
    counted = Counter()
    for section in value["sections"]:
        for sut, counts in section["suts"].items():
            for verdict, count in counts.items():
                counted[section["document"], section["section"], *names[sut], verdict] += count
        assert (rolled.out / section["page"]).is_file()
    key = ("document", "section", "sut_name", "sut_version", "verdict")
    assert counted == {tuple(row[name] for name in key): row["rules"] for row in rolled.table("matrix") if row["rules"]}
    assert value["input"]["lines"] == value["input"]["kept"] + value["input"]["rejected"]


def test_the_terminal_shows_the_matrix_and_where_the_site_is(rolled):
    assert "MS-MQQB" in rolled.result.stdout
    assert "\x1b[31m" not in rolled.result.stdout
    assert f"site: {rolled.out / 'site' / 'index.html'}" in rolled.result.stdout
    assert (rolled.out / "site" / "index.html").is_file()


def test_no_capture_from_outside_of_a_run_folder_is_in_the_site(rolled):
    captures = list((rolled.out / "site" / "captures").rglob("*.pcapng"))
    assert captures
    assert all(path.read_bytes().startswith(b"\x0a\x0d\x0d\x0a") for path in captures)


def test_nothing_is_left_in_the_working_folder(rolled):
    assert {path.name for path in rolled.litter} <= {".pytest_cache"}  # of the tests that run beside this one


def test_rolling_up_again_gives_the_same_and_undamaged_runs_exit_0(rolled):
    before = (rolled.out / "matrix.json").read_bytes()
    rolled.made.pop()
    assert rolled.roll_up().exit_code == 0
    after = json.loads((rolled.out / "matrix.json").read_bytes())
    old = {section["section"]: section["suts"] for section in json.loads(before)["sections"]}
    for section in after["sections"]:
        assert section["suts"].items() <= old[section["section"]].items()
    assert after["input"]["rejected"] == 0
    assert rolled.table("rejected") == []


@pytest.mark.parametrize(("kept", "rejected"), [(2, 0), (3, 1), (0, 2)])
def test_a_line_that_got_lost_is_noticed(kept, rejected):
    account({"r": 3}, {"r": RunTotals({"pass": 2, "fail": 1}, 0)})
    with pytest.raises(RollupError, match=r"'r': 3 lines in the file, but"):
        account({"r": 3}, {"r": RunTotals({"pass": kept}, rejected)})
