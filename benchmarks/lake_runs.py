"""Makes run folders for the benchmarks of the lake. Their lines have the number and the lengths of the lines of a
complete run.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

RULES, CHECKS, VERDICTS = 2_878, 1_380, 15_400
"""The numbers of rules, checks and lines of a complete run."""
PRODUCTS, VERSIONS = 10, 20
"""The number of systems, and the number of versions of each system."""
RUNS_OF_SUITES = 25
"""The number of runs between two changes of the suites."""
DOCUMENTS = {"MQQB": 1_006, "MQDMPR": 817, "MQQP": 438, "MQMQ": 368, "MQSO": 249}
"""The number of rules of each document. The sum of these numbers is `RULES`."""
RENAMED = 175
"""The number N that determines the renames: each version of the suites renames one of N checks."""
WORDS = (
    "session",
    "acknowledgement",
    "sequence",
    "counter",
    "receiver",
    "initiates",
    "window",
    "refused",
    "transfer",
    "queue",
    "journal",
    "dead",
    "letter",
    "recoverable",
    "express",
    "priority",
    "packet",
    "header",
    "reserved",
    "zero",
    "octets",
    "timer",
    "expires",
    "quota",
    "property",
    "directory",
    "enlists",
)


class Runs:
    """Run folders of schema 2. All runs with the same version of the suites share a verdict file through links."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made = 0
        (folder / "shared").mkdir(parents=True)

    def more(self, count: int) -> list[str]:
        """Make the given number of further run folders, and return their paths."""
        return [str(self._one()) for _ in range(count)]

    def _one(self) -> Path:
        number, self.made = self.made, self.made + 1
        started = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        rules, verdicts = self._make_shared(number // RUNS_OF_SUITES)
        folder = self.folder / f"run-{number}"
        folder.mkdir()
        os.link(rules, folder / "rules.json")
        os.link(verdicts, folder / "verdicts.jsonl")
        product, version = number % PRODUCTS, number // PRODUCTS % VERSIONS
        sut = {"name": f"Contoso Queueing {product}", "vendor": "Contoso", "version": f"1.{version}", "profile": "none"}
        (folder / "run.json").write_text(
            json.dumps(
                {"schema": 2, "run": f"{started:%Y%m%dT%H%M%SZ}-contoso-{number}"}
                | {"started": f"{started:%Y-%m-%dT%H:%M:%SZ}"}
                | {"finished": f"{started + timedelta(minutes=9):%Y-%m-%dT%H:%M:%SZ}"}
                | {"suites": hashlib.sha256(rules.read_bytes()).hexdigest(), "sut": sut}
                | {"reach": "process", "harness": "0.1.0", "selection": "all", "aborted": None, "exit": 1}
            ),
            encoding="ascii",
        )
        return folder

    def _make_shared(self, suites: int) -> tuple[Path, Path]:
        rules, verdicts = (self.folder / "shared" / f"{suites}-{name}" for name in ("rules.json", "verdicts.jsonl"))
        if not rules.exists():
            rules.write_text(json.dumps(_rules(suites)), encoding="ascii")
            _write_verdicts(verdicts, suites)
        return rules, verdicts


def _rules(suites: int) -> dict[str, object]:
    rows = {}
    for number, name in enumerate(NAMES):
        document, section, _ = name.split("-")
        chance = random.Random(number)
        rows[name] = {
            "document": document,
            "section": section,
            "title": _words(chance, 3).title(),
            "level": "SHOULD" if number % 9 == 0 else "MUST",
            "form": "rule",
            "kind": "demand",
            "twin": None,
            "observe": "wire",
            "observed": "in an exchange of packets that a check drives",
            "role": "acceptor" if number % 3 else "any",
            "says": f"When the {_words(chance, 5)}, the {_words(chance, 4)} is as the sender counted.",
            "why": None,
            "link": f"https://learn.microsoft.com/openspecs/windows_protocols/ms-{document.lower()}/{number:032x}",
            "checked": True,
            "proven": True,
            "checks": sorted({_check(step, suites) for step in range(number, VERDICTS, RULES)}),
        }
    documents = {document: f"Message Queuing ({document}) Protocol" for document in DOCUMENTS}
    return {"schema": 2, "documents": documents, "rules": rows, "coverage": [], "members": []}


def _names() -> list[str]:
    names = []
    for document, count in DOCUMENTS.items():
        for number in range(count):
            part, rest = divmod(number, 100)
            names.append(f"{document}-3.1.{part}.{rest // 10}-{rest % 10:02d}")
    return names


NAMES = _names()


def _check(step: int, suites: int) -> str:
    """Return the id of the check of a line. Each version of the suites renames a few checks."""
    check = step % CHECKS
    chance = random.Random(check)
    part, what = _words(chance, 4).replace(" ", "_"), _words(chance, 5).replace(" ", "_")
    renamed = f"_since_{suites}" if check % RENAMED == suites % RENAMED else ""
    document = "mqqb" if check % 2 else "mqdmpr"
    return f"suites/{document}/s3_1_{check // 60:02d}_{part}/test_{part}.py::test_the_{what}_{check}{renamed}"


def _write_verdicts(path: Path, suites: int) -> None:
    """Write the verdicts of one run. Their fields have the lengths and frequencies that they have in runs of the
    reference.
    """
    chance = random.Random(suites)
    with path.open("w", encoding="ascii") as file:
        for seq in range(1, VERDICTS + 1):
            step = seq - 1
            verdict = chance.choices(("pass", "fail", "warn", "not_exercised", "inconclusive"), (90, 1, 1, 7, 1))[0]
            line: dict[str, object] = {"schema": 2, "seq": seq, "ms": seq * 31, "rule": NAMES[step % RULES]}
            says = random.Random(step % RULES)
            line |= {"verdict": verdict, "expected": f"{_words(says, 3)} is {says.randrange(0x10000)}"}
            if verdict in ("pass", "warn") and chance.random() < 0.4:
                line["observed"] = f"{line['expected']} (in {chance.randrange(1, 400)} packets)"
            elif verdict == "fail":
                line |= {"observed": f"closed after {chance.randrange(10_000)} ms", "reason": "the counts differ"}
            elif verdict in ("not_exercised", "inconclusive"):
                line |= {"observed": "nothing", "reason": "no packet had the subject of the rule"}
            line["test"] = f"{_check(step, suites)}[{step % 3}]"
            if verdict in ("pass", "warn", "fail"):
                frame = chance.randrange(1, 300)
                line["evidence"] = [[frame, 4, 7], *([[frame + 1]] if chance.random() < 0.15 else [])]
            if chance.random() < 0.08:
                line["errata"] = [f"E{chance.randrange(1, 60)}"]
            if chance.random() < 0.05:
                line["notes"] = [f"product behaviour <{chance.randrange(1, 90)}>"]
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(count))
