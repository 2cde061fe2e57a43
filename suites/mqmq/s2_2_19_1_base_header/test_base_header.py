"""MS-MQMQ 2.2.19.1 BaseHeader."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts, in_queue, packets
from harness.peer.inbox import establish_response, parameters_response
from harness.run.marks import covers, needs, sut_survives, varied
from harness.wire import connection_parameters, session_ack
from suites.mqqb.steps.exchanges import deliver_message, exchange_message
from suites.mqqb.steps.opening import (
    accept_establish_request,
    listen_for_connection,
    read_in_flag_and_packet_type,
    respond_to_parameters,
    respond_to_request,
)

RULE_BY_RESERVED_BIT = {
    "X9": "MQMQ-2.2.19.1-10",
    "X8": "MQMQ-2.2.19.1-11",
    "X6": "MQMQ-2.2.19.1-14",
    "X5": "MQMQ-2.2.19.1-15",
    "X4": "MQMQ-2.2.19.1-16",
    "X3": "MQMQ-2.2.19.1-17",
    "X2": "MQMQ-2.2.19.1-18",
    "X1": "MQMQ-2.2.19.1-19",
    "X0": "MQMQ-2.2.19.1-20",
}
"""The rule about each reserved bit of Flags."""

INTERNAL_PACKET_SIZES = [572, 32, 36]
"""Sizes in bytes of an EstablishConnection, a ConnectionParameters and a SessionAck packet."""

SHORT_LIFETIME_S = 1
OLD_MESSAGE_AGE_S = 3_600


@covers("MQMQ-2.2.19.1-07")
def test_message_with_session_header_is_accepted(peer, judge):
    """The first message of a session is express, has SH set, and contains a SessionHeader. The SUT acknowledges this
    message and stores it in its queue.
    """
    message = peer.message(session={"UserMsgSequenceNumber": 1}, label="with a header")
    done = deliver_message(peer, message, "with a header")
    judge(
        "MQMQ-2.2.19.1-07",
        expected=done.accepted_outcome,
        observed=done.outcome,
        evidence=done.frames,
        case="message with a SessionHeader",
    )


@covers("MQMQ-2.2.19.1-01", "MQMQ-2.2.19.1-05", "MQMQ-2.2.19.1-07", "MQMQ-2.2.19.1-21", "MQMQ-2.2.19.1-22")
def test_internal_packets_have_version_signature_and_size(peer, judge):
    """The SUT answers the setup of a session and acknowledges a message. Its three internal packets have the specified
    version, signature, size and flags.
    """
    answers = exchange_message(peer).connection.received
    begins = [frame.data[:8] for frame in answers]
    versions = [f"0x{data[0]:02X}" for data in begins]
    signatures = [data[4:8].hex(" ").upper() for data in begins]
    sizes = [int.from_bytes(frame.data[8:12], "little") for frame in answers]
    lengths = [len(frame.data) for frame in answers]
    acks = [len(frame.data) for frame in answers[2:] if int.from_bytes(frame.data[2:4], "little") & 0x10]
    judge("MQMQ-2.2.19.1-01", expected=["0x10"] * 3, case="VersionNumber", observed=versions, evidence=answers)
    judge("MQMQ-2.2.19.1-21", expected=["4C 49 4F 52"] * 3, case="Signature", observed=signatures, evidence=answers)
    judge(
        "MQMQ-2.2.19.1-05",
        expected=[1] * 3,
        case="IN",
        observed=[read_in_flag_and_packet_type(f)["IN"] for f in answers],
        evidence=answers,
    )
    judge(
        "MQMQ-2.2.19.1-07",
        expected=[36],
        case="sizes of the SessionAcks with SH set",
        observed=acks,
        evidence=answers[2:],
    )
    judge(
        "MQMQ-2.2.19.1-22",
        expected=INTERNAL_PACKET_SIZES,
        case="sizes of the packets",
        observed=lengths,
        evidence=answers,
    )
    of_setup = sizes[:2] + [36 if size in (20, 36) else size for size in sizes[2:]]
    judge(
        "MQMQ-2.2.19.1-22",
        expected=INTERNAL_PACKET_SIZES,
        case="PacketSize",
        observed=of_setup,
        evidence=answers,
        errata="E01",
    )


@sut_survives()
@covers("MQMQ-2.2.19.1-02")
@pytest.mark.parametrize("reserved", [0xC0, 0x5A, 0xCD, 0xFF])
def test_any_reserved_of_base_header_is_accepted(peer, judge, reserved):
    """The peer sends each packet of a session with a nonzero Reserved. The SUT sends the same answers as to packets
    with Reserved 0.
    """
    done = exchange_message(peer, base={"Reserved": reserved})
    judge("MQMQ-2.2.19.1-02", expected=done.ALL_ANSWERED_EXPECTATION, observed=done.outcome, evidence=done.evidence)


@sut_survives()
@covers(*RULE_BY_RESERVED_BIT.values())
def test_any_reserved_bit_of_base_header_is_accepted(peer, judge):
    """The peer sends each packet of a session with one reserved bit set. The SUT sends the same answers as to packets
    without reserved bits.
    """
    for bit, rule in RULE_BY_RESERVED_BIT.items():
        done = exchange_message(peer, base={bit: 1})
        judge(rule, expected=done.ALL_ANSWERED_EXPECTATION, observed=done.outcome, evidence=done.evidence)


@needs("send")
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"Reserved": 0xA5}, marks=covers("MQMQ-2.2.19.1-02"), id="Reserved"),
        pytest.param(dict.fromkeys(RULE_BY_RESERVED_BIT, 1), marks=covers(*RULE_BY_RESERVED_BIT.values()), id="bits"),
    ],
)
def test_initiator_accepts_any_reserved_values(peer, sut, judge, fields):
    """The SUT opens a session, on which each packet from the peer has a nonzero Reserved, or all reserved bits set. The
    SUT sends its message, removes the message when it is acknowledged, and keeps the session open.
    """
    connection, asked = accept_establish_request(listen_for_connection(peer, sut))

    def send_message_with_fields(packet, number):
        """Send a packet with the given fields; return the packet with the given number that the SUT sends, or None if
        it does not arrive.
        """
        for field, value in fields.items():
            setattr(packet["BaseHeader"], field, value)
        connection.send(packet)
        return connection.poll_packet(number)

    parameters = send_message_with_fields(establish_response(peer, asked), 1)
    message = None if parameters is None else send_message_with_fields(parameters_response(parameters), 2)
    if message is not None:
        send_message_with_fields(session_ack(AckSequenceNumber=1), 3)
    if message is not None and sut.has("queue_control"):
        to = peer.direct_name()
        peer.eventually(lambda: not sut.outgoing_queue(to)["count"])
        waiting = sut.outgoing_queue(to)["count"]
        judge.all(expected=0, observed=waiting, case="acknowledged messages in the outgoing queue", evidence=[message])
    judge.all(
        expected=facts(packets_of_the_SUT=packets("ConnectionParameters", "UserMessage"), connection_is_closed=False),
        observed={
            "packets_of_the_SUT": [one for one in (parameters, message) if one],
            "connection_is_closed": connection.closed_by_sut,
        },
        evidence=connection.record.frames,
    )


@needs("receive")
@covers("MQMQ-2.2.19.1-03")
@varied(
    "acknowledgments", "response queue", "time to be received", "label", "destination", body=("short", "5,000 bytes")
)
def test_messages_are_in_queue_by_priority(peer, sut, judge):
    """Messages arrive with rising and with falling priority. The queue orders them by priority, and messages of the
    same priority by arrival.
    """
    connection = peer.open_raw()
    sent = []
    for number, priority in enumerate((3, 0, 7, 3, 5)):
        sent.append(
            connection.send(peer.message(base={"PR": priority}, label=f"message {number} of priority {priority}"))
        )
    if connection.request_acknowledgment() is None:
        raise ConformanceFailure("the SUT did not acknowledge the messages")
    labels = [message["label"] for message in sut.messages() if " of priority " in message["label"]]
    judge(
        "MQMQ-2.2.19.1-03",
        expected=[
            f"message {number} of priority {priority}" for number, priority in ((2, 7), (4, 5), (0, 3), (3, 3), (1, 0))
        ],
        case="labels in the queue",
        observed=labels,
        evidence=sent,
    )


@needs("send")
@covers("MQMQ-2.2.19.1-09")
def test_message_with_dh_has_debug_header(peer, sut, judge):
    """A message of the SUT contains a DebugHeader only if DH is set, and the SUT acknowledges a message with DH set and
    a DebugHeader.
    """
    connection, asked = accept_establish_request(listen_for_connection(peer, sut))
    respond_to_request(connection, asked)
    parameters = connection.received[1]["ConnectionParametersHeader"]
    connection.send(_build_parameters_response(parameters))
    message = connection.poll_packet(2)
    observed = "nothing" if message is None else message.kind
    judge("MQMQ-2.2.19.1-09", expected="UserMessage", case="packet of the SUT", observed=observed, evidence=[message])
    connection.send(session_ack(AckSequenceNumber=1))
    other = peer.open_raw()
    sent = other.send(peer.recoverable_message(debug={}))
    answer = other.poll_packet(2)
    observed = answer.kind if answer is not None else other.outcome()
    judge(
        "MQMQ-2.2.19.1-09", expected="SessionAck", case="answer of the SUT", observed=observed, evidence=[sent, answer]
    )


def _build_parameters_response(asked):
    timeouts = {"RecoverableAckTimeout": asked.RecoverableAckTimeout, "AckTimeout": asked.AckTimeout}
    return connection_parameters(WindowSize=64, **timeouts)


@sut_survives()
@needs("receive")
@covers("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52")
@varied("application tag", "extension", "correlation", acknowledgments=("none", "of receipt"))
def test_receiver_ignores_message_past_time_to_reach_queue(peer, sut, judge):
    """The peer sends one message whose TimeToReachQueue has expired and one that has not expired. Only the latter is in
    the queue.
    """
    connection = peer.open_raw()
    sent_time = peer.environment.now().utc_s - OLD_MESSAGE_AGE_S
    sent = [
        connection.send(peer.message(base={"TimeToReachQueue": limit}, user={"SentTime": sent_time}, label=label))
        for label, limit in (("expired", OLD_MESSAGE_AGE_S // 2), ("unexpired", OLD_MESSAGE_AGE_S * 2))
    ]
    connection.require_session_ack_for_message()
    labels = [message["label"] for message in sut.messages() if message["label"] in ("expired", "unexpired")]
    judge.all(expected=in_queue("unexpired"), observed=labels, evidence=sent)


@needs("send")
@covers("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52")
@varied("acknowledgments", "negative journaling", "response queue", "application tag", "trace")
def test_sender_deletes_message_past_time_to_reach_queue(peer, sut, judge):
    """Two messages wait for an unreachable peer, and the first expires before the SUT connects. The SUT sends only the
    second message.
    """
    sut.send(peer.direct_name(), body="expired", label="expired", time_to_reach_queue_s=SHORT_LIFETIME_S)
    peer.pass_time((SHORT_LIFETIME_S + 2) * 1_000)
    listener = listen_for_connection(peer, sut)
    connection, asked = accept_establish_request(listener)
    respond_to_parameters(connection, respond_to_request(connection, asked))
    connection.stays_quiet()
    sent = peer.inbox.messages
    labels = [str(frame["MessagePropertiesHeader"].Label) for frame in sent]
    kinds = ["expired message" if "expired" in label else "unexpired message" for label in labels]
    judge.all(expected=["unexpired message"], case="messages sent by the SUT", observed=kinds, evidence=sent)
    connection.send(session_ack(AckSequenceNumber=len(sent)))
