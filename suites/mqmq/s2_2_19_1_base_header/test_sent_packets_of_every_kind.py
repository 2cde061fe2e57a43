"""MS-MQMQ 2.2.19.1 BaseHeader: the header in packets of every kind that the SUT sends as initiator and as acceptor."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.wire import session_ack
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import accept_establish_request, listen_for_connection, read_in_flag_and_packet_type
from suites.mqqb.steps.sender import Sender

PACKET_SIGNATURE = bytes.fromhex("4c494f52")
INFINITE_LIFETIME_S = 0xFFFF_FFFF
REPORT_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000c6"
LARGE_BODY = "large body " * 500
SESSION_PACKET_SIZES = (572, 32, 36, 36, 36)
"""The sizes in bytes of an EstablishConnection, a ConnectionParameters and three SessionAcks. A SessionAck with a clear
IN is recognized only together with the beginning of the next SessionAck.
"""


def _receive_packets_as_acceptor(peer, sut):
    """Return the packets that the SUT sends on a session that the peer opened and on which the SUT receives three
    messages.
    """
    connection = exchange_message(peer).connection
    for number in (3, 4):
        connection.send(peer.recoverable_message())
        connection.poll_packet(number)
    return connection.received


def _receive_packets_as_initiator(peer, sut):
    """Return the packets, except its message, that the SUT sends on a session that it opened and on which it receives
    three messages.
    """
    connection, asked = accept_establish_request(listen_for_connection(peer, sut))
    connection.send(establish_response(peer, asked))
    parameters = connection.poll_packet(1)
    if parameters is not None and parameters.kind == "ConnectionParameters":
        connection.send(parameters_response(parameters))
        if connection.poll_packet(2) is None:
            raise ConformanceFailure("the SUT did not send its message")
        connection.send(session_ack(AckSequenceNumber=1))
        for number in (3, 4, 5):
            connection.send(peer.recoverable_message())
            connection.poll_packet(number)
    return connection.received[:2] + connection.received[3:]


@covers(
    "MQMQ-2.2.19.1-01",
    "MQMQ-2.2.19.1-05",
    "MQMQ-2.2.19.1-21",
    "MQMQ-2.2.19.1-22",
    "MQMQ-2.2.19.1-D01",
)
@pytest.mark.parametrize(
    "receive_packets",
    [
        pytest.param(_receive_packets_as_acceptor, id="acceptor"),
        pytest.param(_receive_packets_as_initiator, id="initiator", marks=needs("send")),
    ],
)
def test_internal_packets_of_both_roles_have_base_header(peer, sut, judge, receive_packets):
    """The SUT sets up a session and acknowledges three messages one after the other. In each of its internal packets,
    the fields of the BaseHeader have the specified values at the specified offsets.
    """
    frames = receive_packets(peer, sut)
    if len(frames) < 2:
        raise ConformanceFailure("the SUT did not answer the set-up of the session")
    for frame, size in zip(frames, SESSION_PACKET_SIZES, strict=False):
        data = frame.data
        stated = int.from_bytes(data[8:12], "little")
        judge("MQMQ-2.2.19.1-01", expected="0x10", observed=f"0x{data[0]:02X}", case="VersionNumber", evidence=frame)
        judge(
            "MQMQ-2.2.19.1-21",
            expected=PACKET_SIGNATURE.hex(" "),
            observed=data[4:8].hex(" "),
            case="Signature",
            evidence=frame,
        )
        judge(
            "MQMQ-2.2.19.1-05",
            expected=1,
            observed=read_in_flag_and_packet_type(frame)["IN"],
            case="IN",
            evidence=frame,
        )
        judge("MQMQ-2.2.19.1-22", expected=size, observed=len(data), case="size of the packet", evidence=frame)
        if size != SESSION_PACKET_SIZES[-1]:  # PacketSize of a SessionAck: E01
            judge("MQMQ-2.2.19.1-22", expected=size, observed=stated, case="PacketSize", evidence=frame)
        flags = {"IN": 1, "SH": int(size == SESSION_PACKET_SIZES[-1]), "DH": 0, "TR": 0}
        wanted = {"BaseHeader.TimeToReachQueue": INFINITE_LIFETIME_S}
        wanted |= {f"BaseHeader.Flags.{name}": bit for name, bit in flags.items()}
        judge("MQMQ-2.2.19.1-D01", expected=fields(wanted), observed=Layout(frame), evidence=frame)


SENT_MESSAGE_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"body": LARGE_BODY},
    {"delivery": "recoverable", "body": LARGE_BODY},
    {"trace_queue": REPORT_QUEUE_GUID},
    {"trace_queue": REPORT_QUEUE_GUID, "delivery": "recoverable", "body": LARGE_BODY, "priority": 6},
    {"trace_queue": REPORT_QUEUE_GUID, "priority": 7},
    {"delivery": "transactional", "priority": 5},
    {"delivery": "transactional", "priority": 7, "body": LARGE_BODY},
    {"delivery": "transactional", "trace_queue": REPORT_QUEUE_GUID},
    {"priority": 0, "body": LARGE_BODY},
)
"""The arguments of the sent messages."""


@needs("send")
@covers("MQMQ-2.2.19.1-12", "MQMQ-2.2.19.1-D01", "MQMQ-2.2.19.1-D02")
def test_sent_messages_of_every_kind_have_base_header(peer, sut, judge):
    """The SUT sends express, recoverable and transactional messages; some are large, and some are to be traced. PR is
    the requested priority, or 3 if none was requested; in a transactional message, PR is 0. TR and DH are set only in
    messages that are to be traced.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for arguments in SENT_MESSAGE_ARGUMENTS:
        transactional, traced = arguments.get("delivery") == "transactional", "trace_queue" in arguments
        frame = _send_and_poll_message(outgoing, {"body": "short", **arguments})
        if frame is None:
            continue
        wanted = {
            "BaseHeader.Flags.PR": 0 if transactional else arguments.get("priority", 3),
            "BaseHeader.Flags.IN": 0,
            "BaseHeader.Flags.TR": int(traced),
            "BaseHeader.Flags.DH": int(traced),
        }
        observed = Layout(frame)
        for rule, names in (
            ("MQMQ-2.2.19.1-12", ("TR",)),
            ("MQMQ-2.2.19.1-D01", ("PR", "IN", "TR", "DH")),
            ("MQMQ-2.2.19.1-D02", ("PR",)),
        ):
            of_rule = {f"BaseHeader.Flags.{name}": wanted[f"BaseHeader.Flags.{name}"] for name in names}
            judge(rule, expected=fields(of_rule), observed=observed, evidence=frame)
    if not peer.inbox.packets_with_possibly_malformed_messages:
        raise ConformanceFailure("the SUT sent no message")
    outgoing.end()


