"""MS-MQQB 3.1.5.8.2 General Processing, with 3.1.5.8.5: messages for other queue managers."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import acknowledgments_of_classes, facts, one_of, packet, packets
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.messages import Sequence
from suites.mqqb.steps.disposition import IN_NO_QUEUE_OUTCOME, AckClass, AcknowledgingReceiver, find_queues_with_message
from suites.mqqb.steps.opening import list_outgoing_queues

LOWEST_REFUSED_HOP_COUNT = 0x1D
"""The lowest RC with which a message is refused: the receiver would forward it with RC 0x1E (E29)."""
HIGHEST_HOP_COUNT = 0x1F
"""The highest value of RC."""
FORWARDED_HOP_COUNTS = (0x00, 0x01, 0x05, 0x0F, 0x10, 0x1C)
"""Hop counts of messages that are forwarded in each reading; the last hop count is the end of the range."""


class ForwardingSut:
    """The SUT is a router between two connections of the peer. The peer sends the SUT messages that are addressed to a
    queue of the peer.
    """

    def __init__(self, peer, sut):
        self.peer = peer
        self.receiver = AcknowledgingReceiver(peer, sut)
        self.targets = [
            peer.build_fields_for_private_destination(peer.identifier, peer.next_message_id()) for _ in range(2)
        ]
        """Queues that no other check uses."""

    def send_message(self, kind: str, hops: int, properties: Any = None, **fields: Any) -> Frame:
        user = self.receiver.add_admin_queue_fields(self.targets[hops % 2] | {"RC": hops} | fields.pop("user", {}))
        rest = {"destination": None, "properties": properties or {}, **fields}
        if kind == "transactional":
            return self.receiver.send(user, **rest)
        return self.receiver.send_packet(self.peer.message(user | {"DM": int(kind == "recoverable")}, **rest))

    def list_forwarded_messages_of_peer(self) -> list[Frame]:
        """Return the messages of the peer that the SUT has forwarded so far."""
        return [one for one in self.receiver.messages if one["UserHeader"].SourceQueueManager == self.peer.identifier]


@covers("MQQB-3.1.5.8.2-03", "MQQB-3.1.5.8.2-38", "MQQB-3.1.5.8.2-39", "MQQB-3.1.5.8.5-D02", "MQMQ-2.2.19.2-D02")
@needs("private_names")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
@varied("time to reach queue", "application tag", priority=("3", "7"))
def test_forwarded_message_has_one_hop_more(peer, sut, judge, kind):
    """The peer sends messages that are addressed to two of its own queues, with different hop counts. The SUT forwards
    the messages unchanged, except that it increases RC by one. It counts them on the session.
    """
    router = ForwardingSut(peer, sut)
    sent = [router.send_message(kind, hops, body=b"%d" % hops, ApplicationTag=hops) for hops in FORWARDED_HOP_COUNTS]
    came = router.receiver.await_messages_of_sut(router.list_forwarded_messages_of_peer, len(sent))
    evidence = [*sent, *came]
    judge(
        "MQQB-3.1.5.8.2-38",
        expected=len(sent),
        observed=len(came),
        case="headers and bodies of the forwarded messages",
        evidence=evidence,
    )
    observed = sorted(frame["UserHeader"].RC for frame in came)
    judge(
        "MQQB-3.1.5.8.2-39",
        "MQMQ-2.2.19.2-D02",
        expected=[hops + 1 for hops in FORWARDED_HOP_COUNTS],
        observed=observed,
        case="RC of the forwarded messages",
        evidence=evidence,
    )
    expected, observed = sorted(map(_describe_forwarded_fields, sent)), sorted(map(_describe_forwarded_fields, came))
    judge("MQQB-3.1.5.8.5-D02", expected=expected, observed=observed, case="forwarded messages", evidence=evidence)
    ack = router.receiver.session.request_acknowledgment()
    counted = packet("SessionAck", {"SessionHeader.AckSequenceNumber": len(sent) + 1})
    judge(
        "MQQB-3.1.5.8.2-03",
        expected=counted,
        observed=ack or router.receiver.session,
        evidence=[*sent, ack],
    )


@covers("MQQB-3.1.5.8.5-D02")
@needs("private_names", "management")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_each_destination_of_forwarded_messages_has_its_outgoing_queue(peer, sut, judge, kind):
    """The peer sends messages that are addressed to two of its own queues. When the SUT has forwarded them, it shows an
    outgoing queue for each of the two queues.
    """
    router = ForwardingSut(peer, sut)
    sent = [router.send_message(kind, hops) for hops in (0, 1)]
    came = router.receiver.await_messages_of_sut(router.list_forwarded_messages_of_peer, len(sent))
    if len(came) < len(sent):
        raise ConformanceFailure(f"the SUT forwarded {len(came)} of {len(sent)} messages")
    numbers = [target["DestinationQueue"].PrivateQueueIdentifier for target in router.targets]
    names = [f"PRIVATE={peer.identifier}\\{number:08x}" for number in numbers]
    judge(
        "MQQB-3.1.5.8.5-D02",
        expected=dict.fromkeys(names, 1),
        observed={name: len(list_outgoing_queues(sut, name)) for name in names},
        case="number of outgoing queues for each destination",
        evidence=[*sent, *came],
    )
    router.receiver.acknowledge_all()


@covers("MQQB-3.1.5.8.2-39")
@needs("private_names")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_hop_count_of_a_forwarded_message_is_the_same_on_later_sessions(peer, sut, judge, kind):
    """The SUT forwards messages from the peer to two queues of the peer. Twice, the peer closes the SUT's sessions
    without an acknowledgment. RC of each copy that the SUT sends is one greater than RC of the peer's message.
    """
    router = ForwardingSut(peer, sut)
    sent = [router.send_message(kind, hops, body=b"%d" % hops) for hops in FORWARDED_HOP_COUNTS]
    hops_by_number = {int(frame["UserHeader"].MessageID): int(frame["UserHeader"].RC) for frame in sent}
    seen = 0
    for round_number in (1, 2, 3):
        came = _await_forwarded_copies(peer, seen, len(sent))
        if not came and round_number == 1:
            raise ConformanceFailure("the SUT forwarded no message")
        if not came:
            break  # the SUT may have discarded express messages
        judge(
            "MQQB-3.1.5.8.2-39",
            expected=[hops_by_number[int(frame["UserHeader"].MessageID)] + 1 for frame in came],
            observed=[int(frame["UserHeader"].RC) for frame in came],
            case=f"RC of the messages of round {round_number}",
            evidence=[*sent, *came],
        )
        seen += len(came)
        if round_number < 3:
            for frame in came:
                peer.inbox.conversation(frame).end()
    router.receiver.acknowledge_all()


def _await_forwarded_copies(peer, seen: int, count: int) -> list[Frame]:
    """Wait for copies of the messages that the peer sent; return the copies after the first ``seen`` copies."""

    def list_new_copies():
        copies = [one for one in peer.inbox.copies if one["UserHeader"].SourceQueueManager == peer.identifier]
        return copies[seen:]

    within_ms = peer.sut.connect_timeout_ms + peer.sut.response_timeout_ms
    peer.environment.run_until(lambda: len(list_new_copies()) >= count, within_ms)
    return list_new_copies()


def _describe_forwarded_fields(frame: Frame) -> str:
    """Describe the fields of a message that a router does not change: identifier, destination, delivery and content."""
    user, properties = frame["UserHeader"], frame["MessagePropertiesHeader"]
    number = user.DestinationQueue.PrivateQueueIdentifier
    return (
        f"{user.MessageID:08X} for {user.QueueManagerAddress}\\{number:08X}: DM {user.DM}, TH {user.TH}, "
        f"sent {user.SentTime}, tag {properties.ApplicationTag}, {bytes(properties.MessageBody)!r}"
    )


@malforms("MQMQ-2.2.19.2-08")
@sut_survives()
@covers(
    "MQQB-3.1.5.8.2-38",
    "MQQB-3.1.5.8.2-40",
    "MQQB-3.1.5.8.2-41",
    "MQDMPR-3.1.1.12-D15",
    "MQQB-3.1.5.8.2-44",
    "MQQB-3.1.5.8.2-47",
)
@needs("private_names")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_message_with_too_many_hops_is_not_forwarded(peer, sut, judge, kind):
    """The peer sends messages that are addressed to the peer itself, with RC 0x1D, 0x1F and 0x1C: the SUT forwards only
    the last message.

    The SUT may send negative acknowledgments of class HOP_COUNT_EXCEEDED for the messages with RC 0x1D and 0x1F (E30):
    for all messages that request them, or for none.
    """
    router = ForwardingSut(peer, sut)
    receiver = router.receiver
    traced: dict[str, Any] = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}}
    rest: dict[str, Any] = traced if sut.has("public_names") else {}
    sent = [
        router.send_message(kind, hops, {"NA": na}, user={"JN": 1}, **rest)
        for na, hops in enumerate((LOWEST_REFUSED_HOP_COUNT, HIGHEST_HOP_COUNT))
    ]
    sent.append(router.send_message(kind, LOWEST_REFUSED_HOP_COUNT, {"NA": 1, "PA": 1}, **rest))
    sent.append(router.send_message("express", HIGHEST_HOP_COUNT, {"NA": 1}, **rest))
    acks = receiver.await_acks(3)
    finals = (
        receiver.await_messages_of_sut(receiver.list_final_acks, 3)
        if kind == "transactional"
        else receiver.list_final_acks()
    )
    other_sequence = Sequence(peer, ordinal=2)
    receiver.sequence = other_sequence if kind == "transactional" else receiver.sequence
    sent.append(router.send_message(kind, FORWARDED_HOP_COUNTS[-1]))
    returned = receiver.await_messages_of_sut(router.list_forwarded_messages_of_peer, 1)
    evidence = [*sent, *acks, *finals, *returned]
    observed = [frame["UserHeader"].MessageID for frame in returned]
    expected = [sent[-1]["UserHeader"].MessageID]
    judge(
        "MQQB-3.1.5.8.2-38",
        "MQQB-3.1.5.8.2-40",
        "MQQB-3.1.5.8.2-47",
        expected=expected,
        observed=observed,
        case="headers and bodies of the forwarded messages",
        evidence=evidence,
    )
    reports = receiver.list_reports()
    judge(
        "MQQB-3.1.5.8.2-47",
        expected=facts(reports=packets(), messages=IN_NO_QUEUE_OUTCOME),
        observed={"reports": reports, "messages": find_queues_with_message(sut, sent[:-1])},
        evidence=[*evidence, *reports],
    )
    allowed = one_of(acknowledgments_of_classes(*[AckClass.HOP_COUNT_EXCEEDED] * 3), acknowledgments_of_classes())
    judge(
        "MQQB-3.1.5.8.2-41",
        "MQDMPR-3.1.1.12-D15",
        expected=allowed,
        observed=acks,
        case="administration acknowledgments",
        evidence=evidence,
    )
    refused = acknowledgments_of_classes(*[AckClass.HOP_COUNT_EXCEEDED] * 3)
    allowed = one_of(*[refused] if kind == "transactional" else [], acknowledgments_of_classes())
    judge("MQQB-3.1.5.8.2-44", expected=allowed, observed=finals, case="FinalAcks", evidence=evidence)
    receiver.acknowledge_all()
