"""Measures the computation of the lake's tables from a million verdicts, by Spark and by duckdb on the same Parquet
files.

``MQ_LAKE_ROWS=10000000`` measures ten million verdicts, which takes some minutes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
from pyspark.sql import DataFrame, SparkSession

from benchmarks.lake import TICKS, measure_process
from reports.lake.changes import derive_changes, list_check_events
from reports.lake.current import derive_rule_current
from reports.lake.derived import derive_matrix_table, find_flaky_checks
from reports.lake.schemas import build_table_ddl
from reports.lake.writing import set_shuffle_partition_count
from reports.spark import open_spark_session

ROWS = int(os.environ.get("MQ_LAKE_ROWS", "1000000"))
LINES, RULES, CHECKS = 15_400, 2_878, 1_380
"""The numbers of lines, rules and checks of a complete run of all documents."""
RUNS_OF_A_SYSTEM = 3
BYTES_PER_LINE = 341
"""The average size, in bytes, of a line of verdicts.jsonl in the runs from which such tables are made."""
ROWS_OF_LARGE_INGEST = 1_000_000
"""The minimum number of rows for which the benchmark starts Java with the settings for a large ingest."""
CORES = 2

# A line is a check and a rule: 16,000 pairs that each run judges once. One in a hundred verdicts is a fail of that run
# alone, a tenth is undecided.
INVENTED_TABLES_QUERY = f"""
create table runs as select 'run-' || r as run, r + 1 as ingest,
    'contoso-message-queuing-' || r % {{systems}} || '-none-0f3a9c1e' as sut, 'Contoso Message Queuing' as sut_name,
    (r % {{systems}})::varchar as sut_version,
    'none' as profile, 'process' as reach,
    timestamp '2026-01-01' + to_hours(r) as started, 's' as suites, r % 5 = 0 as partial, '0.1' as harness
    from range({{runs}}) as of(r);
create table pairs as select p as pair, 'MQQB-3.' || (p % {RULES}) % 40 || '-' || p % {RULES} as rule,
    '3.' || (p % {RULES}) % 40 as section, 'suites/mqqb/s3_1_6_05_transactional_ack_wait_timer/'
        || 'test_transactional_ack_wait_timer.py::test_transactional_messages_without_order_ack_are_resent_'
        || p % {CHECKS} as test
    from range({LINES}) as of(p);
create table lines as select r.*, pair + 1 as seq, rule, section, test, hash(r.ingest, pair) as dice from runs r, pairs;
copy (select * from runs) to '{{folder}}/runs' (format parquet, per_thread_output true);
copy (select 's' as suites, rule, 'any' as role, list(distinct test) as checks from pairs group by all)
    to '{{folder}}/catalogue' (format parquet, per_thread_output true);
create view verdicts as select run, ingest, sut, sut_name, sut_version, profile, reach, started, seq,
    started as "time", rule, 'MQQB' as document, section, 'MUST' as level, suites, partial, test, 1::bigint as lines,
    case when dice % 100 = 0 then 'fail' when dice % 100 < 6 then 'inconclusive'
        when dice % 100 < 11 then 'not_observable' when dice % 100 < 13 then 'warn' else 'pass' end as verdict,
    'the session is closed by ' || pair_of as expected, 'closed after ' || dice % 1000 || ' ms' as observed,
    case when dice % 100 between 1 and 10 then 'no answer within ' || dice % 500 || ' ms' end as reason,
    'captures/' || test || '.pcapng' as capture, []::varchar[] as errata, []::varchar[] as notes
    from (select *, seq as pair_of from lines);
copy (select * exclude (suites, partial, lines) from verdicts)
    to '{{folder}}/verdicts' (format parquet, per_thread_output true);
copy (select * exclude ("time", expected, observed, reason, capture, errata, notes) from verdicts)
    to '{{folder}}/test_runs' (format parquet, per_thread_output true);
