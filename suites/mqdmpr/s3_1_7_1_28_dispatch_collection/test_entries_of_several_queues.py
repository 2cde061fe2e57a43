"""MS-MQDMPR 3.1.7.1.28 Add Message To Dispatch Collection: messages that wait while other messages are added."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender

WAITING_MESSAGE_TAGS = (20_001, 20_002, 20_003)
"""The ApplicationTags of the messages that wait for the window."""
TAGS_OF_MESSAGES_TO_SECOND_QUEUE = (20_004, 20_005)
"""The ApplicationTags of the messages to other queues."""


@needs("send")
@covers("MQDMPR-3.1.7.1.28-08")
def test_waiting_messages_stay_when_messages_to_other_queues_are_added(peer, sut, judge):
    """The SUT fills its window, and further messages wait. Then an application sends messages to two other queues of
    the peer. When the peer acknowledges the sent messages, the SUT sends the messages that waited.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-full-window"))
    session, window = sender.fill_window()
    sender.send(*WAITING_MESSAGE_TAGS)
    for tag in TAGS_OF_MESSAGES_TO_SECOND_QUEUE:
        sut.send(peer.direct_name(f"mqc-beside-{tag}"), body="beside", application_tag=tag)
    peer.settle()
    session.acknowledge_all()
    frames = sender.collect_messages_until_silence(session, window + len(WAITING_MESSAGE_TAGS))[window:]
    judge(
        "MQDMPR-3.1.7.1.28-08",
        expected=[*WAITING_MESSAGE_TAGS],
        observed=[tag for tag in Sender.list_tags(frames) if tag in WAITING_MESSAGE_TAGS],
        evidence=frames,
        case="ApplicationTags of the messages that waited",
    )
    peer.inbox.wait(
        lambda frame: Sender.list_tags([frame])[0] in TAGS_OF_MESSAGES_TO_SECOND_QUEUE,
        len(TAGS_OF_MESSAGES_TO_SECOND_QUEUE),
    )
    peer.inbox.acknowledge()
