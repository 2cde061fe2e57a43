"""MS-MQQB 3.1.7.11 Construction of a UserMessage Packet: unusual messages, and the SessionHeaders that they carry."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.expectations import fields, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.provoking import read_application_tag
from suites.mqqb.steps.sender import Sender

NEARLY_DUE_ACK_DELAY_FRACTION = 0.85
"""The fraction of the timer's duration after which the SUT sends a message (more than three quarters)."""
MAX_SEND_ATTEMPTS = 5
"""The number of attempts. The check needs several attempts because a busy machine may act too early or too late."""
SEND_ARGUMENTS_OF_MESSAGES_CARRYING_HEADER: dict[str, dict[str, Any]] = {
    "urgent": {"priority": 7},
    "traced": {"trace_queue": str(PEER_PUBLIC_QUEUE)},
    "after a pause": {},
}
"""The arguments of the messages that carry a SessionHeader."""


def _has_application_tag(tag: int, frame: Frame) -> bool:
    """Return whether a message has an application tag."""
    return read_application_tag(frame) == tag


@needs("send")
@covers("MQQB-3.1.7.11-10", "MQQB-3.1.7.11-11")
@pytest.mark.parametrize("kind", ["urgent", "traced", pytest.param("after a pause", marks=needs("pause"))])
def test_carrier_of_each_kind_has_flag_and_window_size(peer, sut, judge, kind):
    """The SUT sends an urgent message, a traced message, or a message after a pause, when the acknowledgment of the
    peer's message is nearly due. The message has SH set, and its SessionHeader has the WindowSize of the SUT.
    """
    sut.limit_time_scale(1)
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    session.acknowledge_all()
    if kind == "after a pause":
        sut.pause(sender.to)
        sut.resume(sender.to)
        peer.settle()
    agreed = session.received[1]["ConnectionParametersHeader"]
    delay_ms = sut.duration_ms(agreed.RecoverableAckTimeout)
    stalls, evidence = 0, []
    for tag in range(2, MAX_SEND_ATTEMPTS + 2):
        received = session.send(peer.recoverable_message())
        peer.pass_time_until(received, int(delay_ms * NEARLY_DUE_ACK_DELAY_FRACTION))
        sender.send(tag, **SEND_ARGUMENTS_OF_MESSAGES_CARRYING_HEADER[kind])
        frame = session.expect("UserMessage", partial(_has_application_tag, tag))
        evidence += [received, frame]
        session.acknowledge_all()
        if frame["BaseHeader"].SH:
            break
        peer.pass_time(delay_ms)  # until what was sent is acknowledged
        stalls += peer.has_stalled(received.time_ms, peer.recorder.elapsed_ms())
    if stalls == MAX_SEND_ATTEMPTS:
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT stalled whenever an acknowledgment was nearly due")
        return
    judge(
        "MQQB-3.1.7.11-11",
        expected=holds("SH is set", otherwise="SH is clear"),
        observed=bool(frame["BaseHeader"].SH),
        case=kind,
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.7.11-11")
    if frame["BaseHeader"].SH:
        judge(
            "MQQB-3.1.7.11-10",
            expected=fields(WindowSize=agreed.WindowSize),
            observed=frame["SessionHeader"],
            case=kind,
            evidence=evidence,
        )
    peer.inbox.acknowledge()


@needs("send")
@covers("MQQB-3.1.7.11-01")
@pytest.mark.parametrize("kind", ["without body", pytest.param("in a transaction", marks=needs("transactions"))])
def test_packet_of_unusual_message_has_label_and_tag(peer, sut, judge, kind):
    """The SUT sends messages without a body, or three messages in one transaction. Each packet has the label and the
    application tag of its message.
    """
    peer.listen()
    to, tags = peer.direct_name("mqc-unusual"), (11, 12, 13)
    if kind == "without body":
        for tag in tags:
            sut.send(to, body="", label=f"label {tag}", application_tag=tag)
    else:
        transaction = sut.control.call("begin")["transaction"]
        for tag in tags:
            sut.send(to, body="in it", label=f"label {tag}", application_tag=tag, transaction=transaction)
        sut.control.call("commit", transaction=transaction)
    came = peer.inbox.wait(lambda frame: True, count=len(tags))
    judge(
        "MQQB-3.1.7.11-01",
        expected=[(f"label {tag}", tag) for tag in tags],
        observed=[
            (str(one.Label or "").rstrip("\0"), int(one.ApplicationTag))
            for one in (frame["MessagePropertiesHeader"] for frame in came)
        ],
        case="labels and application tags",
        evidence=came,
    )
    peer.inbox.acknowledge()
