"""Writes new derived rows below ``data/<commit>``, for the systems that an ingest affects. Other systems keep their
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from reports.lake import changes, current, derived, side_by_side
from reports.lake.changes import EarlierVerdicts
from reports.lake.files import escape_path_pattern
from reports.lake.manifest import IngestedRun, get_table_folder
from reports.lake.renamed_checks import rename_checks, rename_checks_in_catalogue
from reports.lake.schemas import COLUMN_TYPES_BY_DERIVED_TABLE, build_table_ddl
from reports.lake.store import Lake
from reports.lake.writing import write_parquet

MAX_LINES_PER_STEP = 2_500_000
"""The maximum number of verdict lines that one job of Spark processes, so that its memory use does not grow with the
lake.
"""

TABLES_DERIVED_PER_PRODUCT = ("changes", "check_current")
"""The derived tables whose rows are computed for all versions of a product together, not for each system."""


def derive_tables(
    lake: Lake, commit: str, suts: set[str], products: Mapping[str, int], stage: Callable[[str], None]
) -> dict[str, dict[str, str]]:
    """Write the derived rows of the given systems and products. Return, for each derived table, the name of the folder
    (commit) that contains the rows of each system or product.

    ``lake``: the state that will be published, with the new facts but still with the old derived tables. ``products``:
    for each product, the last run up to which its rows in the old state stay valid, or 0 to derive the rows from all
    runs.
    """

    def write_table(table: str, frame: DataFrame) -> None:
        stage(table)
        write_parquet(
            frame.repartition("unit"),
            f"{lake.uri}/{get_table_folder(commit, table)}",
            partition_by="unit",
            mode="append",
        )

    runs = lake.table("runs").cache()
    known = lake.manifest.runs.values()
    lines = sum(run.lines for run in known if run.sut in suts or run.ingest > products.get(run.product, run.ingest))
    systems = partial(_derive_tables_of_systems, lake, commit, suts, runs, write_table)
    of_products = partial(_derive_tables_of_all_products, lake, products, runs, write_table)
    side_by_side.run_parts_of_spark_job(lines, systems, of_products)
    runs.unpersist()
    return {
        table: _get_commit_by_system_or_product(
            lake, commit, table, set(products) if table in TABLES_DERIVED_PER_PRODUCT else suts
        )
        for table in COLUMN_TYPES_BY_DERIVED_TABLE
    }


def _derive_tables_of_systems(
    lake: Lake, commit: str, suts: set[str], runs: DataFrame, keep: Callable[[str, DataFrame], None]
) -> None:
    """Write the derived rows of systems from all of their runs."""
    known = lake.manifest.runs
    for some in _group_systems_or_products(
        suts, {sut: [run for run in known.values() if run.sut == sut] for sut in suts}
    ):
        judged = [each for each in known.values() if each.sut in some]
        of, holders = sql.col("sut").isin(some), {each.commit for each in judged}
        mine, tests = runs.where(of), lake.table("test_runs", holders).where(of)
        renamed = rename_checks(tests, mine, _read_table_of_suites(lake, "suites", judged))
        # Usually only verdicts of each system's latest run are shown, so the texts of other runs are not read.
        shown = current.select_verdicts_to_show(renamed, mine, _read_table_of_suites(lake, "catalogue", judged)).cache()
        names = [row.run for row in shown.select("run").distinct().collect()]
        of_shown = sql.col("run").isin(names)
        verdicts, evidence = (
            lake.table(table, {known[run].commit for run in names}).where(of_shown)
            for table in ("verdicts", "evidence")
        )
        keep(
            "rule_current",
            current.build_rule_current_table(shown, verdicts, evidence).withColumn("unit", sql.col("sut")),
        )
        shown.unpersist()
        keep("flaky", derived.find_flaky_checks(tests, mine).withColumn("unit", sql.col("sut")))
    stands = lake.spark.read.schema(build_table_ddl("rule_current")).parquet(
        escape_path_pattern(f"{lake.uri}/{get_table_folder(commit, 'rule_current')}")
    )
    keep("matrix", derived.derive_matrix_table(stands).withColumn("unit", sql.col("sut")))
    catalogue = _read_table_of_suites(lake, "catalogue", [each for each in known.values() if each.sut in suts])
    keep("pairs", derived.derive_pair_exchanges_table(stands, runs, catalogue))


def _derive_tables_of_all_products(
    lake: Lake, products: Mapping[str, int], runs: DataFrame, keep: Callable[[str, DataFrame], None]
) -> None:
    """Write the derived rows of all given products. Products are written together if the same run is the first whose
    rows change.
    """
    for after in sorted(set(products.values())):
        runs_of = {
            key: [run for run in lake.manifest.runs.values() if run.product == key and run.ingest > after]
            for key in products
            if products[key] == after
        }
        for some in _group_systems_or_products(runs_of, runs_of):
            _derive_tables_of_products(lake, [run for key in some for run in runs_of[key]], runs, after, keep)


def _derive_tables_of_products(
    lake: Lake, fresh: Sequence[IngestedRun], runs: DataFrame, after: int, keep: Callable[[str, DataFrame], None]
) -> None:
    """Write the derived rows of products. The rows of runs with numbers above ``after`` are computed, and the rows
    of earlier runs are copied from the lake.

    ``fresh``: the runs with numbers above ``after``.
    """
    known = lake.manifest.runs.values()
    products = {run.product for run in fresh}
    line_of = {run.sut: run.product for run in known if run.product in products}
    mine = runs.where(sql.col("sut").isin(sorted(line_of)))
    units = mine.select("sut_name", "profile", _get_product_column(line_of).alias("unit")).distinct()
    tests = lake.table("test_runs", {run.commit for run in fresh}).where(
        sql.col("ingest").isin([run.ingest for run in fresh])
    )
    checks, catalogue = lake.table("check_current", products) if after else None, None
    if any(map(partial(_has_other_suites, known), fresh)):
        suites = _read_table_of_suites(lake, "suites", fresh)
        catalogue = rename_checks_in_catalogue(
            _read_table_of_suites(lake, "catalogue", fresh), mine, suites, changes.PRODUCT_COLUMNS
        )
        tests = rename_checks(tests, mine, suites, changes.PRODUCT_COLUMNS)
        checks = rename_checks(checks, mine, suites, changes.PRODUCT_COLUMNS) if checks is not None else None
    before = EarlierVerdicts(checks, after) if checks is not None else None
    events = changes.list_check_events(tests, mine, catalogue, before)
    if before:
        events = events.cache()  # most of the work is spent on these few rows, which are read twice
    tables = {"check_current": changes.derive_check_current(events)}
    if before or len(fresh) > len(products):  # the first run of a product has no earlier verdicts to change
        changed = changes.derive_changes(events, mine, after)
        tables["changes"] = changed.unionByName(lake.table("changes", products)) if before else changed
    for table, rows in tables.items():
        keep(
            table,
            rows.join(sql.broadcast(units), ["sut_name", "profile"]).select(
                *COLUMN_TYPES_BY_DERIVED_TABLE[table], "unit"
            ),
        )
    events.unpersist()


def _read_table_of_suites(lake: Lake, table: str, runs: Collection[IngestedRun]) -> DataFrame:
    """Return the rows of a table that concern the suites of the given runs. If the manifest does not name the suites of
    a run, return all rows of the table.

    ``table``: ``catalogue`` or ``suites``.
    """
    names = {run.suites for run in runs}
    if "" in names:
        return lake.table(table)
    of = {commit for suites, commit in lake.manifest.catalogues.items() if suites in names}
    return lake.table(table, of).where(sql.col("suites").isin(sorted(names)))


def _has_other_suites(known: Collection[IngestedRun], run: IngestedRun) -> bool:
    """Return whether the suites of a run differ, or may differ, from the suites of the product's previous run."""
    earlier = (each for each in known if each.product == run.product and each.ingest < run.ingest)
    before = max(earlier, key=lambda each: each.ingest, default=None)
    return before is not None and not (run.suites and run.suites == before.suites)


