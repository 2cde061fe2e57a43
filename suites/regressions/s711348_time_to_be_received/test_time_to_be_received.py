"""REGRESSIONS 711348: TimeToBeReceived of the messages of one transaction."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.sender import Sender

SHORT_LIFETIME_S, LONG_LIFETIME_S = 100_000, 1_000_000
NEVER_EXPIRES_S = 0xFFFFFFFF


@needs("send", "transactions")
@covers("REGRESSIONS-711348-01")
@pytest.mark.parametrize(
    "asked",
    [
        pytest.param((SHORT_LIFETIME_S, LONG_LIFETIME_S, None), id="the-shortest-first"),
        pytest.param((None, LONG_LIFETIME_S, SHORT_LIFETIME_S), id="the-longest-first"),
    ],
)
@varied("trace", "label", acknowledgments=("none", "of arrival"))
def test_each_message_of_transaction_has_own_time_to_be_received(peer, sut, judge, asked):
    """One transaction has three messages, two with different values of TimeToBeReceived and one without a value: the
    SUT sends each message with its own value.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-times"))
    transaction = sut.control.call("begin")["transaction"]
    for tag, time_s in enumerate(asked, 1):
        arguments = {} if time_s is None else {"time_to_be_received_s": time_s}
        sender.send(tag, transaction=transaction, **arguments)
    sut.control.call("commit", transaction=transaction)
    session, frames = sender.await_first(len(asked))
    if Sender.tags(frames) != [1, 2, 3]:
        raise ConformanceFailure("the messages of the transaction did not arrive in order")
    for time_s, frame in zip(asked, frames, strict=True):
        # what has passed since it was sent may be taken off
        expected = NEVER_EXPIRES_S if time_s is None else between(time_s // 2, time_s)
        observed = int(frame["UserHeader"].TimeToBeReceived)
        judge("REGRESSIONS-711348-01", expected=expected, observed=observed, evidence=frame, case="TimeToBeReceived")
    session.acknowledge_all()
