"""Behaviour that the documents leave to a system makes no rule fail: these variants of the reference pass all checks of
their rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from harness.judging.verdicts import Verdict
from harness.proof.inventory import take_inventory
from harness.proof.trials import RepeatableTrialRunner, Trial, run_with_trials

SOUND = {Verdict.PASS, Verdict.NOT_EXERCISED, Verdict.NOT_OBSERVABLE}
ALLOWED = [
    (
        "server-interfaces-on-separate-ports-tolerated",
        [
            "MQQP-2.1-01",
            "MQQP-2.1-02",
            "MQQP-2.2-01",
            "MQQP-3.1.3-01",
            "MQQP-3.1.4.1-05",
            "MQQP-3.1.4.8-D02",
            "MQQP-3.1.6.1-01",
        ],
    ),
    (
        "server-get-server-port-for-spx-returns-port-tolerated",
        ["MQQP-3.1.4.8-03", "MQQP-3.1.4.8-D03", "MQQP-3.1.4.8-D04"],
    ),
    (
        "sender-message-to-unknown-public-queue-refused",
        [
            "MQQB-3.1.5.2.1-08",
            "MQQB-3.1.5.2.1-10",
            "MQQB-3.1.5.2.1-11",
            "MQQB-3.1.7.4-07",
            "MQQB-3.1.7.4-08",
            "MQQB-3.1.7.4-11",
        ],
    ),
    ("sender-message-to-unknown-public-queue-refused", ["MQMQ-2.1.3-01"]),
    ("server-get-object-properties-missing-tolerated", [f"MQMQ-2.2.12-{number:02}" for number in range(1, 19)]),
    ("server-lookup-unknown-action-tolerated", ["MQQP-3.1.4.11-07", "MQQP-3.1.4.11-21", "MQQP-3.1.4.11-24"]),
    ("server-unknown-action-peeks-tolerated", ["MQQP-3.1.4.1-08", "MQQP-3.1.4.10-07", "MQQP-3.1.4.10-17"]),
]
"""Variants of the reference, each with the rules that it keeps by one of the readings that the documents permit."""

Judged = dict[str, dict[str, set[Verdict]]]


@pytest.fixture(scope="module")
def judged() -> Judged:
    """Judge the rules on each variant; return the verdicts by variant and rule. One process collects the checks for all
    variants.
    """
    rules = defaultdict(set)
    for variant, some in ALLOWED:
        rules[variant].update(some)
    tests = take_inventory().checks_by_rule

    def trials() -> Iterator[Trial]:
        for variant, some in rules.items():
            checks = {check: None for rule in sorted(some) for check in tests.get(rule, ())}
            yield Trial(variant, (variant,), tuple(checks))

    def work(ran: RepeatableTrialRunner) -> Judged:
        found: Judged = {variant: {rule: set() for rule in some} for variant, some in rules.items()}
        for trial, told in ran.run(trials()):
            assert told.process_end is None, trial.name
            for line in told.lines:
                if line.rule in found[trial.name]:
                    found[trial.name][line.rule].add(line.verdict)
        return found

    return run_with_trials(1, work)


@pytest.mark.parametrize(("variant", "rules"), ALLOWED)
def test_checks_do_not_fail_a_variant_that_the_text_allows(judged: Judged, variant: str, rules: list[str]) -> None:
    found = {rule: judged[variant][rule] for rule in rules}
    assert all(verdicts and verdicts <= SOUND for verdicts in found.values()), found
