"""Computes the tables a second time, in SQL for duckdb, written from the definitions of docs/reports.md and not from
the Spark code.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from reports.text import build_system_key

VIEWS = """
create view ranks as from (values
    ('fail', 0, true), ('harness_error', 1, false), ('inconclusive', 2, false), ('warn', 3, true), ('pass', 4, true),
    ('not_exercised', 5, false), ('not_applicable', 6, false), ('not_observable', 7, false)
) as of(verdict, rank, decides);

-- What a run said of the SHOULD beside a MUST is no word on that, where it has another.
create view judging as
    select * from (
        select *, bool_and(only_advises) over (partition by ingest, rule) as all_advise from (
            select *, bool_and(advice is not null) over (partition by ingest, test, rule) as only_advises
            from verdicts))
    where all_advise or not only_advises;

-- What a run said of a check and a rule: the worst of its lines; the first line that says so.
create view said as
    select sut, rule, test, ingest, rank, decides, seq from (
        select *, row_number() over (partition by sut, rule, test, ingest order by rank, seq) as place
        from judging join ranks using (verdict))
    where place = 1;

create view newest as
    select sut, suites from runs r where ingest = (select max(ingest) from runs x where x.sut = r.sut);

-- Whether given suites let a check count that they were never run with.
create macro knows(wanted_suites, wanted_rule, wanted_test) as
    not exists (from catalogue mine where mine.suites = wanted_suites)
    or exists (from catalogue mine where mine.suites = wanted_suites and mine.rule = wanted_rule and (
        mine.checks is null
        or wanted_test is null
        or list_contains(mine.checks, split_part(wanted_test, '[', 1))
        or (len(mine.checks) = 0 and exists (
            from catalogue any_rule where any_rule.suites = wanted_suites
                and list_contains(any_rule.checks, split_part(wanted_test, '[', 1))))));

create table checks as
    select sut, rule, test,
        exists (from said s join runs r using (ingest) where s.sut = c.sut and s.rule = c.rule
                and s.test is not distinct from c.test and r.suites is not distinct from n.suites)
            or knows(n.suites, c.rule, c.test) as counts,
        (select max(ingest) from said s where s.sut = c.sut and s.rule = c.rule
            and s.test is not distinct from c.test and s.decides) as decided,
        (select max(ingest) from said s where s.sut = c.sut and s.rule = c.rule
            and s.test is not distinct from c.test and not s.decides) as undecided
    from (select distinct sut, rule, test from said) c join newest n using (sut);

-- The checks whose verdict is taken: those that count, or of a retired rule all.
create table taken as
    select *, not any_counts as retired
    from (select *, bool_or(counts) over (partition by sut, rule) as any_counts from checks)
    where counts or not any_counts;

create table stands as
    select t.sut, t.rule, t.test, t.retired, t.decided, t.undecided, s.ingest, s.rank, s.seq
    from taken t join said s on s.sut = t.sut and s.rule = t.rule and s.test is not distinct from t.test
        and s.ingest = coalesce(t.decided, t.undecided);

create table rules as
    select * from (
        select *, row_number() over (partition by sut, rule order by rank, ingest desc, seq) as place from stands)
    where place = 1;

create table beside as
    select s.sut, s.rule, s.ingest, s.rank, s.seq, s.test,
        row_number() over (partition by s.sut, s.rule order by s.ingest desc, s.rank, s.seq) as place
    from taken t
    join rules r on r.sut = t.sut and r.rule = t.rule
    join said s on s.sut = t.sut and s.rule = t.rule and s.test is not distinct from t.test and s.ingest = t.undecided
    where t.undecided > coalesce(t.decided, r.ingest);
