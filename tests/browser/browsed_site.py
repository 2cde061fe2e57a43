"""Writes a site for the browser tests: every kind of page, for four systems of which one is hostile. The data are
records made by hand, so the tests need no Spark.
"""

from dataclasses import replace
from itertools import cycle

import make_runs
from made import contents, day, frame, rule, run, standing, written
from make_runs import HOSTILE_NAME, HOSTILE_TEXTS, HOSTILE_VERSION

from reports.errata import load_errata
from reports.model import Change, CoverageOfSection, Pair, ProtocolWithoutRules, System, UndecidedVerdictAfterDecision

OLD, NEW = System("Contoso", "1.0", "none", 1), System("Contoso", "1.1", "none", 2)
OTHER, HOSTILE = System("Fabrikam", "2.2", "2003", 3), System(HOSTILE_NAME, HOSTILE_VERSION, HOSTILE_NAME, 4)
SYSTEMS = (OLD, NEW, OTHER, HOSTILE)
VERDICTS = ("pass", "pass", "pass", "fail", "pass", "inconclusive", "warn", "pass", "not_exercised", "harness_error")


def made_site(folder):
    """Write the site below ``folder``, and return its path."""
    rows = make_runs.catalogue()
    rules = [_rule(name, row) for name, row in rows.items()]
    standings = [
        _standing(number, position, each, system)
        for number, each in enumerate(rules)
        for position, system in enumerate(SYSTEMS)
        if each.observe != "none" and (system is not OTHER or each.document == "MQQB")
    ]
    runs = [
        run("r-old", OLD, 1, counts={"pass": 200, "fail": 40}),
        run("r-older", OLD, 2, counts={"pass": 190, "fail": 50}, partial=True, selection="-k mqqb"),
        run("r-new", NEW, 3, counts={"pass": 210, "fail": 30}),
        run("r-other", OTHER, 4, aborted="cut off in the middle", finished=None),
        run(HOSTILE_TEXTS[0], HOSTILE, 5, vendor=HOSTILE_TEXTS[1], folder=HOSTILE_TEXTS[2], selection=HOSTILE_TEXTS[7]),
    ]
    changes = [
        Change("Contoso", "none", rules[0].rule, "r-new", day(3), "1.1", "fail", "1.0", "pass", "newly failing"),
        Change(HOSTILE_NAME, HOSTILE_NAME, rules[1].rule, "r-evil", day(3), HOSTILE_VERSION, "fail", "", "", "added"),
    ]
    made = contents(
        SYSTEMS, rules, standings, runs, [(17, HOSTILE_TEXTS[0]), (18, "empty line")], changes,
        coverage=tuple(CoverageOfSection(**row) for row in make_runs.coverage(rows)),
        members=(ProtocolWithoutRules(**make_runs.MEMBER),),
        titles=make_runs.TITLES,
        pairs=(
            Pair(NEW.key, NEW.label, HOSTILE.key, HOSTILE.label, "sender", {"pass": 9, "fail": 2}),
            Pair("gone", HOSTILE_TEXTS[1], NEW.key, NEW.label, HOSTILE_TEXTS[0], {"pass": 9}),
        ),
    )  # fmt: skip
    site, missing = written(folder, made, errata=load_errata())
    assert missing
    return site


def _rule(name, row):
    words = {key: value or "" for key, value in row.items()}
    return replace(rule(1), rule=name, checked=row["observe"] != "none", **words)


def _standing(number, position, of, system):
    turn = cycle(HOSTILE_TEXTS)
    verdict = VERDICTS[(number * 7 + position * (number % 3)) % len(VERDICTS)] if of.section != "2.1.2" else "pass"
    packets = [
        frame(3, hex=make_runs.ESTABLISH.hex(), octets=len(make_runs.ESTABLISH), dissection=make_runs.DISSECTION),
        frame(
            4,
            hex=make_runs.SESSION_ACK.hex(),
            octets=36,
            dissection="PT = 4",
            first=4,
            last=7,
            deciding_text_ranges=((0, 2),),
        ),
    ]
    if system is not HOSTILE:
        return standing(
            of, system, verdict, packets, expected="closed", observed="kept open",
            reason="" if verdict in ("pass", "fail") else "no answer within 900 ms", run=f"r-{system.version}",
            test="suites/mqqb/s2_1_1_protocol_session/test_protocol_session.py::test_a_session_is_closed",
            errata=("E14",) if number % 9 == 0 else (), retired=number % 40 == 0,
            later_undecided_verdicts=(
                (UndecidedVerdictAfterDecision("inconclusive", "r-old", day(4), "", "it was slow"),)
                if number % 25 == 0
                else ()
            ),
        )  # fmt: skip
    words = {key: next(turn) for key in ("expected", "observed", "reason", "test", "reach", "run")}
    evil = frame(number, direction=next(turn), transport=next(turn), hex=HOSTILE_TEXTS[0], dissection=HOSTILE_TEXTS[1])
    return standing(
        of, system, verdict, [evil], errata=(HOSTILE_TEXTS[number % 8],), notes=HOSTILE_TEXTS, partial=True,
        capture=make_runs.HOSTILE_CAPTURES[number % 5] if number % 3 == 0 else "",
        later_undecided_verdicts=(
            UndecidedVerdictAfterDecision("inconclusive", HOSTILE_TEXTS[0], day(2), HOSTILE_TEXTS[1], HOSTILE_TEXTS[2]),
        ),
        **words,
    )  # fmt: skip
