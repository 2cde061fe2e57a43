"""Measures the site of 200 versions of systems, each with some hundred failures and changes, and the first page of
this site.

Target: under 2 GiB (Java and Python together), under 5 minutes, every page smaller than 2 MB, and a first page that
Chromium shows within a second. ``MQ_SITE_SYSTEMS=20`` measures fewer systems.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import duckdb
from playwright.sync_api import sync_playwright

from benchmarks.footprint import measure_footprint
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.run_folder import RULES_FILE, VERDICTS_FILE, get_capture_path
from reports.lake.manifest import IngestCommit, IngestedRun, Manifest
from reports.lake.schemas import COLUMN_TYPES_BY_DERIVED_TABLE, COLUMN_TYPES_BY_FACT_TABLE
from reports.text import build_system_key

SYSTEMS = int(os.environ.get("MQ_SITE_SYSTEMS", "200"))
VERSIONS, RUNS_EACH, RULES = 20, 3, 2_875
"""The numbers of versions of a product, runs of a version, and rules of the catalogue."""
MEMORY_WANTED, SECONDS_WANTED = 2 << 30, 300.0
PAGE_WANTED, FIRST_VIEW_WANTED_MS = 2_000_000, 1_000.0
_SELECTION = "s2_1_1_protocol_session or s3_1_5_03_receiving_an_establish"
_SYSTEM = "key as sut, name as sut_name, version as sut_version, 'none' as profile"
_RULE = "rule, document, section, level"

# The verdict of a rule depends on rule and system, mostly on the rule alone, so that versions resemble each other.
INVENTED_TABLES_QUERY = f"""
create table runs as select *, r * {{systems}} + s + 1 as ingest, 'run-' || (r * {{systems}} + s) as run,
    timestamp '2026-01-01' + to_hours(r * {{systems}} + s) as started, r < {RUNS_EACH - 1} as partial
    from systems, range({RUNS_EACH}) as of(r);
