"""The matrix for the terminal and the matrix for machines."""

import io
from dataclasses import replace

import pytest
from made import CONTOSO, FABRIKAM, contents, rule, run, standing
from rich.console import Console

from reports.matrix import build_matrix
from reports.model import Pair, RootCause, System
from reports.summary import build_matrix_rows, build_terminal_matrix

RULES = [rule(1), rule(2), rule(1, "3.1.5.8.2"), rule(1, "3.1.5.10"), rule(1, "3.1.5.9")]


def two_systems():
    standings = [
        standing(RULES[0], CONTOSO, "fail"),
        standing(RULES[1], CONTOSO, "pass"),
        standing(RULES[2], CONTOSO, "pass"),
        standing(RULES[2], FABRIKAM, "warn", run="r2"),
    ]
    return contents([CONTOSO, FABRIKAM], RULES, standings, [run("r1", CONTOSO), run("r2", FABRIKAM, 2, partial=True)])


def test_matrix_rows_list_each_document_and_then_its_sections():
    rows = build_matrix_rows(two_systems())
    assert [(row.document, row.group, row.rules) for row in rows] == [
        ("MQQB", "", 5),
        ("MQQB", "2.1.1", 2),
        ("MQQB", "3.1.5", 3),
    ]
    assert rows[0].counts == {CONTOSO.key: {"fail": 1, "pass": 2}, FABRIKAM.key: {"warn": 1}}
    assert rows[1].counts == {CONTOSO.key: {"fail": 1, "pass": 1}}


def rendered(made, width=120):
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(build_terminal_matrix(made))
    return out.getvalue()


def test_terminal_matrix_shows_symbols_and_unjudged_rules():
    text = rendered(two_systems())
    line = next(line for line in text.splitlines() if "3.1.5" in line)
    assert "✓1  ·2" in line
    assert "▲1  ·2" in line
    assert "✗ fail" in text


def test_partial_latest_run_is_marked_in_every_table():
    lines = rendered(two_systems()).splitlines()
    named = [line for line in lines if "Fabrikam" in line]
    assert len(named) == 2
    assert all("(partial)" in line for line in named)
    assert sum(line.count("(partial)") for line in lines) == 2


def test_missing_roots_are_listed_first_for_each_system():
    roots = RootCause("queues: no plain\n<b>[bold]", frozenset("ab")), RootCause("one address", frozenset("a"))
    found = two_systems()
    found = replace(found, runs=(*found.runs, run("r3", FABRIKAM, 3, roots=roots)))
    assert rendered(found, 200).splitlines()[:2] == [
        "Fabrikam 2.2: fix this first: queues: no plain <b>[bold] (2 checks depend on it)",
        "Fabrikam 2.2: fix this first: one address (1 check depends on it)",
    ]
    assert [one["roots"] for one in build_matrix(found)["runs"]] == [
        [],
        [],
        [{"said": roots[0].said, "checks": ["a", "b"]}, {"said": "one address", "checks": ["a"]}],
    ]
    many = replace(found, runs=(run("r3", FABRIKAM, 3, roots=roots * 20),))
    assert rendered(many, 200).splitlines()[20] == "and 20 more root causes: the site lists all of them"


def test_sections_without_judged_rules_are_omitted():
    rules = [*RULES, rule(1, "4.1"), rule(1, "4.2")]
    text = rendered(contents([CONTOSO], rules, [standing(RULES[0], CONTOSO, "pass")]))
    assert "2.1.1" in text
    assert "4.1" not in text
    assert "3 groups of sections without a judged rule are omitted" in text


def test_judged_share_is_relative_to_catalogue():
    line = next(line for line in rendered(two_systems()).splitlines() if "Fabrikam" in line and "%" in line)
    assert "20 %" in line


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("number", [20, 200])
def test_matrix_shows_many_systems_as_rows_without_truncation(number, width):
    systems = [System(f"system {each}", "10.0.17763", "directory", each) for each in range(number)]
    standings = [standing(RULES[0], each, "fail" if position % 2 else "pass") for position, each in enumerate(systems)]
    text = rendered(contents(systems, RULES, standings), width)
    assert "…" not in text
    assert all(len(line) <= width for line in text.splitlines())
    assert text.count("10.0.17763") == (2 * 20 if number == 20 else 60)
    assert ("140 more systems" in text) == (number == 200)


def test_shortened_names_stay_distinguishable():
    names = ("Contoso Message Queue Server Enterprise Edition", "Contoso Message Queue Server Enterprise Extended")
    systems = [System(name, f"1.{each}", "windows-server-2003-r2", each) for each in range(3) for name in names]
    text = rendered(contents(systems, RULES, [standing(RULES[0], systems[0], "pass")]), 80)
    assert "…" not in text
    for words in ("1.0", "1.1", "1.2"):
        assert text.count(words) == 2 * len(names)


def test_matrix_of_twenty_systems_shows_worst_verdict_per_document():
    systems = [System("Contoso", f"1.{each}", "", each) for each in range(20)]
    other = replace(rule(7), rule="MQMQ-2.1.1-07", document="MQMQ")
    standings = [standing(other, each, "pass") for each in systems[1:]]
    standings += [
        standing(RULES[number], systems[3], verdict) for number, verdict in enumerate(("warn", "warn", "pass"))
    ]
    lines = rendered(contents(systems, [*RULES, other], standings), 80).splitlines()
    heads = next(number for number, line in enumerate(lines) if "MS-MQQB" in line)
    assert lines[heads].split() == ["System", "MS-MQMQ", "MS-MQQB"]
    assert [line.split()[2:] for line in lines[heads + 2 : heads + 22]] == [
        [],
        *[["✓", "1"]] * 2,
        ["✓", "1", "▲", "2"],
        *[["✓", "1"]] * 16,
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_pairs_are_sorted_by_number_of_findings(width):
    pairs = [
        Pair("a", "Contoso 1.0", "b", f"Fabrikam {number}", "sender", {"pass": 7, "fail": number})
        for number in range(20)
    ]
    text = rendered(contents([CONTOSO], RULES, pairs=tuple(pairs)), width)
    lines = [line for line in text.splitlines() if "sender" in line]
    assert len(lines) == 20
    assert "Fabrikam 19" in lines[0]
    assert "✗19  ✓7" in lines[0]
    assert all(len(line) <= width for line in lines)
    assert "Pairs" not in rendered(two_systems(), width)


def test_system_name_is_printed_without_markup_and_escape_sequences():
    system = System("[red]x[/red]\x1b[31m", "\u202e1")
    text = rendered(contents([system], RULES, [standing(RULES[0], system, "pass")]))
    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_sections_are_in_the_order_of_the_document():
    assert [section.section for section in two_systems().sections()] == ["2.1.1", "3.1.5.8.2", "3.1.5.9", "3.1.5.10"]


def test_matrix_json_counts_judged_and_unjudged_rules():
    value = build_matrix(two_systems())
    first = value["sections"][0]
    assert (first["section"], first["rules"], first["suts"]) == ("2.1.1", 2, {CONTOSO.key: {"fail": 1, "pass": 1}})
    assert value["sections"][2]["suts"] == {}
    assert [system["rules"] for system in value["suts"]] == [{"fail": 1, "pass": 2}, {"warn": 1}]
    assert [one["partial"] for one in value["runs"]] == [False, True]
