"""Small objects, made by hand for tests of the harness."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.capture.recorder import FROM_SUT_DIRECTION, TO_SUT_DIRECTION, Frame, Recorder
from harness.environment import VirtualEnvironment
from harness.judging.judge import Judge
from harness.judging.verdicts import EarlierVerdicts, VerdictLog, read_verdicts
from harness.rules.catalogue import Catalogue, Document, Rule
from harness.run_folder import RULES_FILE, RUN_FILE
from harness.sut.sut_file import SutFile, parse_sut_file
from harness.wire import session_ack
from reference_qm.surface.inputs import Endpoint

MUST = "MQQB-2.2.1-01"
SHOULD = "MQQB-2.2.1-02"
SHOULD_NOT = "MQQB-2.2.1-03"
SETTLED = "MQQB-2.2.1-04"
ON_THE_WIRE = "MQQB-2.2.1-05"
UNDER = "MQQB-2.2.1-06"
"""A MUST that depends on the rule ``SHOULD``."""
TEST = "suites/mqqb/test_made.py::test_made[a]"
OPEN: list[VerdictLog] = []
"""The open verdict files, which conftest.py closes when the test ends."""
STARTED = "2026-01-02T03:04:05Z"


def rule(name: str, level: str = "MUST", **changes: Any) -> Rule:
    document, section, number = name.split("-")
    values: dict[str, Any] = {
        "title": "Made",
        "form": "rule",
        "observe": "control",
        "role": "any",
        "says": "something",
        "why": None,
        "errata": (),
        "note": None,
        "link": "https://example.org/",
        "folder": "suites/mqqb/s2_2_1_made",
    }
    return Rule(name, document, section, number, level=level, **(values | changes))


def catalogue() -> Catalogue:
    rules = [
        rule(MUST),
        rule(SHOULD, "SHOULD"),
        rule(SHOULD_NOT, "SHOULD NOT"),
        rule(SETTLED, errata=("E01",), note="<50>"),
        rule(ON_THE_WIRE, observe="wire"),
        rule(UNDER, under=(SHOULD,)),
    ]
    return Catalogue(rules, {"MQQB": Document("MQQB", "Binary", "", {})}, {})


def log(folder: Path, recorded: EarlierVerdicts | None = None) -> VerdictLog:
    """Open a verdict file, and write run.json and rules.json next to it, because readers need them."""
    run = {"run": "run-1", "started": STARTED, "sut": {"name": "Contoso", "version": "1.0"}, "reach": "virtual"}
    (folder / RUN_FILE).write_text(json.dumps(run), encoding="utf-8")
    (folder / RULES_FILE).write_text(json.dumps({"rules": catalogue().to_rules_json()}), encoding="utf-8")
    made = VerdictLog(folder / "verdicts.jsonl", datetime.fromisoformat(STARTED), recorded)
    OPEN.append(made)
    return made


def judge(folder: Path, *covers: str, passes: Counter[str] | None = None) -> Judge:
    return Judge(catalogue(), log(folder), test=TEST, covers=covers, capture="captures/made.pcapng", passes=passes)


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the verdict file as its readers see them."""
    return list(read_verdicts(folder / "verdicts.jsonl"))


def written(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the verdict file as they are on disk."""
    return [json.loads(line) for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]


def frame(number: int = 1, *, from_sut: bool = True, data: bytes | None = None, kind: str = "SessionAck") -> Frame:
    data = bytes(session_ack(AckSequenceNumber=number)) if data is None else data
    return Frame(number, 10 * number, FROM_SUT_DIRECTION if from_sut else TO_SUT_DIRECTION, "tcp", data, kind)


def recorded(path: Path, *packets: bytes) -> list[int]:
    """Write a capture of packets that a SUT sends on one connection; return the frame of each packet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(VirtualEnvironment(), path)
    connection = recorder.record_opening(Endpoint("127.0.0.2", 50_000), Endpoint("127.0.0.1", 1801), by_peer=True)
    frames = recorder.record_received(connection, b"".join(packets))
    recorder.close()
    return [one.number for one in frames]


def sut_file(**changes: Any) -> SutFile:
    return parse_sut_file({"sut": {"name": "Contoso", "version": "1.0"}, "driver": {"kind": "virtual"}} | changes)
