"""MS-MQQB 3.1.5.1 Receiving Any Packet, with 3.1.5.1.2 and 3.1.5.1.3."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import closed_without_answer, connection_closed_by_sut, holds, none, packet
from harness.peer.handshake import establish_request
from harness.peer.inbox import establish_response
from harness.peer.peer import Peer
from harness.run.marks import covers, malforms, sut_survives
from harness.wire import connection_parameters, establish_connection, session_ack
from suites.messages import Sequence
from suites.mqqb.steps.opening import await_early_close
from suites.mqqb.steps.ordering import build_unknown_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession, await_session_of_sut

LONGEST_ACK_WAIT_MS = 240_000
"""Twice the longest AckTimeout, in ms: within this time, a SUT closes a session on which the peer acknowledges no
message.
"""

WRONG_VERSION_OR_SIGNATURE_BYTES = {
    "version 0": (0, b"\x00"),
    "version 0x11": (0, b"\x11"),
    "version 1": (0, b"\x01"),
    "version 0x0F": (0, b"\x0f"),
    "version 0x20": (0, b"\x20"),
    "version 0x90": (0, b"\x90"),
    "version 0xFF": (0, b"\xff"),
    "signature with its last bit wrong": (4, b"\x4c\x49\x4f\xd2"),
    "signature in small letters": (4, b"lior"),
    "signature 0": (4, b"\x00\x00\x00\x00"),
    "signature in big-endian order": (4, b"\x52\x4f\x49\x4c"),
    "signature with one wrong bit": (4, b"\x4d\x49\x4f\x52"),
}

CHANGES_OF_ESTABLISH_REQUEST: dict[str, dict[str, Any]] = {
    "IN 0": {"base": {"IN": 0}},
    "PT 0": {"internal": {"PT": 0}},
    "PT 1": {"internal": {"PT": 1}},
    "PT 3": {"internal": {"PT": 3}},
    "PT 6": {"internal": {"PT": 6}},
    "PT 10": {"internal": {"PT": 10}},
}


@covers("MQQB-3.1.5.1-01")
def test_message_before_timer_expiry_keeps_session_open(peer, sut, judge):
    """The peer sends a message shortly before the Session Ack Wait Timer expires. The SUT keeps the session open for
    another period of the timer.
    """
    session = OutgoingSession(peer, sut)
    message = session.open()
    connection = session.connection
    limit = sut.duration_ms(LONGEST_ACK_WAIT_MS) + sut.slack_ms(LONGEST_ACK_WAIT_MS)
    if not connection.wait_closed(within_ms=limit) or connection.record.closed_at_ms is None:
        raise ConformanceFailure("the SUT waits indefinitely for the acknowledgment of its message")
    first_wait = peer.measure_duration(message, connection.record.closed_at_ms)
    message = session.open()
    connection = session.connection
    if connection.wait_closed(first_wait.ms * 3 // 4, exactly=True):
        raise ConformanceFailure("the second session ended after less than 3/4 of the duration of the first session")
    sent = connection.send(peer.message())
    connection.wait_closed(first_wait.ms * 2 // 5, exactly=True)
    if connection.closed_by_sut:
        for since in (first_wait, peer.measure_duration(message)):
            since.require_duration_without_long_stall(first_wait.ms // 10)
    judge(
        "MQQB-3.1.5.1-01",
        expected=holds("the session is open", otherwise="the session is closed"),
        observed=not connection.closed_by_sut,
        evidence=[message, sent, connection.last],
    )
    connection.send(session_ack(AckSequenceNumber=1, UserMsgSequenceNumber=1))


@malforms("MQMQ-2.2.19.2-15", "MQMQ-2.2.19.2-21", "MQMQ-2.2.20-01", "MQMQ-2.2.20-05", "MQQB-2.2.1-02")
@covers("MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01")
def test_establish_connection_with_wrong_in_or_pt_closes_connection(peer, judge):
    """The SUT answers an EstablishConnection request; when the same packet arrives with IN clear or with a wrong PT,
    the SUT closes the connection.
    """
    unchanged = peer.connect()
    asked = unchanged.send(establish_request(peer))
    answer = unchanged.poll("EstablishConnection")
    judge.all(
        expected=packet("EstablishConnection"),
        observed=answer,
        case="answer to the unchanged packet",
        evidence=[asked, answer],
    )
    for flaw, changes in CHANGES_OF_ESTABLISH_REQUEST.items():
        connection = peer.connect()
        sent = connection.send(establish_connection(ClientGuid=peer.identifier, **changes))
        observed = await_early_close(peer, connection)
        judge.all(
            expected=closed_without_answer(0),
            observed=observed,
            case=f"packet with {flaw}",
            evidence=[sent, connection.last],
        )


@malforms("MQMQ-2.2.19.1-01", "MQMQ-2.2.19.1-21")
@sut_survives()
@covers("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01")
@pytest.mark.parametrize("opens", ["peer", "sut"])
@pytest.mark.parametrize("wrong", WRONG_VERSION_OR_SIGNATURE_BYTES)
def test_packet_with_wrong_version_or_signature_closes_session(peer, sut, judge, wrong, opens):
    """The peer sends a message with a wrong version or signature on an open session. The SUT neither acknowledges nor
    stores the message, and closes the session.
    """
    at, value = WRONG_VERSION_OR_SIGNATURE_BYTES[wrong]
    connection = peer.open_raw() if opens == "peer" else await_session_of_sut(peer, sut)
    connection.require_session_ack_for_message()
    data = bytearray(bytes(peer.recoverable_message(label=wrong)))
    data[at : at + len(value)] = value
    known = len(connection.received)
    sent = connection.send(bytes(data))
    observed = await_early_close(peer, connection)
    judge.all(expected=closed_without_answer(known), observed=observed, evidence=[sent, connection.last])
    if sut.has("receive"):
        stored = [one["label"] for one in sut.messages("plain") if one["label"] == wrong]
        judge("MQQB-3.1.5.1.2-01", expected=none("stored message"), observed=stored, evidence=[sent])


@malforms("MQMQ-2.2.19.1-01", "MQMQ-2.2.19.1-21")
@sut_survives()
@covers("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01")
@pytest.mark.parametrize("wrong", ["version 0x11", "signature in small letters"])
def test_response_with_wrong_signature_closes_session_that_opens(peer, sut, judge, wrong):
    """The peer answers the SUT's EstablishConnection request with a packet with a wrong version or signature. The SUT
    closes the session and sends nothing.
    """
    at, value = WRONG_VERSION_OR_SIGNATURE_BYTES[wrong]
    session = OutgoingSession(peer, sut)
    data = bytearray(bytes(establish_response(peer, session.await_request())))
    data[at : at + len(value)] = value
    connection = session.connection
    known = len(connection.received)
    sent = connection.send(bytes(data))
    observed = await_early_close(peer, connection)
    judge.all(expected=closed_without_answer(known), observed=observed, evidence=[sent, connection.last])


@malforms("MQMQ-2.2.19.1-01", "MQMQ-2.2.19.1-21")
@sut_survives()
@covers("MQQB-3.1.5.1.2-01", "MQQB-3.1.5.1.2-D01")
@pytest.mark.parametrize("wrong", ["version 0x11", "signature in small letters"])
def test_second_packet_of_segment_with_wrong_signature_closes_session(peer, judge, wrong):
    """The peer sends a correct message and a message with a wrong version or signature in one TCP segment. The SUT
    closes the session.
    """
    at, value = WRONG_VERSION_OR_SIGNATURE_BYTES[wrong]
    connection = peer.open_raw()
    connection.require_session_ack_for_message()
    data = bytearray(bytes(peer.recoverable_message()))
    data[at : at + len(value)] = value
    sent = connection.send_together(peer.recoverable_message(), bytes(data))
    judge.all(
        expected=connection_closed_by_sut(),
        observed=await_early_close(peer, connection),
        evidence=[*sent, connection.last],
    )


@malforms("MQMQ-2.2.19.3-18", "MQQB-2.2.2-D01")
@sut_survives()
@covers("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01")
@pytest.mark.parametrize("flaw", ["a MessageSize beyond the packet", "a byte after the ConnectionParametersHeader"])
def test_malformed_packet_among_packets_of_segment_closes_session(peer, judge, flaw):
    """The peer sends a message, a malformed packet and another message in one TCP segment. The SUT closes the
    session.
    """
    connection = peer.open_raw()
    connection.require_session_ack_for_message()
    packets = [peer.recoverable_message(), build_malformed_packets(peer)[flaw], peer.recoverable_message()]
    sent = connection.send_together(*packets)
    judge.all(
        expected=connection_closed_by_sut(),
        observed=await_early_close(peer, connection),
        evidence=[*sent, connection.last],
    )


@malforms("MQQB-2.2.2-D01")
@sut_survives()
@covers("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01")
def test_malformed_parameters_close_session_that_opens(peer, sut, judge):
    """The peer sends a ConnectionParameters request or response with an additional byte. The SUT closes the session and
    sends nothing.
    """
    flaw = "a byte after the ConnectionParametersHeader"
    accepted = peer.request_session()
    outgoing = OutgoingSession(peer, sut)
    outgoing.await_request()
    outgoing.respond()
    for case, connection in (("request", accepted), ("response", outgoing.connection)):
        known = len(connection.received)
        sent = connection.send(build_malformed_packets(peer)[flaw])
        observed = await_early_close(peer, connection)
        judge.all(expected=closed_without_answer(known), observed=observed, case=case, evidence=[sent, connection.last])


def build_malformed_packets(peer: Peer) -> dict[str, bytes]:
    """Return packets that violate the layout of MS-MQQB 2 or MS-MQMQ, by the name of the violation."""
    message = bytes(peer.recoverable_message())
    parameters = bytes(connection_parameters(RecoverableAckTimeout=500, AckTimeout=20_000))
    return {
        "an undefined value in UserHeader.Flags.DQ": bytes(peer.message(user={"DM": 1, "DQ": 1})),
        "UserHeader.Flags.MP = 0": bytes(peer.message(user={"DM": 1, "MP": 0})),
        "a MessageSize beyond the packet": bytes(peer.recoverable_message(MessageSize=60_000)),
        "a LabelLength beyond the packet": bytes(peer.recoverable_message(LabelLength=250)),
        "an incomplete UserHeader": set_packet_size(message[:40]),
        "an incomplete TransactionHeader": build_incomplete_transaction(peer),
        "an incomplete ConnectionParametersHeader": set_packet_size(parameters[:28]),
        "a FinalAck body of 35 bytes": bytes(build_unknown_ack(peer, final=True, size=35)),
        "a FinalAck body of 37 bytes": bytes(build_unknown_ack(peer, final=True, size=37)),
        "a byte after the ConnectionParametersHeader": set_packet_size(parameters + b"\x00"),
        "a PacketSize smaller than a BaseHeader": message[:8] + (15).to_bytes(4, "little") + message[12:],
        "a PacketSize above the maximum": message[:8] + (0x00400001).to_bytes(4, "little") + message[12:],
    }


def build_incomplete_transaction(peer: Peer) -> bytes:
    """Return a transactional message that ends in its TransactionHeader."""
    message = Sequence(peer).message()
    before = len(bytes(message)) - len(bytes(message["TransactionHeader"]))
    return set_packet_size(bytes(message)[: before + 8])


def set_packet_size(data: bytes) -> bytes:
    """Return the bytes of a packet whose PacketSize is set to the number of its bytes."""
    return data[:8] + len(data).to_bytes(4, "little") + data[12:]


@malforms(
    "MQDMPR-3.1.7.1.32-04",
    "MQMQ-2.2.19.1-22",
    "MQMQ-2.2.19.2-15",
    "MQMQ-2.2.19.2-21",
    "MQMQ-2.2.19.3-18",
    "MQMQ-2.2.20-01",
    "MQMQ-2.2.20-05",
    "MQQB-2.2.2-D01",
    "MQQB-2.2.2.1-D01",
    "MQQB-2.2.5-09",
)
@sut_survives()
@covers("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01")
def test_malformed_packet_closes_session(peer, judge):
    """While another session is open, the peer sends a malformed packet on an open session. The SUT does not acknowledge
    the packet, and closes the session on which it arrived.
    """
    beside = peer.open_raw()
    for flaw, data in build_malformed_packets(peer).items():
        connection = peer.open_raw()
        if connection.request_acknowledgment() is None:
            raise ConformanceFailure("the SUT did not acknowledge a well-formed message")
        known = len(connection.received)
        sent = connection.send(data)
        judge.all(
            expected=closed_without_answer(known),
            observed=await_early_close(peer, connection),
            case=f"packet with {flaw}",
            evidence=[sent, connection.last],
        )
    judge.all(
        expected=holds("the other session is open"),
        observed=beside.request_acknowledgment() is not None or beside.outcome(),
        evidence=beside.received,
    )


@malforms("MQMQ-2.2.19.3-18", "MQQB-2.2.2-D01")
@sut_survives()
@covers("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01")
@pytest.mark.parametrize("flaw", ["a MessageSize beyond the packet", "a byte after the ConnectionParametersHeader"])
def test_malformed_packet_closes_session_of_the_sut(peer, sut, judge, flaw):
    """The peer sends a malformed packet on a session that the SUT opened. The SUT does not acknowledge the packet, and
    closes the session.
    """
    connection = await_session_of_sut(peer, sut)
    connection.require_session_ack_for_message()
    known = len(connection.received)
    sent = connection.send(build_malformed_packets(peer)[flaw])
    judge.all(
        expected=closed_without_answer(known),
        observed=await_early_close(peer, connection),
        case=f"packet with {flaw}",
        evidence=[sent, connection.last],
    )