def _get_product_column(product_of: dict[str, str]) -> Column:
    """Return the Spark expression for the product to which the system of a row belongs."""
    pairs = (sql.lit(each) for pair in sorted(product_of.items()) for each in pair)
    return sql.create_map(*pairs)[sql.col("sut")]


def _group_systems_or_products(units: Iterable[str], runs: dict[str, list[IngestedRun]]) -> Iterator[list[str]]:
    """Group systems or products so that the runs of a group have at most `MAX_LINES_PER_STEP` lines. A system or
    product with more lines forms a group of its own. Omit systems and products without a run.
    """
    batch: list[str] = []
    lines = 0
    for unit in sorted(unit for unit in units if runs[unit]):
        more = sum(run.lines for run in runs[unit])
        if batch and lines + more > MAX_LINES_PER_STEP:
            yield batch
            batch, lines = [], 0
        batch.append(unit)
        lines += more
    if batch:
        yield batch


def _get_commit_by_system_or_product(lake: Lake, commit: str, table: str, touched: set[str]) -> dict[str, str]:
    """Return the folder (commit) that contains the rows of each system or product. If this ingest changes the rows,
    this is the new folder.
    """
    others = {unit: old for unit, old in lake.manifest.derived.get(table, {}).items() if unit not in touched}
    found = lake.files.entries(f"{lake.uri}/{get_table_folder(commit, table)}")
    return others | {each.name.removeprefix("unit="): commit for each in found if each.name.startswith("unit=")}
