"""Tables are drawn on a terminal, and printed with one line per row in a pipe."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.cli.tables import show_table
from harness.proof.inventory import take_inventory
from harness.rules.coverage import ROW_CLASS_OF_DEMANDS, sum_coverage_of_sections


def lines_of(*words: str, **environment: str) -> list[str]:
    done = CliRunner().invoke(app, [*words], env=environment)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_piped_rules_table_has_a_line_with_all_columns_per_rule() -> None:
    inventory = take_inventory()
    lines = lines_of("rules", "--document", "MQQB", COLUMNS="20")
    assert [line.split("\t")[0] for line in lines] == [one.id for one in inventory.catalogue.document("MQQB")]
    assert {line.count("\t") for line in lines} == {6}
    assert lines[0].endswith(f"\tyes\t{inventory.catalogue['MQQB-2.1.1-01'].says}")


def test_piped_coverage_table_has_a_line_per_section() -> None:
    sections = [one for one in take_inventory().count_coverage_by_section() if one.document == "MQSO"]
    rows = [one for one in sections if one.kind == ROW_CLASS_OF_DEMANDS] + list(sum_coverage_of_sections(sections))
    lines = lines_of("rules", "--coverage", "--document", "MQSO", COLUMNS="20")
    assert len([line for line in lines if line.count("\t") == 7]) == len(rows)


def test_rules_are_a_drawn_table_on_a_terminal() -> None:
    lines = lines_of("rules", "duplicate", "--document", "MQQB", FORCE_COLOR="1", COLUMNS="100")
    assert {len(line) for line in lines if line.startswith("\u2502")} == {100}


def test_table_cell_is_one_line_and_shows_markup_as_text(capsys: pytest.CaptureFixture[Any]) -> None:
    show_table(("a", "b"), [("one\ttwo\nthree", "[bold]x")])
    assert capsys.readouterr().out == "one two three\t[bold]x\n"
