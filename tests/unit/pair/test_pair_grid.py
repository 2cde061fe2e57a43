"""A grid of the results of several pairs: it shows the worst result of each scenario and direction, and escapes all
texts.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.pair.outcomes import ScenarioOutcome, ScenarioResult
from harness.pair.results import read_pair_results, write_pair_results
from harness.pair.running import DirectionResult
from harness.pair.scenarios import SCENARIOS
from harness.sut.sut_file import DriverTable, SutFile, SutTable
from reports.lake.manifest import LocalFileSystem
from reports.lake.pairs import read_pair


def cell(scenario: str, origin: str, target: str, result: str = "pass", **more: Any) -> dict[str, Any]:
    outcome = {"result": result, "why": more.pop("why", "")}
    return {"scenario": scenario, "origin": origin, "target": target, "outcome": outcome} | {
        "capture": "",
        "broken": more,
    }


def write_pair(folder: Path, a: str, b: str, *cells: dict[str, Any], schema: int = 1) -> Path:
    folder.mkdir()
    systems = {role: {"name": name, "vendor": "", "version": "1"} for role, name in (("A", a), ("B", b))}
    tree = {"schema": schema, "systems": systems, "cells": cells}
    (folder / "pair.json").write_text(json.dumps(tree), encoding="utf-8")
    return folder


def show(*words: object) -> tuple[int, list[str], str]:
    """Return the exit code, the lines of the grid, and the error message."""
    done = CliRunner().invoke(app, ["pair", "--grid", *map(str, words)])
    return done.exit_code, done.stdout.splitlines(), str(done.exception)


def test_pair_grid_has_sending_systems_in_rows_and_receiving_systems_in_columns(tmp_path: Path) -> None:
    first = write_pair(tmp_path / "ab", "alpha", "beta", cell("express", "A", "B"), cell("express", "B", "A", "fail"))
    second = write_pair(tmp_path / "ac", "alpha", "gamma", cell("restart", "A", "B", "unsupported"))
    code, lines, _ = show(first, second)
    assert code == 1
    table = [[part.strip() for part in line.split("  ") if part.strip()] for line in lines[:4]]
    assert table == [
        ["from \\ to", "alpha 1", "beta 1", "gamma 1"],
        ["alpha 1", "-", "pass E", "unsupported S"],
        ["beta 1", "fail E", "-", "-"],
        ["gamma 1", "-", "-", "-"],
    ]


def test_each_pair_scenario_has_a_unique_explained_letter(tmp_path: Path) -> None:
    assert len({one.letter for one in SCENARIOS}) == len(SCENARIOS)
    _, lines, _ = show(write_pair(tmp_path / "ab", "a", "b", cell("express", "A", "B")))
    assert all(f"{one.letter} {one.name}" in lines[-1] for one in SCENARIOS)


def test_results_can_be_read_by_lake_and_grid(tmp_path: Path) -> None:
    files = {role: SutFile(SutTable(name), DriverTable("external")) for role, name in zip("AB", "xy", strict=True)}
    cells = [
        DirectionResult(
            "express",
            "A",
            "B",
            ScenarioOutcome(ScenarioResult.FAIL, "missing: 1"),
            "express-A-B.pcapng",
            {"B": ["MQQB-1-01"]},
        )
    ]
    write_pair_results(tmp_path, files, cells, datetime(2026, 11, 26, 10, tzinfo=UTC))
    assert read_pair_results(tmp_path).cells == tuple(cells)
    (row,) = read_pair(LocalFileSystem(), str(tmp_path)).rows
    assert (row["origin_name"], row["target_name"], row["letter"]) == ("x unknown", "y unknown", "E")
    assert (row["result"], row["why"], row["capture"]) == ("fail", "missing: 1", "express-A-B.pcapng")
    assert row["broken"] == {row["target"]: ["MQQB-1-01"]}
    assert row["started"] == datetime(2026, 11, 26, 10, tzinfo=UTC)


def test_pair_grid_shows_worst_result_of_a_repeated_scenario(tmp_path: Path) -> None:
    folders = [
        write_pair(tmp_path / str(place), "alpha", "beta", cell("large", "A", "B", result))
        for place, result in enumerate(("pass", "broken", "unsupported"))
    ]
    code, lines, _ = show(*folders)
    assert code == 1
    assert "broken L" in lines[1]


def test_pair_grid_names_broken_rules_with_their_system(tmp_path: Path) -> None:
    folder = write_pair(tmp_path / "ab", "alpha", "beta", cell("express", "A", "B", B=["MQQB-2.2.1-03"]))
    code, lines, _ = show(folder)
    assert code == 1
    assert lines[-1] == "alpha 1 -> beta 1: beta 1 breaks MQQB-2.2.1-03"
    assert "rules broken 1" in lines[1]


@pytest.mark.parametrize(("result", "expected"), [("pass", 0), ("unsupported", 3)])
def test_exit_code_of_pair_grid_follows_the_worst_result(tmp_path: Path, result: str, expected: int) -> None:
    assert show(write_pair(tmp_path / "ab", "a", "b", cell("express", "A", "B", result)))[0] == expected


def test_html_page_of_pair_grid_shows_reasons_and_escapes_text(tmp_path: Path) -> None:
    folder = write_pair(tmp_path / "ab", "<b>x", "beta", cell("refusal", "A", "B", "fail", why="<i>missing</i>"))
    page = tmp_path / "grid.html"
    assert show(folder, "--html", page)[0] == 1
    shown = page.read_text(encoding="utf-8")
    assert '<div class="fail">fail: <abbr title="refusal">N</abbr></div>' in shown
    assert "refusal: &lt;i&gt;missing&lt;/i&gt;" in shown
    assert "<b>" not in shown and "<i>" not in shown


def test_pair_grid_refuses_a_folder_without_results_in_one_line(tmp_path: Path) -> None:
    assert "pair.json: No such file or directory" in show(tmp_path)[2]
    (tmp_path / "pair.json").write_text("[]", encoding="utf-8")
    assert "not a result of `mqconform pair`" in show(tmp_path)[2]
    assert "has schema 9" in show(write_pair(tmp_path / "new", "a", "b", schema=9))[2]
    stranger = write_pair(tmp_path / "stranger", "a", "b", cell("express", "A", "C"))
    assert "'C' is not the role of a system of this pair" in show(stranger)[2]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--grid", "--a", "a.toml"), "omit --a, --b, --out and --scenario"),
        (("--grid",), "give the folders"),
        (("out",), "give --a, --b and --out"),
        (("--a", "a", "--b", "b", "--out", "o", "ab"), "need --grid"),
    ],
)
def test_pair_options_of_a_run_and_of_a_grid_exclude_each_other(words: tuple[str, ...], line: str) -> None:
    assert line in str(CliRunner().invoke(app, ["pair", *words]).exception)
