"""Makes a lake in which each case of the definition of the current verdict (docs/reports.md) is a separate system."""

from __future__ import annotations

import json

from lake_rows import DAY, MadeLake

RULE, OTHER, PASSIVE = "MQQB-2.1-01", "MQQB-2.1-02", "MQQB-2.1-03"
KEPT, NEW = "MQQB-2.1-04", "MQQB-2.1-10"
A, B, C = "s/test_a.py::test_a", "s/test_b.py::test_b", "s/test_c.py::test_c"
TOPOLOGY = {
    "systems": {
        "sender": {"name": "alpha", "vendor": "v", "version": "1", "profile": "none"},
        "router": {"name": "alpha", "vendor": "v", "version": "1", "profile": "none"},
        "receiver": {"name": "beta", "version": "2"},
    }
}


def lake_of_cases() -> MadeLake:
    made = MadeLake()
    run = made.run
    made.catalogue("suites-1", {RULE: [A, B], OTHER: [C], PASSIVE: [], KEPT: [A], NEW: [B]})
    made.catalogue("renamed", {RULE: [B], PASSIVE: []})
    made.catalogue("schema-1", {RULE: None})

    run(("worst of the checks",), (A, RULE, "pass"), (B, RULE, "fail"))

    run(("latest of a check",), (A, RULE, "fail"), (B, RULE, "pass"))
    run(("latest of a check",), (A, RULE, "pass"))

    run(("partial run",), (A, RULE, "fail"), (B, RULE, "pass"))
    run(("partial run",), (B, RULE, "pass"), partial=True)

    run(("only a partial run",), (A, RULE, "pass"), partial=True, aborted="the SUT was lost")

    run(("weaker way",), (A, RULE, "pass"))
    run(("weaker way",), (A, RULE, "not_observable", {"reason": "no inspection"}), reach="external")

    run(("inconclusive",), (A, RULE, "fail"))
    run(("inconclusive",), (A, RULE, "inconclusive", {"reason": "too slow"}))
    run(("inconclusive",), (A, RULE, "harness_error"))

    run(("half decided",), (A, RULE, "pass"))
    run(("half decided",), (A, RULE, "pass"), (A, RULE, "inconclusive"))

    run(("never decided",), (A, RULE, "not_observable"))
    run(("never decided",), (A, RULE, "inconclusive"))
    run(("never decided",), (A, RULE, "not_exercised"))

    run(("beside of another check",), (A, RULE, "pass"))
    run(("beside of another check",), (B, RULE, "not_observable"))

    run(("rule retired",), (C, OTHER, "fail"), (A, RULE, "pass"))
    run(("rule retired",), (B, RULE, "pass"), suites="renamed")

    run(("check retired",), (A, RULE, "fail"), (B, RULE, "pass"))
    run(("check retired",), (C, PASSIVE, "pass"), suites="renamed")

    run(("all checks retired",), (A, RULE, "fail"))
    run(("all checks retired",), (C, PASSIVE, "pass"), suites="renamed")

    run(("passive",), (A, PASSIVE, "fail"), (B, PASSIVE, "warn"), (None, PASSIVE, "pass"))
    run(("passive",), (C, PASSIVE, "pass"), suites="renamed")

    run(("judged although unlisted",), (A, RULE, "pass"), (C, RULE, "fail"))

    run(("parameters",), (f"{A}[x]", RULE, "fail"), (f"{A}[y[z]]", RULE, "pass"), suites="suites-1")

    run(("no checks named",), (A, RULE, "fail"), (A, OTHER, "pass"), suites="schema-1")
    run(("no checks named",), (B, RULE, "pass"), suites="schema-1")

    run(("no catalogue",), (A, RULE, "fail"), suites="suites-1")
    run(("no catalogue",), (B, RULE, "pass"), suites="nobody has them")

    for profile, verdict in (("xp", "fail"), ("2003", "pass")):
        run(("profiles", "1.0", profile), (A, RULE, verdict))

    advice = {"advice": "followed"}
    run(("advice",), (A, RULE, "pass"), (B, RULE, "not_exercised", advice), (C, RULE, "not_exercised", advice))
    run(("advice",), (A, OTHER, "not_exercised", {"advice": "missed"}), (B, OTHER, "not_exercised", advice))
    run(("advice",), (A, PASSIVE, "pass"), (A, PASSIVE, "not_exercised", advice))

    run(("same line twice",), (A, RULE, "pass", {"again": 2, "packets": 1}), (A, RULE, "pass"))

    run(("clocks",), (A, RULE, "fail"), started=DAY.replace(year=2030))
    run(("clocks",), (A, RULE, "pass"), started=DAY.replace(year=2020))

    run(("unknown fields",), (A, RULE, "pass", {"extra": '{"colour":"blue"}'}))

    run(("packets",), (A, RULE, "fail", {"packets": 12, "notes": ["n"], "errata": ["E14"], "capture": "c.pcapng"}))
    run(("packets",), (A, RULE, "inconclusive", {"packets": 3}))

    for _ in range(4):
        run(
            ("many beside",),
            (A, RULE, "pass"),
            (B, RULE, "pass"),
            *((f"{A}[{each}]", RULE, "pass") for each in "123456"),
        )
        run(
            ("many beside",), *((f"{A}[{each}]", RULE, "not_exercised") for each in "123456"), (B, RULE, "inconclusive")
        )

    made.catalogue("routed", {RULE: [A]}, role="receiver")
    made.catalogue("routed", {OTHER: [C]})
    run(("alpha", "1"), (A, RULE, "pass"), suites="routed")
    run(("three", "a, b, c"), (A, RULE, "fail"), (C, OTHER, "pass"), suites="routed", extra=json.dumps(TOPOLOGY))
    run(("odd topology",), (A, RULE, "pass"), suites="routed", extra='{"systems": {"sender": {"version": "1"}}}')
    run(("no topology",), (A, RULE, "pass"), suites="routed", extra='{"systems": 7}')

    run(("versions", "1.0"), (A, RULE, "pass"), (C, OTHER, "fail"), (A, PASSIVE, "warn"), (A, KEPT, "pass"))
    run(("versions", "1.0"), (C, OTHER, "inconclusive"), partial=True)
    hostile = {"expected": "a|b\n<script>", "observed": "\u202e[x](http://y)", "reason": "=1+1"}
    missing = json.dumps({"roots": [{"root": "peer", "said": "no <peer>", "checks": [A]}]})
    run(
        ("versions", "2.0"),
        (A, RULE, "fail", hostile),
        (C, OTHER, "pass"),
        (A, KEPT, "pass"),
        (B, NEW, "pass"),
        extra=missing,
    )
    for verdict in ("pass", "fail", "inconclusive", "fail", "pass", "warn"):
        run(("unsteady",), (A, RULE, verdict), (B, RULE, "pass"))
    run(("unsteady",), (A, RULE, "fail"), suites="schema-1")
    return made
