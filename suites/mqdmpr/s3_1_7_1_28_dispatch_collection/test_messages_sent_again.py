"""MS-MQDMPR 3.1.7.3.9 Dispatch Send Message: the properties of messages that the SUT sends again."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.whole_messages import describe_packet

MESSAGE_PROPERTIES_BY_TAG: dict[int, dict[str, Any]] = {
    1: {"delivery": "express", "priority": 5, "time_to_be_received_s": 5_000},
    2: {"delivery": "recoverable", "label": "again", "time_to_reach_queue_s": 6_000},
    3: {"delivery": "transactional", "journal": ["positive", "negative"]},
}
"""The properties of the messages, by ApplicationTag."""
TIME_BEFORE_MESSAGE_IS_SENT_AGAIN_MS = 3_000
"""The time between the first transmission and the end of the session, after which the clock shows a later second."""


@needs("send")
@covers("MQDMPR-3.1.7.3.9-07")
def test_message_sent_again_has_properties_of_first_packet(peer, sut, judge):
    """The SUT sends an express, a recoverable and a transactional message. Three seconds later, the session is lost
    before an acknowledgment, and a second session is lost in the same way. On each new session, the SUT sends the
    messages again. The properties of the messages, such as SentTime, are those of the first packet.
    """
    sut.limit_time_scale(1)
    sender = Sender(peer, sut, peer.direct_name("mqc-unchanged"))
    for tag, properties in MESSAGE_PROPERTIES_BY_TAG.items():
        sender.send(tag, **properties)
    session, frames = sender.await_first_messages(len(MESSAGE_PROPERTIES_BY_TAG))
    first = _describe_messages_by_tag(peer, frames)
    for _ in range(2):
        peer.pass_time(TIME_BEFORE_MESSAGE_IS_SENT_AGAIN_MS)
        session.close()
        session = sender.await_session()
        again = sender.collect_messages_until_silence(session, len(MESSAGE_PROPERTIES_BY_TAG))
        later = {tag: one for tag, one in _describe_messages_by_tag(peer, again).items() if tag in first}
        if not later:
            raise ConformanceFailure("the SUT sent no message again")
        judge(
            "MQDMPR-3.1.7.3.9-07",
            expected={tag: first[tag] for tag in later},
            observed=later,
            evidence=[*frames, *again],
            case="properties of the messages that are sent again, by ApplicationTag",
        )
    session.acknowledge_all()
    session.send(build_order_ack(peer, next(frame for frame in frames if frame["UserHeader"].TH)))


def _describe_messages_by_tag(peer, frames):
    return {
        tag: describe_packet(one, peer.identifier) for tag, one in zip(Sender.list_tags(frames), frames, strict=True)
    }
