"""Small roll-ups made by hand, for what needs no Spark."""

from datetime import UTC, datetime
from pathlib import Path

from reports.model import Cell, Frame, Judgement, Rejected, Rollup, Rule, Run, RunTotals, Sut

CONTOSO = Sut("Contoso", "1.0")
FABRIKAM = Sut("Fabrikam", "2.2")


def rule(number, section="2.1.1", **values):
    name = f"MQQB-{section}-{number:02d}"
    words = {
        "title": "Session",
        "level": "MUST",
        "form": "rule",
        "observe": "wire",
        "role": "acceptor",
        "why": "",
        "link": "",
    }
    return Rule(name, "MQQB", section, **({"says": f"says {number}"} | words | values))


def frame(number, **values):
    words = {"direction": "sut->peer", "transport": "tcp", "hex": "10c0", "octets": 2, "dissection": f"frame {number}"}
    return Frame(**({"frame": number, "time_ms": 5} | words | values))


def judgement(seq, verdict, frames=(), **values):
    words = dict.fromkeys(("expected", "observed", "reason", "test", "capture"), "")
    words |= {"level": "MUST", "reach": "virtual", "errata": (), "notes": ()}
    return Judgement(**({"seq": seq, "verdict": verdict, "evidence": tuple(frames)} | words | values))


def cell(of, sut, *shown, run="r1"):
    counts = {}
    for each in shown:
        counts[each.verdict] = counts.get(each.verdict, 0) + 1
    return Cell(of.rule, of.document, of.section, sut, run, counts, shown)


def run(name, sut, rules, folder=Path("/nowhere"), day=1):
    started = datetime(2026, 11, day, tzinfo=UTC)
    catalogue = {each.rule: each for each in rules}
    return Run(folder, name, started, None, sut, "vendor", "none", "virtual", "0.1.0", "", None, catalogue)


def rollup(runs, cells, rejected=()):
    totals = {each.run: RunTotals({}, 0) for each in runs}
    bad = tuple(Rejected("/runs/x", line, why) for line, why in rejected)
    return Rollup(tuple(runs), totals, tuple(cells), bad, len(bad))
