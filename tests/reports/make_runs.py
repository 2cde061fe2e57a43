"""Makes run folders as the harness writes them: runs of three SUTs, one of them hostile, and damaged files.

`python tests/reports/make_runs.py DIR` writes the folders, for an inspection of the resulting site.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

SECTIONS = {
    ("MQQB", "2.1.1"): ("Protocol Session", 3),
    ("MQQB", "2.1.2"): ("Ping Message", 6),
    ("MQQB", "2.2.1"): ("InternalHeader", 17),
    ("MQQB", "2.2.2"): ("ConnectionParameters Packet", 9),
    ("MQQB", "2.2.2.1"): ("ConnectionParametersHeader", 14),
    ("MQQB", "2.2.3"): ("EstablishConnection Packet", 8),
    ("MQQB", "2.2.3.1"): ("EstablishConnectionHeader", 22),
    ("MQQB", "2.2.6"): ("SessionAck Packet", 11),
    ("MQQB", "2.2.7"): ("Ping Packet", 18),
    ("MQQB", "3.1.3.2"): ("Session Initialization", 26),
    ("MQQB", "3.1.5.1"): ("Receiving Any Packet", 12),
    ("MQQB", "3.1.5.2"): ("Establishing a Session", 31),
    ("MQQB", "3.1.5.3"): ("Receiving an EstablishConnection Packet", 29),
    ("MQQB", "3.1.5.4"): ("Receiving a ConnectionParameters Packet", 24),
    ("MQQB", "3.1.5.5.5"): ("Validate Message Counts", 3),
    ("MQQB", "3.1.5.9"): ("Closing a Session", 13),
    ("MQQB", "3.1.5.10"): ("Handling an Incoming Transport Connection", 7),
    ("MQQB", "3.1.6.4"): ("Session Ack Send Timer Event", 19),
    ("MQQB", "3.1.7.8"): ("Ping Request", 15),
    ("MQMQ", "2.2.19.1"): ("BaseHeader", 34),
    ("MQMQ", "2.2.20.4"): ("SessionHeader", 31),
}
HOSTILE_NAME = "<script>window.pwned=1</script>"
HOSTILE_VERSION = "\"><img src=x onerror='window.pwned=2'>"
HOSTILE_TEXTS = (
    "<script>window.pwned=3;alert(1)</script>",
    '"><img src=x onerror="window.pwned=4">',
    "</pre></bdi><svg onload=window.pwned=5>",
    "javascript:alert(6)",
    "{{ 7*7 }}{% raw %}",
    "\u202egnirts a\u202c \u2067with direction marks\u2069 \x1b[31mand escapes\x00\ud800",
    "long " * 2_000,
    "[bold red]markup[/bold red] 'quotes' & ampersands",
)
HOSTILE_CAPTURES = (
    "../../etc/passwd",
    "/etc/passwd",
    "captures/../../outside.pcapng",
    "captures/leads-out.pcapng",
    "x" * 5_000,
)
ESTABLISH = bytes.fromhex("10c00b004c494f523c020000ffffffff00000200") + bytes(range(64)) * 8 + bytes(24)
SESSION_ACK = bytes.fromhex(
    "105a0b004c494f5224000000ffffffff00000400 01000000 00000000 00000000 4000 0000".replace(" ", "")
)
DISSECTION = """###[ BaseHeader ]###
  VersionNumber = 0x10
  Reserved      = 0x5a
  Flags         = PR=3
  Signature     = 0x524f494c
  PacketSize    = 36
  TimeToReachQueue = INFINITE
###[ InternalHeader ]###
  PT            = SessionAck
