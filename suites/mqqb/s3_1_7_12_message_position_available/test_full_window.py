"""MS-MQQB 3.1.7.12 Message Position Available Event, with 3.1.7.1.6: messages that wait because the window is full."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import find_initiated_session
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender

OUTGOING_POSITION_FLAGS = ("AwaitingAck", "ReceivedSessionAck", "ReceivedOrderAck", "Transmitted")
SEQUENCE_NUMBER_ELEMENT_BY_RULE = {
    "MQQB-3.1.7.12-11": "SequenceNumber",
    "MQQB-3.1.7.12-12": "RecoverableSequenceNumber",
    "MQQB-3.1.7.12-13": "TxSequenceNumber",
}


@needs("send", "inspect")
@covers("MQQB-3.1.7.1.6-02", "MQQB-3.1.7.12-10", *SEQUENCE_NUMBER_ELEMENT_BY_RULE)
def test_messages_behind_full_window_have_initial_values(peer, sut, judge):
    """The SUT has as many unacknowledged recoverable messages as WindowSize, and is given a transactional, an express
    and a recoverable message: the entries of the last two messages have all flags FALSE and all numbers 0, and
    Transmitted is TRUE for as many entries as messages arrived.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-behind"))
    sender.send(1, delivery="recoverable")
    session, _ = sender.await_first_messages(1)
    window = max(frame["ConnectionParametersHeader"].WindowSize for frame in (session.sent[1], session.received[1]))
    sender.send(*range(2, window + 1), delivery="recoverable")
    for tag, delivery in enumerate(("transactional", "express", "recoverable"), window + 1):
        sender.send(tag, delivery=delivery)
    came = sender.collect_messages_until_silence(session, window - 1)
    entries: list[dict[str, Any]] = find_initiated_session(sut, sender.to)["OutgoingMessageTable"]
    if len(entries) != window + 3 or len(came) > window + 1:
        raise ConformanceFailure("the SUT did not keep the last two messages until an acknowledgment arrived")
    judge(
        "MQQB-3.1.7.1.6-02",
        expected=len(came),
        observed=sum(bool(entry["Transmitted"]) for entry in entries),
        case="number of entries with Transmitted TRUE",
        evidence=came[-2:],
    )
    waiting = entries[-2:]
    judge(
        "MQQB-3.1.7.12-10",
        expected=[dict.fromkeys(OUTGOING_POSITION_FLAGS, False)] * 2,
        observed=[{name: entry[name] for name in OUTGOING_POSITION_FLAGS} for entry in waiting],
        case="flags of the waiting messages",
    )
    for rule, name in SEQUENCE_NUMBER_ELEMENT_BY_RULE.items():
        judge(rule, expected=[0, 0], observed=[entry[name] for entry in waiting], case=name)
    session.acknowledge_all()
    sender.collect_messages_until_silence(session, window + 3)
    session.acknowledge_all()
    for frame in session.messages:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))