def _send_and_poll_message(outgoing, arguments):
    """Let the SUT send a message; return its packet, or None if no packet arrives. If the SUT refuses to give a
    transactional message a priority, send the message without a priority.
    """
    try:
        return outgoing.poll(**arguments)
    except ControlRefused:
        if arguments.get("delivery") != "transactional":
            raise
    return outgoing.poll(**{name: value for name, value in arguments.items() if name != "priority"})


SHORT_LIFETIME_S = 1
TAGS_OF_UNEXPIRED_MESSAGES, DELIVERY_MODE_BY_TAG_OF_EXPIRED_MESSAGE = (
    (1, 2),
    {3: "express", 4: "recoverable", 5: "transactional"},
)


@needs("send")
@covers("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52")
def test_sender_deletes_expired_messages_of_every_delivery(peer, sut, judge):
    """Express, recoverable and transactional messages wait for an unreachable peer, between two other messages, and
    expire before the SUT connects. The SUT sends only the two other messages.
    """
    to = peer.direct_name("mqc-expired")
    first, last = TAGS_OF_UNEXPIRED_MESSAGES
    sut.send(to, body="unexpired", application_tag=first)
    for tag, delivery in DELIVERY_MODE_BY_TAG_OF_EXPIRED_MESSAGE.items():
        sut.send(
            to,
            body="expired",
            application_tag=tag,
            delivery=delivery,
            time_to_reach_queue_s=SHORT_LIFETIME_S,
        )
    sut.send(to, body="unexpired", application_tag=last, delivery="recoverable")
    peer.pass_time((SHORT_LIFETIME_S + 2) * 1_000)
    sender = Sender(peer, sut, to)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, len(TAGS_OF_UNEXPIRED_MESSAGES))
    judge.all(
        expected=list(TAGS_OF_UNEXPIRED_MESSAGES),
        case="ApplicationTags of the sent messages",
        observed=sender.list_tags(frames),
        evidence=frames,
    )
    session.acknowledge_all()