###[ SessionHeader ]###
  AckSequenceNumber = 1
  WindowSize    = 64"""


TITLES = {"MQQB": "Message Queuing Binary Protocol", "MQMQ": "Data Structures"}


@dataclass
class MadeRun:
    """A run folder, and the numbers that a correct roll-up has for it."""

    folder: Path
    run: str
    sut: str
    version: str
    lines: int = 0
    broken: dict[int, str] = field(default_factory=dict)
    """The words that the reason must contain, by the number of the rejected line."""


def catalogue() -> dict[str, dict[str, object]]:
    """Return a catalogue of about 350 rules."""
    rules: dict[str, dict[str, object]] = {}
    for (document, section), (title, count) in SECTIONS.items():
        for number in range(1, count + 1):
            rule = f"{document}-{section}-{number:02d}"
            observe = ("wire", "passive", "control", "wire", "none")[number % 5]
            rules[rule] = {
                "document": document,
                "section": section,
                "title": title,
                "level": "SHOULD" if number % 7 == 0 else "MUST NOT" if number % 11 == 0 else "MUST",
                "form": "step" if number % 3 else "rule",
                "observe": observe,
                "observed": f"by way of {observe}",
                "role": "acceptor" if number % 2 else "initiator",
                "says": f"The {title.lower()} keeps to part {number}: the field carries what the sender counted.",
                "why": "only the inside of the system would show it" if observe == "none" else None,
                "link": f"https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-{document.lower()}/{section}",
            }
    return rules


MEMBER = {
    "name": "MQCN",
    "title": "Change Notification",
    "exercised": "Nothing.",
    "reference": "Sends none.",
    "left_out": "Its packets.",
}


def coverage(rules: dict[str, dict[str, object]]) -> list[dict[str, object]]:
    """Return the coverage that the harness would write: all observable rules are checked, and half of these
    are proven.
    """
    found: dict[tuple[object, ...], dict[str, object]] = {}
    for row in rules.values():
        demand = str(row["level"]).split()[0]
        counts = found.setdefault(
            (row["document"], row["section"], demand),
            {key: row.get(key, "") for key in ("document", "section", "title")}
            | {"demand": demand, "rows": 0, "catalogued": 0, "checked": 0, "proven": 0, "none": 0},
        )
        for key in ("rows", "catalogued", "none" if row.get("observe") == "none" else "checked"):
            counts[key] = int(str(counts[key])) + 1
        counts["proven"] = int(str(counts["checked"])) // 2
    return list(found.values())


def make_run(
    folder: Path,
    name: str,
    version: str,
    *,
    seed: int = 1,
    rules: dict[str, dict[str, object]] | None = None,
    verdicts: int = 700,
    failing: float = 0.05,
    started: datetime = datetime(2026, 11, 21, 10, 0, tzinfo=UTC),
    hostile: bool = False,
    reach: str = "process",
) -> MadeRun:
    """Write one run folder; every rule is judged at least once if the number ``verdicts`` is large enough."""
    chance = random.Random(seed)
    rules = catalogue() if rules is None else rules
    run = f"{folder.name}-{started:%Y%m%d-%H%M%S}"  # so that names do not sort by time
    folder.mkdir(parents=True)
    (folder / "captures").mkdir()
    _write_json(
        folder / "rules.json",
        {"schema": 1, "documents": TITLES, "rules": rules, "coverage": coverage(rules), "members": [MEMBER]},
    )
    sut = {
        "name": name,
        "vendor": HOSTILE_TEXTS[1] if hostile else "Contoso Ltd",
        "version": version,
        "profile": "none",
    }
    _write_json(
        folder / "run.json",
        {
            "schema": 1,
            "run": run,
            "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
            "finished": None if hostile else f"{started + timedelta(minutes=2):%Y-%m-%dT%H:%M:%SZ}",
            "sut": sut,
            "reach": reach,
            "harness": "0.1.0",
            "selection": "",
            "exit": None if hostile else 1,
        },
    )
    if hostile:
        outside = folder.parent / "outside.pcapng"
        outside.write_bytes(b"not yours")
        (folder / "captures" / "leads-out.pcapng").symlink_to(outside)
    with (folder / "verdicts.jsonl").open("w", encoding="utf-8") as file:
        for seq in range(1, verdicts + 1):
            line = _verdict(chance, folder, run, name, version, seq, rules, failing, started, hostile, reach)
            file.write(json.dumps(line) + "\n")
    return MadeRun(folder, run, name, version, verdicts)


def damage(made: MadeRun) -> None:
    """Damage lines of the verdict file in every way that occurs, and cut off its last line."""
    path = made.folder / "verdicts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()

    def changed(**values: object) -> str:
        return json.dumps(json.loads(lines[0]) | values)

    spoiled = [
        ("", "empty line"),
        ("{not json", "the line is not a JSON object"),
        ("[1, 2]", "the line is not a JSON object"),
        ("null", "the line is not a JSON object"),
        (lines[0] + lines[1], "the line is not a JSON object"),
        (lines[0] + " tail", "the line is not a JSON object"),
        (changed(seq="many"), "the line is not a JSON object"),
        (changed(evidence=[{"frame": "first"}]), "the line is not a JSON object"),
        ('{"a":' * 2_000, "the line is not a JSON object"),
        (changed(schema=2), "schema is not 1"),
        (changed(rule=None), "rule is missing"),
        (changed(sut=""), "sut is missing"),
        (changed(verdict="splendid"), "unknown verdict splendid"),
        (changed(document="../../etc"), "unknown document ../../etc"),
        (changed(run="another"), "belongs to another run: another"),
    ]
    middle = len(lines) // 2
    made.broken = {middle + 1 + index: why for index, (_, why) in enumerate(spoiled)}
    lines[middle:middle] = [line for line, _ in spoiled]
    made.broken[len(lines)] = "cut off in the middle"
    made.lines = len(lines)
    path.write_text("\n".join(lines)[: -len(lines[-1]) // 2], encoding="utf-8")


def make_all(folder: Path, verdicts: int = 700) -> list[MadeRun]:
    """Write the usual four runs: one of the reference, two of Contoso (the older one with more failures), and a hostile
    one with damaged lines.
    """
    day = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
    runs = [
        make_run(folder / "reference", "mqconform reference", "0.1.0", failing=0, verdicts=verdicts, reach="virtual"),
        make_run(folder / "contoso-old", "Contoso", "1.0", seed=2, failing=0.5, verdicts=verdicts),
        make_run(
            folder / "contoso",
            "Contoso",
            "1.0",
            seed=3,
            failing=0.03,
            verdicts=verdicts,
            started=day + timedelta(days=1),
        ),
        make_run(
            folder / "hostile [x] a+b%20ü", HOSTILE_NAME, HOSTILE_VERSION, seed=4, verdicts=verdicts, hostile=True
        ),
    ]
    damage(runs[-1])
    return runs


def _verdict(chance, folder, run, name, version, seq, rules, failing, started, hostile, reach):
    rule, row = list(rules.items())[(seq - 1) % len(rules)]
    verdict = _kind(chance, row, failing)
    test = f"suites/mqqb/test_{row['section'].replace('.', '_')}.py::test_{rule[-2:]}[{seq}]"
    capture = f"captures/test_{rule}_{seq % 40}.pcapng"
    bad = verdict in ("fail", "warn")
    observed = "the session stayed open" if bad else "closed"
    if hostile:
        observed = chance.choice(HOSTILE_TEXTS)
        capture = chance.choice((*HOSTILE_CAPTURES, capture))
        test = chance.choice((test, HOSTILE_TEXTS[0]))
    target = folder / capture
    if capture.startswith("captures/test_") and not target.exists():
        target.write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(24))
    frames = [
        _frame(3, 12, "peer->sut", ESTABLISH if seq % 2 else SESSION_ACK, DISSECTION),
        _frame(4, 1034, "sut->peer", SESSION_ACK, HOSTILE_TEXTS[2] if hostile else DISSECTION),
    ]
    if hostile and seq % 5 == 0:
        frames[0]["hex"] = HOSTILE_TEXTS[0]
    return {
        "schema": 1,
        "run": run,
        "seq": seq,
        "time": f"{started + timedelta(milliseconds=seq * 37):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
        "sut": name,
        "sut_version": version,
        "reach": reach,
        "rule": rule,
        "document": row["document"],
        "section": row["section"],
        "level": row["level"],
        "verdict": verdict,
        "expected": "the session is closed and nothing more is sent",
        "observed": observed,
        "reason": "the counts differ by one, so 3.1.5.5.5 closes the session" if bad else None,
        "test": None if row["observe"] == "passive" else test,
        "capture": None if verdict in ("not_applicable", "not_observable") else capture,
        "evidence": [] if verdict.startswith("not_") else frames,
        "errata": ["E25"] if seq % 17 == 0 else [],
        "notes": ["answered after the session was closed"] if seq % 29 == 0 else [],
    }


def _kind(chance, row, failing):
    if row["observe"] == "none":
        return "not_observable"
    if chance.random() < failing:
        return "warn" if row["level"] == "SHOULD" else "fail"
    return chance.choices(
        ("pass", "not_applicable", "inconclusive", "harness_error"),
        (96, 2.5, 1 if failing else 0, 0.5 if failing else 0),
    )[0]


def _frame(number, time_ms, direction, data, dissection):
    return {
        "frame": number,
        "time_ms": time_ms,
        "direction": direction,
        "transport": "tcp",
        "hex": data.hex(),
        "dissection": dissection,
    }


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


if __name__ == "__main__":
    make_all(Path(sys.argv[1]))
