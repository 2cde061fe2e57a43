"""MS-MQQB 3.1.5.8 Receiving a UserMessage Packet: messages of several kinds before the session is open, and messages
with a limited lifetime after a restart.
"""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs, sut_survives
from suites.messages import Sequence
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.ordering import EARLY_CLOSE_EXPECTATION, Receiver, send_packet_in_states_before_open

DAY_S = 86_400
LIMITED_MESSAGE_LABELS = ("limited to a day", "limited and in a sequence")


@sut_survives()
@covers("MQQB-3.1.5.8-01")
@pytest.mark.parametrize("kind", ["express", "transactional", "an acknowledgment", "to a missing queue"])
def test_message_of_each_kind_before_session_is_open_closes_session(peer, judge, kind):
    """The peer sends a message of one kind on a session in each state before OPEN, and on an open session. The SUT
    closes the sessions that are not open.
    """
    packet = {
        "express": peer.message,
        "transactional": Sequence(peer).message,
        "an acknowledgment": lambda: peer.recoverable_message(queue="admin", MessageClass=AckClass.REACH_QUEUE),
        "to a missing queue": lambda: peer.message(destination=peer.format_name_of_missing_queue),
    }[kind]()
    observed, evidence = send_packet_in_states_before_open(peer, packet)
    judge("MQQB-3.1.5.8-01", expected=EARLY_CLOSE_EXPECTATION, observed=observed, evidence=evidence)


@covers("MQQB-3.1.5.8-09")
@needs("receive", "restart")
def test_acknowledged_messages_with_limited_lifetime_survive_restart(peer, sut, judge):
    """The peer sends a recoverable and a transactional message with a TimeToBeReceived of a day. When the SUT has
    acknowledged the messages, it restarts. Its queues still contain both messages.
    """
    receiver = Receiver(peer, sut)
    limited = {"TimeToBeReceived": DAY_S}
    sent = [receiver.session.send(peer.recoverable_message(limited, label=LIMITED_MESSAGE_LABELS[0]))]
    sent.append(receiver.send(limited, label=LIMITED_MESSAGE_LABELS[1]))
    ack = receiver.session.expect(
        "SessionAck",
        lambda frame: frame["SessionHeader"].AckSequenceNumber == len(sent),
        within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS),
    )
    acks = [ack, receiver.await_last_acknowledgment(1)]
    if _list_limited_messages(sut) != list(LIMITED_MESSAGE_LABELS):
        raise ConformanceFailure("the messages did not arrive in their queues")
    sut.restart()
    judge(
        "MQQB-3.1.5.8-09",
        expected=holds("both messages are in their queues"),
        observed=_list_limited_messages(sut) == list(LIMITED_MESSAGE_LABELS)
        or f"in the queues: {_list_limited_messages(sut)}",
        evidence=[*sent, *acks],
    )


def _list_limited_messages(sut) -> list[str]:
    """Return the labels of the messages of the check in their queues."""
    labels = [*sut.labels(sut.queue()), *sut.labels(sut.queue("transactional"))]
    return [label for label in labels if label in LIMITED_MESSAGE_LABELS]