copy (select run, seq, 0::int as position, (dice % 90000)::int as frame, 16::int as "first", 19::int as "last"
    from lines where dice % 2 = 0) to '{{folder}}/evidence' (format parquet, per_thread_output true);
"""
RANK = """list_position(['fail', 'harness_error', 'inconclusive', 'warn', 'pass', 'not_exercised', 'not_applicable',
    'not_observable'], verdict)"""
CURRENT = f"""
create or replace table stands as
with ranked as (
    select sut, rule, test, ingest, seq, suites, {RANK} as rank, rank in (1, 4, 5) as decides from test_runs),
newest as (select sut, arg_max(suites, ingest) as newest from runs group by sut),
checks as (
    select r.sut, r.rule, r.test,
        max(ingest) filter (decides) as decided, arg_max(rank, ingest) filter (decides) as decided_rank,
        arg_max(seq, ingest) filter (decides) as decided_seq,
        max(ingest) filter (not decides) as undecided, arg_max(rank, ingest) filter (not decides) as undecided_rank,
        arg_max(seq, ingest) filter (not decides) as undecided_seq, bool_or(suites = newest) as now
    from ranked r join newest using (sut) group by all)
select c.sut, c.rule, c.test, coalesce(decided, undecided) as ingest, coalesce(decided_rank, undecided_rank) as rank,
    coalesce(decided_seq, undecided_seq) as seq, decided, undecided, undecided_rank, undecided_seq
from checks c join newest n using (sut) left join catalogue k on k.suites = n.newest and k.rule = c.rule
where now or list_contains(k.checks, split_part(c.test, '[', 1));

copy (
    with worst as (
        select sut, rule, arg_min(s, (rank, -ingest, seq)) as s, count(*) as tests from stands s group by all),
    later as (
        select s.sut, s.rule, s.undecided as ingest, s.undecided_rank as rank, s.undecided_seq as seq, s.test
        from stands s join worst w on s.sut = w.sut and s.rule = w.rule
        where s.undecided > coalesce(s.decided, w.s.ingest)
        qualify row_number() over (partition by s.sut, s.rule order by s.undecided desc, s.undecided_rank, seq) <= 5),
    beside as (
        select l.sut, l.rule,
            list((v.verdict, v.run, v.ingest, v.started, v.test, v.reason) order by l.ingest desc, l.rank) as beside
        from later l join verdicts v on v.ingest = l.ingest and v.seq = l.seq group by all),
    counted as (select sut, rule, map_from_entries(list((rank, number))) as counts
        from (select sut, rule, rank, count(*) as number from stands group by all) group by all),
    packets as (
        select r.ingest, e.seq, list((position, frame, first, last) order by position) as evidence
        from evidence e join runs r using (run) join worst w on w.s.ingest = r.ingest and w.s.seq = e.seq
        where position < 8 group by all)
    select v.*, w.tests, c.counts, r.partial, p.evidence, b.beside
    from worst w join verdicts v on v.ingest = w.s.ingest and v.seq = w.s.seq join runs r on r.ingest = w.s.ingest
    join counted c on c.sut = w.sut and c.rule = w.rule
    left join packets p on p.ingest = w.s.ingest and p.seq = w.s.seq
    left join beside b on b.sut = w.sut and b.rule = w.rule
) to '{{out}}' (format parquet);
"""
MATRIX = """
copy (select document, section, sut, v.key as verdict, count(*) filter (v.key = rank) as rules, sum(v.value) as verdicts
    from (select *, unnest(map_entries(counts)) as v, {rank} as rank from read_parquet('{current}')) group by all)
