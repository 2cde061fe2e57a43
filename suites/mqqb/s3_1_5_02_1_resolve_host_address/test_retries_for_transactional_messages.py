"""MS-MQQB 3.1.5.2.1 Resolve Host Address: the Session Retry Connect Timer runs for recoverable and for transactional
messages.
"""

from __future__ import annotations

import pytest

from harness.expectations import holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from suites.mqqb.steps.opening import OTHER_GUID, RETRY_INTERVAL_MS, list_connection_history, private_name

MESSAGE_LIFETIME_S = 60


@needs("send", "management", "queue_control")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        pytest.param(f"PUBLIC={OTHER_GUID}", "MQQB-3.1.5.2.1-10", marks=covers("MQQB-3.1.5.2.1-10"), id="no-queue"),
        pytest.param(private_name(OTHER_GUID), "MQQB-3.1.5.2.1-20", marks=covers("MQQB-3.1.5.2.1-20"), id="no-way"),
    ],
)
def test_lasting_message_for_unresolvable_name_is_tried_again(peer, sut, judge, name, rule, delivery):
    """The SUT has a recoverable or transactional message for an unresolvable name. ConnectionHistory gets another entry
    when the Session Retry Connect Timer expires.
    """

    def list_connection_history_times() -> list[int]:
        return [entry["ConnectionHistoryTime"] for entry in list_connection_history(sut, name)]

    try:
        sut.send(name, body="waiting", delivery=delivery, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    except ControlRefused as refused:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT refused the name, which is allowed: {refused}")
        return
    peer.eventually(lambda: bool(list_connection_history_times()))
    before = list_connection_history_times()
    peer.pass_time(sut.duration_ms(2 * RETRY_INTERVAL_MS) + sut.slack_ms(2 * RETRY_INTERVAL_MS))
    judge(
        rule,
        expected=holds("ConnectionHistory has another entry after the retry time"),
        observed=list_connection_history_times() != before or f"entries of the times {before}",
        case=f"{delivery} message",
    )
