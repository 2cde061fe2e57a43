"""MS-MQQB 3.1.2 Timers: 3.1.2.6, when a message is sent again; 3.1.2.9, how long a Ping Response is waited for."""

from __future__ import annotations

import pytest

from harness.expectations import between
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import PING_MS, STOOD_STILL, PingingSut, read_element
from suites.mqqb.steps.sequences import Outgoing

EXCHANGE_S = 20
"""How long the messages and the OrderAck may take, and the rounding of seconds."""


@needs("send", "management")
@covers("MQQB-3.1.2.6-D01")
def test_the_time_of_sending_again_is_a_resend_interval_ahead(peer, sut, judge):
    """After the first of two messages was acknowledged, EodResendTime is EodResendInterval after that, or after the
    second was sent (E46), by the SUT's own clock.
    """
    outgoing = Outgoing(peer, sut, "mqc-resend-time")
    sent = outgoing.send(2)
    outgoing.on_session()
    frame = outgoing.acknowledge(1)
    outgoing.await_info("EodLastAckCount", 1)
    info = outgoing.info()
    interval = read_element(info, "EodResendInterval")
    ahead = read_element(info, "EodResendTime") - read_element(info, "EodLastAckTime")
    expected = between(max(1, interval - EXCHANGE_S), interval + 1)
    judge("MQQB-3.1.2.6-D01", expected=expected, observed=ahead, evidence=[*sent, frame])
    outgoing.settle()


@needs("ping_initiator", "set_timers")
@covers("MQQB-3.1.2.9-D01")
@pytest.mark.parametrize(
    ("after_ms", "expected"), [(PING_MS // 2, PingingSut.SESSION_OPENED), (2 * PING_MS, PingingSut.NO_SESSION)]
)
def test_a_ping_response_counts_for_one_second(peer, sut, judge, after_ms, expected):
    """A response half a second after its request opens the session, one two seconds after it does not any more."""
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    peer.pass_time(sut.duration_ms(after_ms))
    answer = pinging_sut.answer_ping(asked)
    observed = pinging_sut.await_session(pinging_sut.no_retry_ms - sut.duration_ms(after_ms))
    if expected == PingingSut.SESSION_OPENED != observed and pinging_sut.stood_still_after(asked):
        judge.not_exercised("MQQB-3.1.2.9-D01", reason=STOOD_STILL, evidence=[asked, answer])
        return
    judge("MQQB-3.1.2.9-D01", expected=expected, observed=observed, evidence=[asked, answer])
