"""Changes from run to run, checks with varying decisions, and pairs: cases of the lake of cases."""

from __future__ import annotations

import pytest
from lake_of_cases import KEPT, NEW, OTHER, PASSIVE, RULE, A
from pyspark.sql import Row
from pyspark.sql import functions as sql
from pyspark.testing import assertDataFrameEqual

from reports.text import build_system_key


@pytest.fixture(scope="module")
def rows(lake):
    return sorted(lake.changes.collect(), key=lambda row: (row.ingest, row.rule))


@pytest.fixture
def changed(rows):
    return lambda name: [
        (row.rule, row.change, row.verdict_before, row.verdict) for row in rows if row.sut_name == name
    ]


def test_a_rule_that_passes_again_in_all_its_checks_is_newly_passing(changed, rows):
    assert changed("latest of a check") == [(RULE, "newly passing", "fail", "pass")]
    (row,) = [row for row in rows if row.sut_name == "latest of a check"]
    assert row.run_before == f"run-{row.ingest - 1}"
    assert (row.document, row.section, row.version_before) == ("MQQB", "2.1", "1.0")


@pytest.mark.parametrize("system", ["partial run", "inconclusive", "half decided", "weaker way", "worst of the checks"])
def test_partial_undecided_and_first_runs_give_no_change_rows(changed, system):
    assert changed(system) == []


def test_versions_of_a_system_are_compared(changed, rows):
    assert changed("versions") == [
        (RULE, "newly failing", "pass", "fail"),
        (OTHER, "newly passing", "fail", "pass"),
        (NEW, "added", None, "pass"),
    ]
    before = {
        (row.version_before, row.sut_version) for row in rows if row.sut_name == "versions" and row.verdict_before
    }
    assert before == {("1.0", "2.0")}


def test_a_rule_that_the_suites_dropped_is_removed(changed):
    assert (OTHER, "removed", "fail", None) in changed("rule retired")


def test_same_product_with_other_profile_is_another_system(changed):
    assert changed("profiles") == []


def test_a_check_that_decides_differently_under_the_same_suites_is_flaky(lake):
    expected = [
        Row(
            suites="suites-1",
            rule=RULE,
            test=A,
            runs=5,
            verdicts={"fail": 2, "warn": 1, "pass": 2},
            changes=3,
            last="warn",
        )
    ]
    found = lake.flaky.where("sut_name = 'unsteady'")
    assertDataFrameEqual(found.select("suites", "rule", "test", "runs", "verdicts", "changes", "last"), expected)


def test_verdicts_of_different_checks_or_versions_are_not_flaky(lake):
    assert lake.flaky.where("sut_name in ('versions', 'worst of the checks', 'profiles')").isEmpty()


def test_pairs_table_names_reference_as_counterpart_and_the_role(lake):
    found = lake.pairs.where("a = 'versions-2.0-none'").drop("a")
    one = {"document": "MQQB", "b": "reference 0.1.0", "role": "any"}
    assertDataFrameEqual(
        found, lake.spark.createDataFrame([Row(**one, verdict="fail", rules=1), Row(**one, verdict="pass", rules=3)])
    )


def test_topology_pairs_name_other_systems_and_roles(lake):
    alpha, beta = build_system_key("alpha", "1", "none"), build_system_key("beta", "2", "")
    found = {
        (row.a, row.b, row.role, row.verdict, row.rules)
        for row in lake.pairs.where(sql.col("a").isin(alpha, beta)).collect()
    }
    any_role = {
        (alpha, alpha, "sender", "pass", 1),
        (alpha, beta, "sender", "pass", 1),
        (alpha, alpha, "router", "pass", 1),
        (alpha, beta, "router", "pass", 1),
    }
    of_receiver = {(beta, alpha, "receiver", verdict, 1) for verdict in ("pass", "fail")}
    assert found == any_role | of_receiver


@pytest.mark.parametrize("name", ["odd topology", "no topology", "alpha"])
def test_run_without_topology_pairs_only_with_reference(lake, name):
    rows = lake.pairs.where(sql.col("a").startswith(name)).where("role = 'receiver'").collect()
    assert [(row.b, row.verdict, row.rules) for row in rows] == [("reference 0.1.0", "pass", 1)]


def test_unchanged_rules_between_versions_have_no_change_row(changed):
    assert {rule for rule, *_ in changed("versions")}.isdisjoint({KEPT, PASSIVE})
