"""MS-MQMQ 2.2.19.2 UserHeader: the header in messages of every kind that the SUT sends as initiator and as acceptor."""

from __future__ import annotations

import struct
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import any_order, between, fields, none
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import PrivateQueueFormatNameId
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.ordering import ACK_RECEIVE
from suites.mqqb.steps.sequences import SequenceSentBySut, find_positions_of_messages_in_queue

PRIVATE_QUEUE_ON_DESTINATION_TYPE = 3
ADMIN_QUEUE_NUMBER = 1
FINAL_ACK_COUNT, ADMIN_ACK_COUNT = 2, 10
LARGE_BODY = "large body " * 500
SYSTEM_JOURNAL_QUEUE = "system$;journal"
REPORT_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000c8"
FINAL_ACK_RULES = ("MQMQ-2.2.18-D01", "MQMQ-2.2.18.1.2-D01", "MQMQ-2.2.18.1.3-D01")
"""The rules about the numbers and identifiers in the body of a FinalAck."""


@needs("receive", "private_names", "public_names")
@covers("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29", "MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05")
@covers(*FINAL_ACK_RULES)
def test_messages_of_receiver_have_valid_user_header(peer, sut, judge):
    """The peer sends express, recoverable, traced and transactional messages with direct and private administration
    queues, and an application receives the transactional messages. Each FinalAck identifies its message. Each message
    to a private queue of the peer contains the QueueManagerAddress of the peer. Each acknowledgment and report has the
    present time as its SentTime. If the SUT can send signed messages, it first sends a signed and traced transactional
    message, in which the flags of optional headers are set; in the later messages, these flags are clear.
    """
    before_s = peer.environment.now().utc_s
    receiver = AcknowledgingReceiver(peer, sut)
    if sut.has("send") and sut.has("security"):
        signed = {"authentication_level": "sig30", "trace_queue": REPORT_QUEUE_GUID}
        sut.send(peer.direct_name(), body="signed", delivery="transactional", **signed)
        receiver.await_messages_of_sut(lambda: [one for one in receiver.messages if one["UserHeader"].TH], 1)
    private = {"AQ": 2, "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_QUEUE_NUMBER)}
    every = {"PA": 1, "PR": 1, "NA": 1, "NR": 1}
    sent = []
    for names in (receiver.add_admin_queue_fields(), private):
        traced = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}}
        packets = [
            peer.message(names, properties=every),
            peer.message({**names, "DM": 1}, properties=every, **traced),
            peer.message({**names, "SentTime": before_s - 100}, properties=every, base={"TimeToReachQueue": 1}),
            receiver.sequence.message(names, properties=every, transaction={"FA": 1}),
        ]
        sent += [receiver.send_packet(packet) for packet in packets]
        if receiver.poll_acknowledgment() is None:
            raise ConformanceFailure("the SUT sent no OrderAck")
    transactional = sut.queue("transactional")
    for _ in range(FINAL_ACK_COUNT):
        sut.control.call("receive", queue=transactional, timeout_ms=0)
    receiver.await_acks(ADMIN_ACK_COUNT)
    final_acks = receiver.await_messages_of_sut(receiver.list_final_acks, FINAL_ACK_COUNT)
    judge(
        *FINAL_ACK_RULES,
        expected=any_order(*(_describe_final_ack_body(one) for one in sent if one["UserHeader"].TH)),
        observed=[bytes(one["MessagePropertiesHeader"].MessageBody).hex(" ") for one in final_acks],
        case="bodies of the FinalAcks",
        evidence=[*sent, *final_acks],
    )
    frames = receiver.messages
    to_private = [frame for frame in frames if frame["UserHeader"].DQ == PRIVATE_QUEUE_ON_DESTINATION_TYPE]
    wrong = [one for one in to_private if one["UserHeader"].QueueManagerAddress != peer.identifier]
    if not to_private:
        raise ConformanceFailure("the SUT sent no message to a private queue")
    judge(
        "MQMQ-2.2.19.2-02",
        "MQMQ-2.2.19.2-03",
        "MQMQ-2.2.19.2-29",
        expected=none("message for a private queue without the GUID of its host"),
        observed=[str(one["UserHeader"].QueueManagerAddress) for one in wrong],
        evidence=[*sent, *to_private],
    )
    present = between(before_s - CLOCK_TOLERANCE_S, peer.environment.now().utc_s + CLOCK_TOLERANCE_S)
    for frame in frames:
        judge(
            "MQMQ-2.2.19.2-06",
            "MQMQ-2.2.19.2-D05",
            expected=fields({"UserHeader.SentTime": present}),
            observed=Layout(frame),
            evidence=frame,
        )
    receiver.acknowledge_all()


def _describe_final_ack_body(sent):
    """Return the bytes in the body of the FinalAck of a message, as text."""
    header, user = sent["TransactionHeader"], sent["UserHeader"]
    sequence = header.TxSequenceID
    numbers = (sequence.Ordinal, sequence.TimeStamp, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
    source = UUID(str(user.SourceQueueManager)).bytes_le
    return (struct.pack("<4I", *numbers) + source + struct.pack("<I", user.MessageID)).hex(" ")


@needs("send", "private_names")
@covers("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29", "MQMQ-2.2.19.2-31")
def test_messages_of_sender_have_valid_user_header(peer, sut, judge):
    """The SUT sends several messages in each delivery mode to a private queue of the peer, with and without requests
    for acknowledgments. QueueManagerAddress is the GUID of the peer. AQ is 0 only in messages without such a request.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    admin = {"admin_queue": f"DIRECT=TCP:{sut.address}\\{sut.queue('admin')}"}
    for delivery in ("express", "recoverable", "transactional", "transactional"):
        for more in ({}, {"acks": ["negative_receive"], **admin}, {"acks": ["positive_arrival"], **admin}):
            frame = outgoing.send(body=LARGE_BODY, label=delivery, delivery=delivery, **more)
            user = frame["UserHeader"] if frame.kind == "UserMessage" else None
            if user is None:
                raise ConformanceFailure("the SUT sent a malformed message")
            judge(
                "MQMQ-2.2.19.2-02",
                "MQMQ-2.2.19.2-03",
                "MQMQ-2.2.19.2-29",
                expected=peer.identifier,
                case="QueueManagerAddress",
                observed=UUID(str(user.QueueManagerAddress)),
                evidence=frame,
            )
            judge(
                "MQMQ-2.2.19.2-31",
                expected=7 if more else 0,
                case="AQ",
                observed=int(user.AQ),
                evidence=frame,
            )
    outgoing.end()


@needs("send", "queue_control")
@covers("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21")
def test_received_transactional_message_with_jp_is_journaled(peer, sut, judge):
    """The SUT sends a small and a large transactional message with JP, and the peer reports their receipt by FinalAcks.
    Both messages are in the system journal.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-received")
    outgoing.send(journal=["positive"])
    outgoing.send(journal=["positive", "negative"], body=LARGE_BODY)
    frames = [outgoing.send_session_ack(), outgoing.send_order_ack(2)]
    frames += [outgoing.send_final_ack(number, MessageClass=ACK_RECEIVE) for number in (1, 2)]
    peer.eventually(
        lambda: find_positions_of_messages_in_queue(sut, SYSTEM_JOURNAL_QUEUE, outgoing.identifiers) == [1, 2]
    )
    judge.all(
        expected=[1, 2],
        case="messages in the system journal",
        observed=find_positions_of_messages_in_queue(sut, SYSTEM_JOURNAL_QUEUE, outgoing.identifiers),
        evidence=frames,
    )
