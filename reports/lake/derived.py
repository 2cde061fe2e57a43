"""Computes the tables flaky, matrix and pairs from facts and current verdicts (docs/reports.md)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as sql

from reports.lake.order import build_verdict_count_map, get_rank_of_verdict, get_verdict_of_rank, is_verdict_decided
from reports.lake.schemas import SYSTEM_COLUMN_TYPES, arrange_table_columns, build_struct_type, compute_system_key
from reports.vocabulary import DECIDED_VERDICTS, SEVERITY_BY_VERDICT


def find_flaky_checks(test_runs: DataFrame, runs: DataFrame) -> DataFrame:
    """Return the checks that decided a rule differently in different runs of the same system with the same suites.

    ``runs``: the number of runs that decided the rule. ``verdicts``: the number of runs per verdict. ``changes``:
    the number of changes from one run to the next. ``last``: the latest verdict.
    """
    key = ("sut", "suites", "rule", "test")
    decided = test_runs.select(*key, "ingest", get_rank_of_verdict(sql.col("verdict")).alias("rank")).where(
        is_verdict_decided(sql.col("rank"))
    )
    # Few checks are flaky: two numbers per check find them, and only their runs are sorted.
    spread = decided.groupBy(*key).agg(sql.min("rank").alias("worst"), sql.max("rank").alias("best"))
    differ = spread.where("worst < best").select(*(sql.col(name).alias(f"_{name}") for name in key))
    same = [sql.col(name).eqNullSafe(sql.col(f"_{name}")) for name in key]
    in_order = Over.partitionBy(*key).orderBy("ingest")
    steps = decided.join(differ, same, "left_semi").withColumn("before", sql.lag("rank").over(in_order))
    numbers = {name: sql.count_if(sql.col("rank") == SEVERITY_BY_VERDICT[name]) for name in DECIDED_VERDICTS}
    rows = steps.groupBy(*key).agg(
        sql.count("*").alias("runs"),
        build_verdict_count_map(numbers).alias("verdicts"),
        sql.count_if(sql.col("rank") != sql.col("before")).alias("changes"),
        get_verdict_of_rank(sql.max_by("rank", "ingest")).alias("last"),
    )
    return arrange_table_columns(rows.join(sql.broadcast(_list_systems_of_runs(runs)), "sut"), "flaky")


def derive_matrix_table(rule_current: DataFrame) -> DataFrame:
    """Return a row for each section, system and verdict. The row contains the number of rules and the number of
    checks (``verdicts``) with this verdict.
    """
    each = rule_current.where("not retired").select(
        *("document", "section", *SYSTEM_COLUMN_TYPES),
        sql.col("verdict").alias("stands"),
        sql.explode("counts").alias("verdict", "checks"),
    )
    rows = each.groupBy("document", "section", *SYSTEM_COLUMN_TYPES, "verdict").agg(
        sql.count_if(sql.col("verdict") == sql.col("stands")).alias("rules"), sql.sum("checks").alias("verdicts")
    )
    return arrange_table_columns(rows, "matrix")


def derive_pair_exchanges_table(rule_current: DataFrame, runs: DataFrame, catalogue: DataFrame) -> DataFrame:
    """Return the number of rules by verdict, for each document, system ``a``, counterpart ``b`` of the system, and
    role of ``a``.

    In a run with a topology, each system is paired, in its role, with every other system. A pair counts the rules that
    bind this role, and the rules that bind no role of the topology. In any other run the counterpart is the reference
    of the harness, and the roles are the roles that the rules bind. A rule that is missing in the run's catalogue binds
    "any". ``unit`` is the system that has these current verdicts; in a topology it is the system that stands for the
    whole topology.
    """
    of_run = runs.select("ingest", "suites", "harness", _pair_systems(sql.col("extra")).alias("together"))
    roles = catalogue.select("suites", "rule", "role")
    binds, held = sql.coalesce("role", sql.lit("any")), sql.col("pair.role")
    rows = (
        rule_current.where("not retired")
        .join(sql.broadcast(of_run), "ingest")
        .join(roles, ["suites", "rule"], "left")
        .select(
            "document", "sut", "harness", "verdict", binds.alias("binds"), sql.explode_outer("together").alias("pair")
        )
        .where(held.isNull() | (held == sql.col("binds")) | ~sql.array_contains("pair.roles", sql.col("binds")))
        .groupBy(
            "document",
            sql.coalesce("pair.a", "sut").alias("a"),
            sql.coalesce("pair.b", sql.concat(sql.lit("reference "), sql.col("harness")), sql.lit("reference")).alias(
                "b"
            ),
            sql.coalesce(held, "binds").alias("role"),
            "verdict",
            sql.col("sut").alias("unit"),
        )
        .agg(sql.count("*").alias("rules"))
    )
    return arrange_table_columns(rows, "pairs", "unit")


def parse_topology_systems(extra: Column) -> Column:
    """Return the systems of a topology from run.json, each with its role, key and name. Return null if the run has no
    topology.
    """
    said = sql.from_json(
        sql.get_json_object(extra, "$.systems"), f"map<string, {build_struct_type(_SYSTEM_NAME_FIELDS)}>"
    )
    known = sql.filter(sql.map_entries(said), lambda each: each["value"]["name"].isNotNull())
    return sql.transform(
        known,
        lambda each: sql.struct(
            each["key"].alias("role"),
            compute_system_key(*(sql.coalesce(each["value"][name], sql.lit("")) for name in _SYSTEM_NAME_FIELDS)).alias(
                "key"
            ),
            sql.concat_ws(" ", each["value"]["name"], each["value"]["version"]).alias("name"),
        ),
    )


def _pair_systems(extra: Column) -> Column:
    """Return a row for each ordered pair of systems in a topology: the role and the key ``a`` of the first system, the
    key ``b`` of the second system, and the roles that the topology has.
    """
    systems = parse_topology_systems(extra)

    def pair_system_with_others(system: Column) -> Column:
        others = sql.filter(systems, lambda other: other["role"] != system["role"])
        roles = sql.transform(systems, lambda each: each["role"])
        return sql.transform(
            others,
            lambda other: sql.struct(
                system["role"].alias("role"), system["key"].alias("a"), other["key"].alias("b"), roles.alias("roles")
            ),
        )

    return sql.array_distinct(sql.flatten(sql.transform(systems, pair_system_with_others)))


_SYSTEM_NAME_FIELDS = {"name": "string", "version": "string", "profile": "string"}


def _list_systems_of_runs(runs: DataFrame) -> DataFrame:
    return runs.select(*SYSTEM_COLUMN_TYPES).distinct()
