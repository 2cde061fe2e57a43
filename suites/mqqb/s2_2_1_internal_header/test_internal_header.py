"""MS-MQQB 2.2.1 InternalHeader."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import closed_without_answer, connection_closed_by_sut, fields, none, packet
from harness.peer.handshake import establish_request
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, malforms, sut_survives
from harness.wire import session_ack
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqqb.steps.sender import Sender

RULES_OF_RESERVED_BITS = {
    "X5": "MQQB-2.2.1-07",
    "X6": "MQQB-2.2.1-08",
    "X7": "MQQB-2.2.1-09",
    "X8": "MQQB-2.2.1-10",
    "X9": "MQQB-2.2.1-11",
    "X10": "MQQB-2.2.1-12",
    "X11": "MQQB-2.2.1-13",
    "X12": "MQQB-2.2.1-14",
    "X13": "MQQB-2.2.1-15",
    "X14": "MQQB-2.2.1-16",
    "X15": "MQQB-2.2.1-17",
}
"""The rule of each reserved bit of InternalHeader.Flags."""

KINDS_OF_OPENING_REQUESTS = ("EstablishConnection", "ConnectionParameters")
FLAGS_OFFSET = 18
RESERVED_BITS_OF_INTERNAL_FLAGS = 0xFFE0
"""The bits X5 to X15 of InternalHeader.Flags."""


@sut_survives()
@covers(*RULES_OF_RESERVED_BITS.values())
def test_reserved_bit_in_internal_packets_is_ignored(peer, judge):
    """The peer opens a session and sends a message, with one reserved bit set in each internal packet. The SUT answers
    every packet, and the reserved bits in its answers are the same as without that bit.
    """
    usual = _list_reserved_bits_of_answers(exchange_message(peer))
    for bit, rule in RULES_OF_RESERVED_BITS.items():
        exchange = exchange_message(peer, internal={bit: 1})
        judge(rule, expected=exchange.ALL_ANSWERED_EXPECTATION, observed=exchange.outcome, evidence=exchange.evidence)
        case = f"reserved bits of Flags in the answers to packets with {bit}"
        judge(
            rule,
            expected=usual,
            observed=_list_reserved_bits_of_answers(exchange),
            case=case,
            evidence=exchange.evidence,
        )


def _list_reserved_bits_of_answers(exchange):
    """Return the reserved bits of InternalHeader.Flags in each answer of the SUT."""
    answers = [frame.data for frame in exchange.answers if frame is not None]
    return [
        int.from_bytes(data[FLAGS_OFFSET : FLAGS_OFFSET + 2], "little") & RESERVED_BITS_OF_INTERNAL_FLAGS
        for data in answers
    ]


@sut_survives()
@covers("MQQB-2.2.1-01")
def test_reserved_of_internal_header_is_sent_as_zero_and_ignored(peer, judge):
    """The peer opens one session with InternalHeader.Reserved 0 and one with 0xBEEF. The SUT sends the usual answers,
    with Reserved 0.
    """
    for reserved in (0, 0xBEEF):
        exchange = exchange_message(peer, internal={"Reserved": reserved})
        judge(
            "MQQB-2.2.1-01",
            expected=exchange.ALL_ANSWERED_EXPECTATION,
            observed=exchange.outcome,
            evidence=exchange.evidence,
        )
    sent = [int.from_bytes(frame.data[16:18], "little") for frame in exchange.connection.received]
    judge(
        "MQQB-2.2.1-01",
        expected=[0, 0, 0],
        observed=sent,
        case="Reserved in the packets of the SUT",
        evidence=exchange.evidence,
    )


@sut_survives()
@pytest.mark.parametrize(
    "ignored",
    [
        pytest.param({"Reserved": 0xBEEF}, marks=covers("MQQB-2.2.1-01"), id="Reserved"),
        pytest.param(
            dict.fromkeys(RULES_OF_RESERVED_BITS, 1), marks=covers(*RULES_OF_RESERVED_BITS.values()), id="bits"
        ),
    ],
)
def test_session_ack_with_ignored_fields_set_acknowledges(peer, sut, judge, ignored):
    """The peer acknowledges the first of two messages by a SessionAck in which fields that the SUT must ignore are set.
    On the next session, the SUT sends only the second message.
    """
    sender = Sender(peer, sut)
    sender.send(1, 2)
    session, sent = sender.await_first_messages(2)
    ack = session.send(session_ack(internal=ignored, AckSequenceNumber=1))
    peer.settle()
    session.close()
    came = sender.collect_messages_until_silence(later := sender.await_session(), 1)
    judge.all(
        expected=[2],
        observed=Sender.list_tags(came),
        case="numbers of the messages on the next session",
        evidence=[*sent, ack, *came],
    )
    later.acknowledge_all()


@covers("MQQB-2.2.1-D01")
def test_internal_header_has_pt_and_cs_in_four_bytes(peer, judge):
    """The SUT sends four answers, one of which is a refusal: PT and CS are in the specified bits, and ClientGuid
    follows Flags if the packet contains a ClientGuid.
    """
    exchange = exchange_message(peer)
    connection = peer.connect()
    sent = connection.send(establish_request(peer, ServerGuid=OTHER_GUID))
    refusal = connection.poll_packet(0)
    answers = [*exchange.answers, refusal]
    seen = [
        f"0x{frame.data[FLAGS_OFFSET] & 0x1F:02X} in a packet of {len(frame.data)} bytes"
        for frame in answers
        if frame is not None
    ]
    client = sent.data[20:36].hex()
    follows = [frame.data[20:36].hex() == client for frame in (exchange.answers[0], refusal) if frame is not None]
    judge(
        "MQQB-2.2.1-D01",
        expected=fields(
            {
                "Flags": [
                    "0x02 in a packet of 572 bytes",
                    "0x03 in a packet of 32 bytes",
                    "0x01 in a packet of 36 bytes",
                    "0x12 in a packet of 572 bytes",
                ],
                "ClientGuid follows Flags": [True, True],
            }
        ),
        observed={"Flags": seen, "ClientGuid follows Flags": follows},
        evidence=[*exchange.connection.received, refusal],
    )


@covers("MQQB-2.2.1-D01")
def test_initiator_reads_refusal_from_bit_4_of_flags(peer, sut, judge):
    """The SUT closes the connection after a response with bit 4 of Flags set, and answers a response with bit 5 set."""
    session = OutgoingSession(peer, sut)
    for flag, expected in (("CS", closed_without_answer(1)), ("X5", packet("ConnectionParameters"))):
        asked = session.await_request()
        sent = session.connection.send(establish_response(peer, asked, internal={flag: 1}))
        answer = session.connection.poll_next_packet()
        judge(
            "MQQB-2.2.1-D01",
            expected=expected,
            observed=session.connection if flag == "CS" else answer or session.connection,
            case=f"response with {flag} set",
            evidence=[sent, answer],
        )
        session.connection.close()


@malforms("MQQB-2.2.1-02")
@sut_survives()
@covers("MQQB-2.2.1-03")
@pytest.mark.parametrize("packet_type", [0x0, 0x4, 0xF])
def test_unknown_packet_type_closes_session(peer, judge, packet_type):
    """An internal packet with an unknown PT, sent on an open session, makes the SUT close the connection."""
    connection = peer.open_raw()
    connection.require_session_ack_for_message()
    data = bytearray(bytes(connection.sent[1].data))
    data[FLAGS_OFFSET] = packet_type
    sent = connection.send(bytes(data))
    connection.wait_closed()
    judge("MQQB-2.2.1-03", expected=connection_closed_by_sut(), observed=connection, evidence=[sent])


@sut_survives()
@covers("MQQB-2.2.1-05")
def test_request_for_other_queue_manager_is_refused(peer, sut, judge):
    """The peer sends an EstablishConnection request whose ServerGuid is the GUID of another queue manager: a completely
    different GUID, a GUID that differs from the SUT's GUID only in its last bit, or the GUID of the peer. The SUT sets
    CS in its response, for both values of SE.
    """
    peer.request_session()
    refusal = packet("EstablishConnection", {"InternalHeader.CS": 1})
    for flag, guid in ((0, OTHER_GUID), (1, OTHER_GUID), (1, UUID(int=sut.guid.int ^ 1)), (0, peer.identifier)):
        connection = peer.connect()
        sent = connection.send(establish_request(peer, ServerGuid=guid, SE=flag))
        reply = connection.poll_packet(0)
        judge(
            "MQQB-2.2.1-05",
            expected=refusal,
            observed=reply or connection,
            case=f"response to the request with SE {flag} for {guid}",
            evidence=[sent, reply],
        )


@sut_survives()
@covers("MQQB-2.2.1-01", *RULES_OF_RESERVED_BITS.values())
def test_reserved_bits_and_reserved_of_responses_are_ignored(peer, sut, judge):
    """The peer's responses have Reserved and all reserved bits of InternalHeader set, while a session of the peer is
    open. The SUT opens its session and sends its message. If it does not, the peer sets each of these fields alone, on
    a separate session.
    """
    peer.open_raw()
    listener = peer.listen_without_core()
    rules = {"Reserved": "MQQB-2.2.1-01"} | RULES_OF_RESERVED_BITS
    values = dict.fromkeys(RULES_OF_RESERVED_BITS, 1) | {"Reserved": 0xBEEF}
    came, evidence = _open_session_with_internal_fields(peer, sut, listener, values)
    requests = [
        frame for frame in evidence if frame is not None and frame.kind in KINDS_OF_OPENING_REQUESTS and frame.from_sut
    ]
    judge(
        "MQQB-2.2.1-01",
        expected=none("packet with nonzero Reserved"),
        observed=[frame.kind for frame in requests if frame.data[16:18] != bytes(2)],
        case="Reserved in the requests of the SUT",
        evidence=requests,
    )
    if came is not None:
        judge(*rules.values(), expected=packet("UserMessage"), observed=came, evidence=evidence)
        return
    for field, rule in rules.items():
        came, evidence = _open_session_with_internal_fields(peer, sut, listener, {field: values[field]})
        judge(rule, expected=packet("UserMessage"), observed=came, case=f"{field} set", evidence=evidence)


def _open_session_with_internal_fields(peer, sut, listener, values):
    """Answer the SUT's next request and its ConnectionParameters with the given fields of InternalHeader. Return the
    message from the SUT, or None if it sends no message, and the packets.
    """
    make_sut_send_message(peer, sut, peer.direct_name())
    session = OutgoingSession(peer, sut, listener=listener)
    asked = session.await_request()
    connection = session.connection
    connection.send(establish_response(peer, asked, internal=values))
    answer = connection.poll("ConnectionParameters")
    came = None
    if answer is not None:
        connection.send(parameters_response(answer, internal=values))
        came = connection.poll("UserMessage")
    evidence = [asked, *connection.sent, answer, came]
    if came is None:  # the SUT tries again
        session.open()
    session.connection.acknowledge_all()
    peer.settle()
    session.connection.close()
    peer.settle()
    return came, evidence