"""

SYSTEM = "r.sut, r.sut_name, r.sut_version, r.profile"
RUN = f"r.run, r.ingest, {SYSTEM}, r.reach, r.started, r.suites, r.partial"

TABLES = {
    "test_runs": f"""
        select {RUN}, test, rule, document, section, level, verdict, seq,
            (select count(distinct (x.seq, x.verdict, x.expected, x.observed)) from verdicts x
                where x.ingest = r.ingest and x.test is not distinct from v.test and x.rule = v.rule) as lines
        from (select distinct on (ingest, test, rule) * from judging join ranks using (verdict)
              order by ingest, test, rule, rank, seq) v
        join runs r using (ingest)
    """,
    "rule_runs": f"""
        select {RUN}, s.rule, any_value(v.document), any_value(v.section), any_value(v.level),
            (select verdict from ranks x where x.rank = min(s.rank)) as verdict,
            count(*) as tests,
            (select map_from_entries(list((verdict, number))) from (
                select k.verdict, count(*) as number from said x join ranks k using (rank)
                where x.ingest = r.ingest and x.rule = s.rule group by k.verdict)) as counts
        from said s join runs r using (ingest)
        join (select distinct rule, document, section, level from verdicts) v using (rule)
        group by all
    """,
    "rule_current": f"""
        select {SYSTEM}, c.rule, v.document, v.section, v.level, v.verdict, r.run, r.ingest, r.started, r.reach,
            r.partial, c.test, c.seq, v.expected, v.observed, v.reason, v.capture, v.errata, v.notes,
            coalesce((select list({{'position': position, 'frame': frame, 'first': first, 'last': last,
                'time_ms': time_ms, 'direction': direction, 'transport': transport, 'hex': hex,
                'dissection': dissection}} order by position)
                from evidence e where e.run = r.run and e.seq = c.seq and e.position < 8), []) as evidence,
            (select count(*) from stands s where s.sut = c.sut and s.rule = c.rule) as tests,
            (select map_from_entries(list((verdict, number))) from (
                select k.verdict, count(*) as number from stands s join ranks k using (rank)
                where s.sut = c.sut and s.rule = c.rule group by k.verdict)) as counts,
            c.retired,
            coalesce((select list({{'verdict': k.verdict, 'run': br.run, 'ingest': b.ingest, 'started': br.started,
                'test': b.test, 'reason': bv.reason}} order by b.place)
                from beside b join ranks k using (rank) join runs br using (ingest)
                join (select distinct ingest, seq, reason from verdicts) bv on bv.ingest = b.ingest and bv.seq = b.seq
                where b.sut = c.sut and b.rule = c.rule and b.place <= 5), []) as beside
        from rules c join runs r using (ingest)
        join (select distinct on (ingest, seq) * from verdicts) v on v.ingest = c.ingest and v.seq = c.seq
    """,
    "changes": """
        with line as (select *, dense_rank() over (partition by sut_name, profile order by ingest) as place from runs),
        pairs as (
            select b.sut_name, b.profile, a.ingest as before, b.ingest as after
            from line a join line b on a.sut_name = b.sut_name and a.profile = b.profile and a.place + 1 = b.place),
        said_of as (select s.*, r.sut_name, r.profile, r.suites from said s join runs r using (ingest)),
        each as (select distinct sut_name, profile, rule, test from said_of),
        -- The verdict of a check after a run: the latest decided one, if the check counts under that run's suites.
        after as (
            select e.*, r.ingest as run,
                (select rank from said_of s where s.decides and s.ingest <= r.ingest and s.sut_name = e.sut_name
                    and s.profile = e.profile and s.rule = e.rule and s.test is not distinct from e.test
                    order by s.ingest desc limit 1) as rank,
                exists (from said_of s where s.decides and s.ingest <= r.ingest and s.sut_name = e.sut_name
                    and s.profile = e.profile and s.rule = e.rule and s.test is not distinct from e.test
                    and s.suites is not distinct from r.suites)
                or knows(r.suites, e.rule, e.test) as counts
            from each e join runs r on r.sut_name = e.sut_name and r.profile = e.profile),
        rule_after as (
            select sut_name, profile, rule, run, min(rank) filter (counts) as rank from after group by all)
        select p.sut_name, p.profile, b.rule, split_part(b.rule, '-', 1), split_part(b.rule, '-', 2),
            p.after, r.run, r.sut_version, now.verdict, w.run, w.sut_version, was.verdict,
            case when a.rank is null then 'added' when b.rank is null then 'removed'
                when now.verdict = 'fail' then 'newly failing' when now.verdict = 'pass' then 'newly passing'
                else 'changed' end
        from pairs p
        join rule_after b on b.sut_name = p.sut_name and b.profile = p.profile and b.run = p.after
        join rule_after a on a.sut_name = p.sut_name and a.profile = p.profile and a.run = p.before and a.rule = b.rule
        join runs r on r.ingest = p.after
        left join ranks now on now.rank = b.rank
        left join ranks was on was.rank = a.rank
        left join runs w on w.ingest = case when a.rank is not null then
            (select max(ingest) from said_of s where s.decides and s.sut_name = p.sut_name and s.profile = p.profile
                and s.rule = b.rule and s.ingest < p.after) end
        where a.rank is distinct from b.rank
    """,
    "flaky": f"""
        with decided as (
            select s.*, r.suites, k.verdict,
                lag(s.rank) over (partition by s.sut, r.suites, rule, test order by ingest) as before
            from said s join runs r using (ingest) join ranks k using (rank) where s.decides)
        select {SYSTEM}, d.suites, d.rule, d.test, count(*),
            map_from_entries(list_distinct(list((d.verdict, (select count(*) from decided x where x.sut = d.sut
                and x.suites is not distinct from d.suites and x.rule = d.rule and x.test is not distinct from d.test
                and x.verdict = d.verdict))))),
            count(*) filter (d.before <> d.rank), arg_max(d.verdict, d.ingest)
        from decided d join (select distinct sut, sut_name, sut_version, profile from runs) r using (sut)
        group by all having count(distinct d.verdict) > 1
    """,
    "matrix": f"""
        with counted as (
            select {SYSTEM}, c.rule, k.verdict, count(*) as checks, k.rank = c.rank as is_rules
            from rules c join stands s on s.sut = c.sut and s.rule = c.rule join ranks k on k.rank = s.rank
            join (select distinct sut, sut_name, sut_version, profile from runs) r on r.sut = c.sut
            where not c.retired group by all)
        select split_part(rule, '-', 1), split_part(rule, '-', 2), sut, sut_name, sut_version, profile, verdict,
            count(*) filter (is_rules), sum(checks)
        from counted group by all
    """,
    "pairs": """
        with held as (
            select ingest, k.role, extra -> '$.systems' -> k.role as named
            from (from runs where json_type(extra -> '$.systems') = 'OBJECT') r,
                unnest(json_keys(extra, '$.systems')) as k(role)
            where json_extract_string(extra -> '$.systems' -> k.role, '$.name') is not null),
        holder as (
            select ingest, role, system_key(named ->> '$.name', coalesce(named ->> '$.version', ''),
                coalesce(named ->> '$.profile', '')) as key from held),
        pair as (
            select distinct a.ingest, a.role, a.key as a, b.key as b
            from holder a join holder b on b.ingest = a.ingest and b.role <> a.role),
        judged as (
            select split_part(c.rule, '-', 1) as document, c.sut, c.ingest, harness, verdict,
                coalesce((select role from catalogue o where o.suites = r.suites and o.rule = c.rule), 'any') as binds
            from rules c join runs r using (ingest) join ranks k using (rank) where not c.retired)
        select j.document, p.a, p.b, p.role, j.verdict, count(*)
        from judged j join pair p using (ingest)
        where j.binds = p.role or j.binds not in (select role from holder h where h.ingest = j.ingest)
        group by j.sut, j.document, p.a, p.b, p.role, j.verdict
        union all
        select document, sut, 'reference ' || harness, binds, verdict, count(*) from judged j
        where (select count(*) from holder h where h.ingest = j.ingest) < 2 group by all
    """,
}


class Oracle:
    """Computes tables with duckdb from the facts of a lake."""

    def __init__(self, folder: Path) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("set timezone = 'UTC'")
        for name in ("runs", "catalogue", "verdicts", "evidence"):
            files = str(folder / name / "*.parquet").replace("'", "''")
            self.connection.execute(f"create view {name} as from read_parquet('{files}')")
        self.connection.create_function("system_key", build_system_key, ["varchar"] * 3, "varchar")
        self.connection.execute(VIEWS)

    def write(self, table: str, path: Path, columns: list[str]) -> None:
        """Compute a table with its query, and write it to a Parquet file."""
        names = ", ".join(f'"{name}"' for name in columns)
        self.connection.execute(f"copy (from ({TABLES[table]}) as of({names})) to '{path}' (format parquet)")
