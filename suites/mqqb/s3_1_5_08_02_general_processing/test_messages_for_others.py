"""MS-MQQB 3.1.5.8.2 General Processing, 3.1.5.8.5: messages for other queue managers."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.expectations import of_classes, one_of
from harness.run.marks import covers, malforms, needs, sut_survives
from suites.messages import Sequence
from suites.mqqb.steps.disposition import (
    HOP_COUNT_EXCEEDED,
    AcknowledgingReceiver,
    private_queue,
)

LAST_RC = 0x1D
"""The end of the range of RC: with it no message is sent on (E29)."""
HIGHEST_RC = 0x1F
"""All that the field has room for."""
HOPS = (0x00, 0x01, 0x05, 0x0F, 0x10, 0x1C)
"""Counts of hops with which every reading does: the last one leaves with the end of the range."""


class Through:
    """The SUT between the peer and the peer: messages that are for a queue of the peer, given to the SUT."""

    def __init__(self, peer, sut):
        self.peer = peer
        self.receiver = AcknowledgingReceiver(peer, sut)
        self.target = private_queue(peer.identifier, peer.message_id())
        """A queue that no other check's messages are for."""

    def give(self, kind: str, hops: int, properties: Any = None, **fields: Any) -> Frame:
        user = self.receiver.administered(self.target | {"RC": hops})
        rest = {"destination": None, "properties": properties or {}, **fields}
        if kind == "transactional":
            return self.receiver.send(user, **rest)
        return self.receiver.give(self.peer.message(user | {"DM": int(kind == "recoverable")}, **rest))

    def back(self) -> list[Frame]:
        """Return the messages of the peer that came so far."""
        return [one for one in self.receiver.messages if one["UserHeader"].SourceQueueManager == self.peer.identifier]


@covers("MQQB-3.1.5.8.2-38", "MQQB-3.1.5.8.2-39", "MQQB-3.1.5.8.5-D02")
@needs("private_names")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_a_message_for_another_queue_manager_has_one_hop_more(peer, sut, judge, kind):
    """Messages for the peer itself, which the SUT was given with some hops, come to their queue with one more."""
    through = Through(peer, sut)
    sent = [through.give(kind, hops, body=b"%d" % hops, ApplicationTag=hops) for hops in HOPS]
    came = through.receiver.await_all(through.back, len(sent))
    evidence = [*sent, *came]
    judge("MQQB-3.1.5.8.2-38", expected=len(sent), observed=len(came), evidence=evidence)
    observed = sorted(frame["UserHeader"].RC for frame in came)
    judge("MQQB-3.1.5.8.2-39", expected=[hops + 1 for hops in HOPS], observed=observed, evidence=evidence)
    expected, observed = sorted(map(_told, sent)), sorted(map(_told, came))
    judge("MQQB-3.1.5.8.5-D02", expected=expected, observed=observed, evidence=evidence)


def _told(frame: Frame) -> str:
    """Return what a message says wherever it is on its way: what it is, where to, and what of."""
    user, properties = frame["UserHeader"], frame["MessagePropertiesHeader"]
    number = user.DestinationQueue.PrivateQueueIdentifier
    return (
        f"{user.MessageID:08X} for {user.QueueManagerAddress}\\{number:08X}: DM {user.DM}, TH {user.TH}, "
        f"sent {user.SentTime}, tag {properties.ApplicationTag}, {bytes(properties.MessageBody)!r}"
    )


@malforms("MQMQ-2.2.19.2-08")
@sut_survives()
@covers("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-41", "MQDMPR-3.1.1.12-D15", "MQQB-3.1.5.8.2-44", "MQQB-3.1.5.8.2-47")
@needs("private_names")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_a_message_with_too_many_hops_is_not_sent_on(peer, sut, judge, kind):
    """Two messages for the peer have the last and the highest RC, that one NA, a third has few hops: only that one
    comes back.
    """
    through = Through(peer, sut)
    receiver = through.receiver
    sent = [through.give(kind, hops, {"NA": wanted}) for wanted, hops in enumerate((LAST_RC, HIGHEST_RC))]
    acks = receiver.await_acks(1)
    finals = receiver.await_all(receiver.final_acks, 2) if kind == "transactional" else receiver.final_acks()
    other = Sequence(peer, ordinal=2)
    receiver.sequence = other if kind == "transactional" else receiver.sequence
    sent.append(through.give(kind, HOPS[-1]))
    back = receiver.await_all(through.back, 1)
    evidence = [*sent, *acks, *finals, *back]
    observed = [frame["UserHeader"].MessageID for frame in back]
    expected = [sent[2]["UserHeader"].MessageID]
    judge("MQQB-3.1.5.8.2-40", "MQQB-3.1.5.8.2-47", expected=expected, observed=observed, evidence=evidence)
    allowed = one_of(of_classes(HOP_COUNT_EXCEEDED), of_classes())
    judge("MQQB-3.1.5.8.2-41", "MQDMPR-3.1.1.12-D15", expected=allowed, observed=acks, evidence=evidence)
    refused = of_classes(*[HOP_COUNT_EXCEEDED] * 2)
    allowed = one_of(*[refused] if kind == "transactional" else [], of_classes())
    judge("MQQB-3.1.5.8.2-44", expected=allowed, observed=finals, evidence=evidence)
    receiver.end()
