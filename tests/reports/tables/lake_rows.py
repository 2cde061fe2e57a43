"""Makes lakes by hand or at random: rows of facts, written as Parquet for Spark and for duckdb."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from reports.lake import changes, current, derived, facts
from reports.lake.manifest import Manifest
from reports.lake.schemas import build_table_ddl
from reports.vocabulary import VERDICT_NAMES

FACTS = ("runs", "suites", "catalogue", "verdicts", "evidence")
DAY = datetime(2026, 11, 1, tzinfo=UTC)
SUITES = "suites-1"


class MadeLake:
    """The rows of the facts. The method `run` adds a run with its verdicts, in the order of ingest."""

    def __init__(self) -> None:
        self.rows = {name: [] for name in FACTS}

    def catalogue(self, suites, checks, role="any"):
        """Add a catalogue: the checks of each rule, or None if the run folder names no checks."""
        for rule, names in checks.items():
            document, section, _ = rule.split("-")
            self._add(
                "catalogue", suites=suites, rule=rule, document=document, section=section, level="MUST", role=role,
                checks=names,
            )  # fmt: skip

    def run(self, system, *judged, suites=SUITES, **values):
        """Add a run of a system (name, version, profile), and return the number of the run.

        ``judged``: tuples (test, rule, verdict) or (test, rule, verdict, {columns}).
        """
        number = len(self.rows["runs"]) + 1
        name, version, profile = (*system, *("1.0", "none")[len(system) - 1 :])
        run = {
            "run": f"run-{number}",
            "ingest": number,
            "sut": "-".join((name, version, profile)).lower(),
            "sut_name": name,
            "sut_version": version,
            "profile": profile,
            "reach": "process",
            "started": DAY + timedelta(hours=number),
            "suites": suites,
            "partial": False,
            "harness": "0.1.0",
        } | values
        self._add("runs", **run)
        for seq, line in enumerate(judged, start=1):
            self._line(run, seq, *line)
        return number

    def _line(self, run, seq, test, rule, verdict, columns=None):
        columns = dict(columns or {})
        packets, again = columns.pop("packets", 0), columns.pop("again", 0)
        document, section, _ = rule.split("-")
        line = {
            name: run[name]
            for name in ("run", "ingest", "sut", "sut_name", "sut_version", "profile", "reach", "started")
        }
        line |= {"seq": seq, "time": run["started"], "rule": rule, "document": document, "section": section}
        line |= {"level": "MUST", "verdict": verdict, "expected": "closed", "observed": verdict, "test": test}
        for _ in range(1 + again):
            self._add("verdicts", **(line | {"errata": [], "notes": []} | columns))
        for position in range(packets):
            self._add(
                "evidence", run=run["run"], seq=seq, position=position, frame=seq * 100 + position, first=4, last=7
            )

    def _add(self, table, **values):
        self.rows[table].append(values)

    def write(self, spark, folder: Path) -> Tables:
        for name in FACTS:
            (folder / name).mkdir(parents=True)
            schema = to_arrow_schema(StructType.fromDDL(build_table_ddl(name)), timezone="UTC")
            rows = pa.Table.from_pylist(self.rows[name], schema)
            pq.write_table(rows, folder / name / "part-0.parquet")
        return Tables(spark, folder)


class Tables:
    """The tables of a lake, computed by Spark; each is computed once and stored as Parquet."""

    def __init__(self, spark, folder: Path) -> None:
        self.spark, self.folder, self.manifest = spark, folder, Manifest()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self.spark.read.schema(build_table_ddl(name)).parquet(str(self.folder / name))

    def table(self, name):
        """Return a table as `reports.lake.store.Lake` does."""
        return getattr(self, name)

    def make(self, name):
        """Compute a derived table and store it."""
        frame = {
            "test_runs": lambda: facts.derive_test_runs(self.verdicts, self.runs),
            "rule_runs": lambda: facts.derive_rule_runs(self.test_runs, self.runs),
            "rule_current": lambda: current.derive_rule_current(
                self.test_runs, self.runs, self.catalogue, self.verdicts, self.evidence
            ),
            "changes": lambda: changes.derive_changes(
                changes.list_check_events(self.test_runs, self.runs, self.catalogue), self.runs
            ),
            "flaky": lambda: derived.find_flaky_checks(self.test_runs, self.runs),
            "matrix": lambda: derived.derive_matrix_table(self.rule_current),
            "pairs": lambda: derived.derive_pair_exchanges_table(self.rule_current, self.runs, self.catalogue),
        }[name]()
        frame.write.parquet(str(self.folder / name))
        return getattr(self, name)


DERIVED = ("test_runs", "rule_runs", "rule_current", "changes", "flaky", "matrix", "pairs")


def make_all(made: MadeLake, spark, folder: Path) -> Tables:
    tables = made.write(spark, folder)
    for name in DERIVED:
        tables.make(name)
    return tables


def add_random_runs(made: MadeLake, seed: int, runs: int = 40, lines: int = 100) -> MadeLake:
    """Add random runs with several versions and profiles, changing suites, and partial runs."""
    dice = random.Random(seed)
    rules = [f"MQQB-2.{section}-{number:02d}" for section in (1, 2, 10) for number in range(1, 5)]
    functions = [f"mqqb/s2/test_{number}.py::test_{number}" for number in range(6)]
    tests = [*functions, *(f"{functions[0]}[{each}]" for each in ("a", "b[c]")), None]
    for suites in ("random-1", "random-2", "random-3"):
        known = {rule: dice.choice([None, [], dice.sample(functions, 1), dice.sample(functions, 3)]) for rule in rules}
        made.catalogue(suites, {rule: known[rule] for rule in dice.sample(rules, 10)})
    systems = [
        (name, version, profile)
        for name in ("Contoso", "Ünïcode <b>")
        for version in ("1", "2")
        for profile in ("", "xp")
    ]
    suites = {system[0]: "random-1" for system in systems}
    for _ in range(runs):
        system = dice.choice(systems)
        if dice.random() < 0.25:
            suites[system[0]] = dice.choice(["random-1", "random-2", "random-3", "nobody has them"])
        weights = dice.choice([(1, 0, 1, 1, 9, 1, 0, 1), (1,) * 8, (0, 0, 0, 0, 1, 0, 0, 0)])
        judged = [
            (
                dice.choice(tests),
                dice.choice(rules),
                *dice.choices(VERDICT_NAMES, weights),
                {
                    "packets": dice.choice([0, 0, 1, 12]),
                    "again": dice.choice([0, 0, 0, 2]),
                    "expected": dice.choice(["closed", None]),
                    "observed": dice.choice(["open", None, "closed"]),
                    "reason": dice.choice([None, "late"]),
                    "notes": dice.choice([[], ["n"]]),
                },
            )
            for _ in range(dice.choice([lines // 10, lines, lines * 2]))
        ]
        made.run(
            system, *judged, suites=suites[system[0]], partial=dice.random() < 0.3, harness=dice.choice(["1", "2"])
        )
    return made