create table catalogue as select *, row_number() over (order by rule) as number from read_parquet('{{folder}}/rules');
create table pool as select *, row_number() over () - 1 as place from read_parquet('{{folder}}/pool');
create table judged as select v.*, {_RULE}, number, hash(rule, v.s) as dice,
    case when hash(rule, v.s // 3) % 100 < 60 then hash(rule) % 1000 else hash(rule, v.s) % 1000 end as of_thousand
    from systems v, catalogue where observe != 'none' and hash(rule, v.s) % 50 > 0;
create table stands as select *, case when of_thousand < 110 then 'fail' when of_thousand < 112 then 'harness_error'
    when of_thousand < 140 then 'inconclusive' when of_thousand < 160 then 'warn' when of_thousand < 930 then 'pass'
    when of_thousand < 950 then 'not_exercised' when of_thousand < 955 then 'not_applicable'
    else 'not_observable' end as verdict from judged;
"""
TABLES = {
    "runs": f"""select run, ingest, started as ingested, '{{run_folder}}' as folder, 2 as schema, {_SYSTEM},
        'Vendor' as vendor, 'process' as reach, '0.1.0' as harness, '{{suites}}' as suites,
        if(partial, '-k mqqb', 'all') as selection, started, started + to_minutes(9) as finished, 1 as exit,
        null::varchar as aborted, partial, 6000000 as size, started as modified, run as digest, 16000 as lines,
        16000 as kept, 0 as rejected, null::varchar as extra from runs""",
    "rule_runs": f"""select run, ingest, v.key as sut, v.name as sut_name, v.version as sut_version, 'none' as profile,
        'process' as reach, started, '{{suites}}' as suites, partial, {_RULE}, verdict, 3 as tests,
        map([verdict], [3::bigint]) as counts from runs r join stands v using (s)""",
    "rule_current": f"""select {_SYSTEM}, {_RULE}, verdict, 'run-' || ({{last}} + s) as run, {{last}} + s + 1 as ingest,
        timestamp '2026-01-01' + to_hours({{last}} + s) as started, 'process' as reach, false as partial, test,
        dice % 16000 as seq, 'SessionHeader.AckSequenceNumber ' || dice % 900 || ' in the packet after it' as expected,
        if(verdict = 'pass', 'SessionHeader.AckSequenceNumber ' || dice % 900 || ' in the packet after it',
            'kept the connection open; last sent a SessionAck with AckSequenceNumber ' || dice % 700) as observed,
        if(verdict in ('pass', 'fail'), null, 'no answer within ' || dice % 900 || ' ms; the peer had sent '
            || 'an EstablishConnection and waited for its response') as reason,
        capture, if(dice % 10 = 0, ['E' || (10 + dice % 50)], []) as errata, []::varchar[] as notes, evidence,
        3 as tests, map([verdict], [3::bigint]) as counts, dice % 400 = 0 as retired,
        if(dice % 60 > 0, [], [{{{{'verdict': 'inconclusive', 'run': 'run-0', 'ingest': 1::bigint,
            'started': timestamp '2026-01-01', 'test': test, 'reason': 'no answer'}}}}]) as beside
        from stands join pool on place = dice % (select count(*) from pool)""",
    "changes": """select n.name as sut_name, 'none' as profile, n.rule, n.document, n.section,
        {last} + n.s + 1 as ingest, 'run-' || ({last} + n.s) as run, n.version as sut_version, n.verdict,
        'run-' || ({last} + o.s) as run_before, o.version as version_before, o.verdict as verdict_before,
        case n.verdict when 'fail' then 'newly failing' when 'pass' then 'newly passing' else 'changed' end as change
        from stands n join stands o on o.s + 1 = n.s and o.name = n.name and o.rule = n.rule
        where o.verdict != n.verdict and n.verdict in ('fail', 'warn', 'pass')
        and o.verdict in ('fail', 'warn', 'pass')""",
    "flaky": f"""select {_SYSTEM}, '{{suites}}' as suites, rule, 'a test' as test, 3 as runs,
        map(['pass', 'fail'], [2::bigint, 1::bigint]) as verdicts, 1 as changes, 'pass' as last
        from stands where dice % 2000 = 0""",
    "matrix": f"""select document, section, {_SYSTEM}, verdict, count(*) filter (dice % 400 > 0) as rules,
        3 * count(*) as verdicts from stands group by all""",
    "pairs": """select document, key as a, 'reference 0.1.0' as b, 'receiver' as role, verdict, count(*) as rules
        from stands group by all""",
}
"""The tables from which the pages are made, and the other tables that the manifest needs."""


def measure() -> Iterator[str]:
    """Make the lake and its site. Raise AssertionError if a limit is exceeded."""
    folder = Path(tempfile.mkdtemp(prefix="mqconform-site-"))
    try:
        make_lake(folder, SYSTEMS)
        command = [sys.executable, "-m", "mqconform", "lake", "site"]
        took = measure_footprint([*command, "--lake", str(folder / "lake"), "--out", str(folder / "out")])
        assert took.code == 0, took.said
        site = folder / "out" / "site"
        files = [path for path in site.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        yield (
            f"{SYSTEMS} systems, {RULES:,} rules: {took.seconds:.0f} s, {took.processor_s:.0f} s of the processor "
            f"(target: under {SECONDS_WANTED:.0f}), {took.memory / 2**30:.2f} GiB (target: under 2); "
            f"{len(files):,} files, {size / 1e6:.0f} MB"
        )
        first = (site / "index.html").stat().st_size
        largest = max((path for path in files if path.suffix == ".html"), key=lambda path: path.stat().st_size)
        most = largest.stat().st_size
        view = first_view_ms(site / "index.html")
        yield (
            f"first page: {first / 1e3:.0f} kB, the largest {largest.relative_to(site)}: {most / 1e3:.0f} kB "
            f"(target: under {PAGE_WANTED / 1e3:.0f}), first view after {view:.0f} ms "
            f"(target: under {FIRST_VIEW_WANTED_MS:.0f})"
        )
        assert took.memory < MEMORY_WANTED
        assert took.seconds < SECONDS_WANTED
        assert most < PAGE_WANTED
        assert view < FIRST_VIEW_WANTED_MS
    finally:
        shutil.rmtree(folder)


def first_view_ms(page: Path) -> float:
    """Return the time in ms from the request of a page until Chromium first paints the page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto("about:blank")
        opened.goto(page.as_uri())
        painted: float = opened.evaluate(
            "() => performance.getEntriesByName('first-contentful-paint').map(each => each.startTime)[0]"
        )
        browser.close()
    return painted


def make_lake(folder: Path, systems: int) -> None:
    """Make ``folder``/lake with the given number of versions. The verdicts are invented; the rules and packets are
    real.
    """
    run = folder / "run"
    _real_run(folder, run)
    rules = json.loads((run / RULES_FILE).read_text(encoding="utf-8"))
    data = folder / "lake" / "data" / "c1"
    data.mkdir(parents=True)
    suites = "5" * 64
    with duckdb.connect(config={"threads": 2}) as database:
        _write_rules(database, folder, rules, suites)
        _write_pool(database, folder, run)
        database.execute("create table systems (s bigint, name varchar, version varchar, key varchar)")
        database.executemany("insert into systems values (?, ?, ?, ?)", [_system(each) for each in range(systems)])
        database.execute(INVENTED_TABLES_QUERY.format(folder=folder, systems=systems))
        values = {"run_folder": run.as_uri(), "suites": suites, "last": (RUNS_EACH - 1) * systems}
        for table, query in TABLES.items():
            columns = ", ".join(
                _cast(name, kind)
                for name, kind in (COLUMN_TYPES_BY_FACT_TABLE | COLUMN_TYPES_BY_DERIVED_TABLE)[table].items()
            )
            unit, how = "", ""
            if table in COLUMN_TYPES_BY_DERIVED_TABLE:
                unit = {"changes": ", replace(sut_name, ' ', '-')", "pairs": ", a"}.get(table, ", sut") + " as unit"
                how = ", partition_by (unit)"
            (data / table).mkdir()
            target = data / table if how else data / table / "part.parquet"
            database.execute(
                f"copy (select {columns}{unit} from ({query.format(**values)})) to '{target}' (format parquet{how})"
            )
        for table, name in (("catalogue", "rules"), ("suites", "suites")):
            (data / table).mkdir()
            shutil.move(folder / name, data / table / "part.parquet")
        known = database.execute("select run, ingest, key, name from runs order by ingest").fetchall()
    _write_manifest(folder, data, run.as_uri(), suites, known)


def _system(number: int) -> tuple[int, str, str, str]:
    name, version = f"Product {number // VERSIONS}", f"1.{number % VERSIONS}"
    return number, name, version, build_system_key(name, version, "none")


def _real_run(folder: Path, run: Path) -> None:
    sut = folder / "sut.toml"
    sut.write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
    command = [sys.executable, "-m", "mqconform", "run", "--sut", str(sut), "--out", str(run), "-k", _SELECTION]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _write_rules(database: duckdb.DuckDBPyConnection, folder: Path, rules: dict[str, object], suites: str) -> None:
    named = rules["rules"]
    assert isinstance(named, dict)
    rows = [{"suites": suites, "rule": rule, **row} for rule, row in list(named.items())[:RULES]]
    documents = [{"suites": suites, **{key: rules[key] for key in ("documents", "coverage", "members")}}]
    for table, name, values in (("catalogue", "rules", rows), ("suites", "suites", documents)):
        source = folder / f"{name}.json"
        source.write_text(json.dumps(values), encoding="ascii")
        kinds = {each: _duckdb_type(kind) for each, kind in COLUMN_TYPES_BY_FACT_TABLE[table].items()}
        database.execute(
            f"copy (select * from read_json('{source}', columns = {kinds!r})) to '{folder / name}' (format parquet)"
        )


def _write_pool(database: duckdb.DuckDBPyConnection, folder: Path, run: Path) -> None:
    """Store the packets of real verdicts as evidence for the invented verdicts."""
    rows = []
    for line in (run / VERDICTS_FILE).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not (row.get("evidence") and row.get("test")):
            continue
        packets = [dict(zip(("frame", "first", "last"), each, strict=False)) for each in row["evidence"][:8]]
        evidence = [{"position": place, **each} for place, each in enumerate(packets)]
        rows.append({"test": row["test"], "capture": get_capture_path(row["test"]), "evidence": evidence})
    source = folder / "pool.json"
    source.write_text(json.dumps(rows), encoding="ascii")
    kinds = {
        "test": "varchar",
        "capture": "varchar",
        "evidence": _duckdb_type(COLUMN_TYPES_BY_DERIVED_TABLE["rule_current"]["evidence"]),
    }
    database.execute(
        f"copy (select * from read_json('{source}', columns = {kinds!r})) to '{folder / 'pool'}' (format parquet)"
    )


def _cast(name: str, kind: str) -> str:
    return f'"{name}"::{_duckdb_type(kind)} as "{name}"'


def _duckdb_type(kind: str) -> str:
    """Return a Spark type in the notation of duckdb."""
    if kind.startswith("array<"):
        return _duckdb_type(kind[6:-1]) + "[]"
    if kind.startswith("map<"):
        return f"map({kind[4:-1]})"
    if kind.startswith("struct<"):
        fields = (each.split(": ") for each in kind[7:-1].split(", "))
        return "struct(" + ", ".join(f'"{name}" {type_}' for name, type_ in fields) + ")"
    return {"string": "varchar"}.get(kind, kind)


def _write_manifest(folder: Path, data: Path, run: str, suites: str, known: list[tuple[str, int, str, str]]) -> None:
    tables = tuple(table.name for table in sorted(data.iterdir()) if table.name in COLUMN_TYPES_BY_FACT_TABLE)
    manifest = Manifest(
        number=1,
        commits=(IngestCommit("c1", tuple(row[0] for row in known), tables),),
        runs={
            name: IngestedRun("c1", ingest, run, 6_000_000, 1, name, 16_000, sut, product)
            for name, ingest, sut, product in known
        },
        derived={
            table: {unit.name.removeprefix("unit="): "c1" for unit in (data / table).iterdir()}
            for table in COLUMN_TYPES_BY_DERIVED_TABLE
            if (data / table).exists()
        },
        catalogues={suites: "c1"},
        last_ingest=len(known),
    )
    manifests = folder / "lake" / "manifests"
    manifests.mkdir()
    (manifests / "00000001.json").write_text(json.dumps({"schema": 1, **asdict(manifest)}), encoding="ascii")
