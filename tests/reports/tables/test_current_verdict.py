"""The current verdict of a rule: each case of its definition (docs/reports.md) is a separate system of one lake."""

from __future__ import annotations

import pytest
from lake_of_cases import OTHER, PASSIVE, RULE, A, B, C
from pyspark.sql import Row
from pyspark.testing import assertDataFrameEqual


@pytest.fixture(scope="module")
def rows(lake):
    return lake.rule_current.collect()


@pytest.fixture
def current(rows):
    def stands(name, rule=RULE, **values):
        found = [
            row for row in rows if row.sut_name == name and row.rule == rule and values.items() <= row.asDict().items()
        ]
        assert len(found) == 1
        return found[0]

    return stands


def said(row):
    return row.verdict, row.test


def beside(row):
    return [(each.verdict, each.test, each.ingest - row.ingest) for each in row.beside]


def test_worst_verdict_of_checks_is_current(current):
    row = current("worst of the checks")
    assert (said(row), row.tests, row.counts) == (("fail", B), 2, {"pass": 1, "fail": 1})


def test_latest_deciding_run_of_each_check_counts(current):
    assert said(current("latest of a check")) == ("pass", A)


def test_check_of_a_should_counts_only_if_rule_has_no_other_check(current):
    assert (current("advice").verdict, current("advice").counts) == ("pass", {"pass": 1})
    assert current("advice", OTHER).counts == {"not_exercised": 2}
    assert current("advice", PASSIVE).counts == {"pass": 1}


def test_a_later_partial_run_does_not_hide_an_earlier_fail(current):
    row = current("partial run")
    assert (said(row), row.partial, row.beside) == (("fail", A), False, [])


def test_the_verdict_of_a_partial_or_aborted_run_is_marked(current, lake):
    assert current("only a partial run").partial
    for table in (lake.test_runs, lake.rule_runs):
        assertDataFrameEqual(
            table.where("sut_name = 'only a partial run'").select("verdict", "partial").collect(),
            [Row(verdict="pass", partial=True)],
        )


def test_later_undecided_verdict_is_listed_with_the_standing_verdict(current):
    row = current("weaker way")
    assert (row.verdict, row.reach, beside(row)) == ("pass", "process", [("not_observable", A, 1)])
    (later,) = row.beside
    assert (later.reason, later.run) == ("no inspection", f"run-{later.ingest}")
    assert later.started > row.started


def test_undecided_verdict_does_not_replace_decided_verdict_of_same_check(current):
    row = current("inconclusive")
    assert (row.verdict, beside(row)) == ("fail", [("harness_error", A, 2)])


def test_check_that_passed_only_in_part_is_undecided(current):
    row = current("half decided")
    assert (row.verdict, beside(row)) == ("pass", [("inconclusive", A, 1)])


def test_undecided_rule_has_its_latest_verdict(current):
    row = current("never decided")
    assert (row.verdict, row.beside) == ("not_exercised", [])


def test_later_undecided_verdict_of_other_check_is_listed_with_the_standing_verdict(current):
    row = current("beside of another check")
    assert (said(row), beside(row)) == (("pass", A), [("not_observable", B, 1)])


def test_a_rule_that_the_newest_suites_do_not_know_is_retired_and_not_in_the_matrix(current, lake):
    row = current("rule retired", OTHER)
    assert (row.verdict, row.retired, row.tests) == ("fail", True, 1)
    assert said(current("rule retired")) == ("pass", B)
    assertDataFrameEqual(
        lake.matrix.where("sut_name = 'rule retired'").select("verdict", "rules", "verdicts").collect(),
        [Row(verdict="pass", rules=1, verdicts=1)],
    )


def test_check_that_no_longer_covers_rule_does_not_count(current):
    row = current("check retired")
    assert (said(row), row.tests, row.retired) == (("pass", B), 1, False)


def test_a_rule_without_a_check_that_counts_is_retired(current):
    row = current("all checks retired")
    assert (said(row), row.retired, row.counts) == (("fail", A), True, {"fail": 1})


def test_a_passive_rule_counts_every_check_that_the_suites_know(current):
    row = current("passive", PASSIVE)
    assert (said(row), row.counts) == (("warn", B), {"warn": 1, "pass": 2})


def test_check_judged_under_newest_suites_counts_without_being_listed(current):
    assert said(current("judged although unlisted")) == ("fail", C)


def test_each_parameter_is_a_check_of_its_own(current):
    row = current("parameters")
    assert (said(row), row.tests) == (("fail", f"{A}[x]"), 2)


def test_run_folders_that_name_no_checks_retire_rules_only(current):
    assert said(current("no checks named")) == ("fail", A)
    assert not current("no checks named", OTHER).retired  # judged under these very suites


def test_suites_without_catalogue_retire_no_rule(current):
    assert said(current("no catalogue")) == ("fail", A)


def test_current_verdicts_of_other_profiles_are_separate(current, rows):
    assert {current("profiles", profile=profile).verdict for profile in ("xp", "2003")} == {"fail", "pass"}


def test_repeated_verdict_line_counts_once_in_current_verdict(current, lake):
    (row,) = lake.test_runs.where("sut_name = 'same line twice'").collect()
    assert (row.lines, row.seq) == (2, 1)
    (packet,) = current("same line twice").evidence
    assert (packet.position, packet.frame, packet.first, packet.last) == (0, 100, 4, 7)


def test_runs_are_ordered_by_ingest_when_clocks_disagree(current):
    assert current("clocks").verdict == "pass"


def test_unknown_fields_of_verdict_lines_are_kept_in_extra_column(lake):
    (row,) = lake.verdicts.where("sut_name = 'unknown fields'").collect()
    assert row.extra == '{"colour":"blue"}'


def test_standing_verdict_has_texts_and_at_most_eight_packets(current):
    row = current("packets")
    assert (row.expected, row.observed, row.level, row.section) == ("closed", "fail", "MUST", "2.1")
    assert (row.errata, row.notes, row.capture) == (["E14"], ["n"], "c.pcapng")
    assert [packet.position for packet in row.evidence] == list(range(8))


def test_at_most_five_later_undecided_verdicts_are_kept_worst_first(current):
    row = current("many beside")
    assert beside(row) == [("inconclusive", B, 1), *(("not_exercised", f"{A}[{each}]", 1) for each in "1234")]


@pytest.mark.parametrize("system", ["worst of the checks", "only a partial run", "parameters", "same line twice"])
def test_current_verdicts_after_first_run_equal_its_verdicts(lake, system):
    columns = ("rule", "verdict", "tests", "counts", "run")
    one = f"sut_name = '{system}'"
    assertDataFrameEqual(lake.rule_current.where(one).select(*columns), lake.rule_runs.where(one).select(*columns))
