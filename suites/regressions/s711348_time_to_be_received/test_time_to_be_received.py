"""REGRESSIONS 711348: TimeToBeReceived of the messages of one transaction."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.sender import Sender

SHORT_LIFETIME_S, LONG_LIFETIME_S = 100_000, 1_000_000
INFINITE_LIFETIME_S = 0xFFFFFFFF


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
    """The SUT sends three messages in one transaction, two with different values of TimeToBeReceived and one without a
    value: the SUT sends each message with its own value.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-times"))
    transaction = sut.control.call("begin")["transaction"]
    for tag, time_s in enumerate(asked, 1):
        arguments = {} if time_s is None else {"time_to_be_received_s": time_s}
        sender.send(tag, transaction=transaction, **arguments)
    sut.control.call("commit", transaction=transaction)
    session, frames = sender.await_first_messages(len(asked))
    if Sender.list_tags(frames) != [1, 2, 3]:
        raise ConformanceFailure("the messages of the transaction did not arrive in order")
    for time_s, frame in zip(asked, frames, strict=True):
        # what has passed since it was sent may be taken off
        expected = INFINITE_LIFETIME_S if time_s is None else between(time_s // 2, time_s)
        observed = int(frame["UserHeader"].TimeToBeReceived)
        judge("REGRESSIONS-711348-01", expected=expected, observed=observed, evidence=frame, case="TimeToBeReceived")
    session.acknowledge_all()


@needs("send", "receive", "queue_control", "transactions")
@covers("REGRESSIONS-711348-01")
@pytest.mark.parametrize("external", [False, True], ids=["internal", "external"])
def test_each_local_message_of_transaction_has_own_time_to_be_received(sut, judge, external):
    """One transaction sends messages with different values of TimeToBeReceived to two queues: each stored message has
    its own value. The message with the shortest value expires, and the others remain.
    """
    queues = [sut.new_queue(f"times-{number}", transactional=True) for number in range(2)]
    asked = {"long": LONG_LIFETIME_S, "short": 3, "none": None, "longer": LONG_LIFETIME_S + 1}
    transaction = sut.control.call("begin", external=external)["transaction"]
    for label, time_s in asked.items():
        arguments = {} if time_s is None else {"time_to_be_received_s": time_s}
        for queue in queues:
            sut.send_here(queue, [label], delivery="transactional", transaction=transaction, **arguments)
    for verb in ("prepare", "commit") if external else ("commit",):
        sut.control.call(verb, transaction=transaction)
    sut.environment.run_until(lambda: all("short" not in sut.labels(queue) for queue in queues), 6_000)
    shown = [
        {one["label"]: one.get("time_to_be_received_s", asked[one["label"]] or INFINITE_LIFETIME_S) for one in stored}
        for stored in (sut.control.call("peek", queue=queue, limit=10)["messages"] for queue in queues)
    ]
    wanted = {label: time_s for label, time_s in asked.items() if label != "short"} | {"none": INFINITE_LIFETIME_S}
    judge.all(expected=[wanted, wanted], observed=shown, case="TimeToBeReceived of the stored messages")