to '{out}' (format parquet);
"""


@dataclass(frozen=True, slots=True)
class JobCost:
    """The cost of a job: elapsed and processor seconds."""

    wall: float
    processor: float

    def against(self, other: JobCost) -> str:
        """Return the ratio of this cost to the cost of another job, as text."""
        return f"{self.wall / other.wall:.1f} times ({self.processor / other.processor:.1f} of the processors)"


def measure() -> Iterator[str]:
    """Yield the figures: Spark's time relative to duckdb's time. Both use two cores and write Parquet."""
    folder = Path(tempfile.mkdtemp(prefix="mqconform-lake-"))
    runs = max(1, ROWS // LINES)
    try:
        database = _make_tables(folder, runs)
        rows = runs * LINES
        quick = [_measure_time(lambda: _duckdb(database, folder)) for _ in range(2)][-1]
        with open_spark_session(f"local[{CORES}]", folder / "spark.log", much=rows >= ROWS_OF_LARGE_INGEST) as spark:
            set_shuffle_partition_count(spark, rows * BYTES_PER_LINE)
            first, warm = (_measure_time(lambda: _spark(spark, folder)) for _ in range(2))
            others = {name: _measure_time(partial(_other, spark, folder, name)) for name in ("changes", "flaky")}
        assert _count(database, folder / "spark" / "rule_current") == _count(database, folder / "duckdb" / "current")
        yield (
            f"rule_current and matrix of {rows:,} rows: {first.against(quick)} duckdb's time, which is "
            f"{quick.wall:.1f} s ({quick.processor:.1f} of the processors)"
        )
        yield f"the same again in the same session: {warm.against(quick)}; target: at most 8 for 10 million rows"
        yield ", ".join(f"{name}: {took.against(quick)} that" for name, took in others.items())
    finally:
        shutil.rmtree(folder)


def _make_tables(folder: Path, runs: int) -> duckdb.DuckDBPyConnection:
    with duckdb.connect(config={"threads": CORES}) as maker:
        maker.execute(INVENTED_TABLES_QUERY.format(folder=folder, runs=runs, systems=max(1, runs // RUNS_OF_A_SYSTEM)))
    database = duckdb.connect(config={"threads": CORES})
    for table in ("runs", "catalogue", "verdicts", "test_runs", "evidence"):
        database.execute(f"create view {table} as from read_parquet('{folder}/{table}/*.parquet')")
    return database


def _duckdb(database: duckdb.DuckDBPyConnection, folder: Path) -> None:
    out = folder / "duckdb"
    out.mkdir(exist_ok=True)
    database.execute(CURRENT.format(out=out / "current"))
    database.execute(MATRIX.format(current=out / "current", out=out / "matrix", rank=RANK))


def _spark(spark: SparkSession, folder: Path) -> None:
    read, out = _reader(spark, folder), folder / "spark"
    names = ("test_runs", "runs", "catalogue", "verdicts", "evidence")
    derive_rule_current(*map(read, names)).write.mode("overwrite").parquet(str(out / "rule_current"))
    current = spark.read.schema(build_table_ddl("rule_current")).parquet(str(out / "rule_current"))
    derive_matrix_table(current).write.mode("overwrite").parquet(str(out / "matrix"))


def _other(spark: SparkSession, folder: Path, table: str) -> None:
    read = _reader(spark, folder)
    made = {
        "changes": lambda: derive_changes(
            list_check_events(read("test_runs"), read("runs"), read("catalogue")), read("runs")
        ),
        "flaky": lambda: find_flaky_checks(read("test_runs"), read("runs")),
    }[table]()
    made.write.mode("overwrite").parquet(str(folder / "spark" / table))


def _reader(spark: SparkSession, folder: Path) -> Callable[[str], DataFrame]:
    return lambda table: spark.read.schema(build_table_ddl(table)).parquet(str(folder / table))


def _count(database: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[object, ...]]:
    files = path / "*.parquet" if path.is_dir() else path
    query = f"""select verdict, count(*), sum(tests), sum(coalesce(len(beside), 0)), sum(coalesce(len(evidence), 0))
        from read_parquet('{files}') group by all order by all"""
    return database.execute(query).fetchall()


def _measure_time(work: Callable[[], object]) -> JobCost:
    began, ticks = time.perf_counter(), _ticks()
    work()
    return JobCost(time.perf_counter() - began, (_ticks() - ticks) / TICKS)


def _ticks() -> int:
    return sum(each for _, each in measure_process(os.getpid()))
