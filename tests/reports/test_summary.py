"""The matrix in the terminal and for machines."""

import io

from made import CONTOSO, FABRIKAM, cell, judgement, rollup, rule, run
from rich.console import Console

from reports.matrix import matrix
from reports.model import Sut
from reports.summary import matrix_rows, terminal_matrix

RULES = [rule(1), rule(2), rule(1, "3.1.5.8.2"), rule(1, "3.1.5.10"), rule(1, "3.1.5.9")]


def two_suts():
    cells = [
        cell(RULES[0], CONTOSO, judgement(1, "fail"), judgement(2, "pass")),
        cell(RULES[1], CONTOSO, judgement(3, "pass")),
        cell(RULES[2], CONTOSO, judgement(4, "pass")),
        cell(RULES[2], FABRIKAM, judgement(1, "warn"), run="r2"),
    ]
    return rollup([run("r1", CONTOSO, RULES), run("r2", FABRIKAM, RULES)], cells)


def test_rows_group_sections_under_their_document():
    rows = matrix_rows(two_suts())
    assert [(row.document, row.group, row.rules) for row in rows] == [
        ("MQQB", "", 5),
        ("MQQB", "2.1.1", 2),
        ("MQQB", "3.1.5", 3),
    ]
    assert rows[0].counts == {CONTOSO: {"fail": 1, "pass": 2}, FABRIKAM: {"warn": 1}}
    assert rows[1].counts == {CONTOSO: {"fail": 1, "pass": 1}}


def rendered(result):
    out = io.StringIO()
    Console(file=out, width=120, color_system=None).print(terminal_matrix(result))
    return out.getvalue()


def test_the_terminal_shows_symbols_and_what_was_not_judged():
    text = rendered(two_suts())
    line = next(line for line in text.splitlines() if "3.1.5" in line)
    assert "✓1  ·2" in line
    assert "▲1  ·2" in line
    assert "✗ fail" in text


def test_a_name_is_never_markup_nor_an_escape_sequence():
    sut = Sut("[red]x[/red]\x1b[31m", "\u202e1")
    text = rendered(rollup([run("r1", sut, RULES)], [cell(RULES[0], sut, judgement(1, "pass"))]))
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_sections_are_in_the_order_of_the_document():
    assert [section.section for section in two_suts().sections()] == ["2.1.1", "3.1.5.8.2", "3.1.5.9", "3.1.5.10"]


def test_matrix_json_counts_rules_and_says_what_was_not_judged():
    value = matrix(two_suts())
    first = value["sections"][0]
    assert (first["section"], first["rules"], first["suts"]) == ("2.1.1", 2, {CONTOSO.key: {"fail": 1, "pass": 1}})
    assert value["sections"][2]["suts"] == {}
    assert [sut["rules"] for sut in value["suts"]] == [{"fail": 1, "pass": 2}, {"warn": 1}]


def test_the_latest_runs_words_win():
    old, new = rule(1, says="old words"), rule(1, says="new words")
    result = rollup([run("new", CONTOSO, [new], day=2), run("old", CONTOSO, [old], day=1)], [])
    assert result.rules()[new.rule].says == "new words"
    assert result.latest_run(CONTOSO).run == "new"


def test_a_judged_rule_without_a_catalogue_row_still_shows():
    result = rollup([run("r1", CONTOSO, [])], [cell(rule(7), CONTOSO, judgement(1, "fail"))])
    assert "no row" in result.rules()["MQQB-2.1.1-07"].says
    assert matrix_rows(result)[0].counts == {CONTOSO: {"fail": 1}}
