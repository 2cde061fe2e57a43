"""MS-MQMQ 2.2.20 UserMessage Packet: optional headers, received and sent."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts
from harness.run.marks import covers, needs, sut_survives, varied
from harness.sut.control import ControlRefused
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import MQFAddressHeader, MQFDirectQueueFormatName, MQFFormatNameElement, MQFSignatureHeader
from harness.wire.protection import SIG30
from suites.messages import Sequence
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import AcknowledgingReceiver, get_correlation_id, identifier, private_queue
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.secured import SecuredMessageSender, flip_signature_bit, sign_message
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.tracing import TraceReportMessage
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

RULE_BY_UNUSED_DEBUG_FIELD = {
    "X2": "MQMQ-2.2.20.8-02",
    "X3": "MQMQ-2.2.20.8-03",
    "X4": "MQMQ-2.2.20.8-04",
    "X5": "MQMQ-2.2.20.8-05",
    "X6": "MQMQ-2.2.20.8-06",
    "X7": "MQMQ-2.2.20.8-07",
    "X8": "MQMQ-2.2.20.8-08",
    "X9": "MQMQ-2.2.20.8-09",
    "X10": "MQMQ-2.2.20.8-10",
    "X11": "MQMQ-2.2.20.8-11",
    "X12": "MQMQ-2.2.20.8-12",
    "X13": "MQMQ-2.2.20.8-13",
    "X14": "MQMQ-2.2.20.8-14",
    "X15": "MQMQ-2.2.20.8-15",
    "Reserved": "MQMQ-2.2.20.8-16",
}
"""The rule about each unused bit of Flags, and about Reserved."""
IGNORED_FIELD_RULES_OF_TRACED_MESSAGE = (*RULE_BY_UNUSED_DEBUG_FIELD.values(), "MQMQ-2.2.20.7-02", "MQMQ-2.2.20.7-05")
SOAP_HEADER_FIELDS = {"Header": "<a/>", "Body": "<b/>"}
NONZERO_RESERVED_VALUE = 0xA7C3
LARGE_BODY = b"large body " * 500
ARRIVAL_ACK_CLASS, BAD_SIGNATURE_CLASS = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"
PIGGYBACK_SHARE_OF_ACK_TIMEOUT = 0.85
"""The time after which the check lets the SUT send, as a fraction of half of AckTimeout. After three quarters of this
time, a message contains a SessionHeader (MS-MQQB 3.1.7.11).
"""
MAX_ATTEMPTS = 5
"""The number of attempts: on a busy machine, the SUT may send too early or too late."""
SESSION_HEADER_FLAG_AND_SIZE_WITHOUT_ACK, SESSION_HEADER_FLAG_AND_SIZE_WITH_ACK = (0, 0), (1, 16)
"""Pairs of SH and the size of the SessionHeader in bytes."""


@sut_survives()
@covers(*RULE_BY_UNUSED_DEBUG_FIELD.values())
def test_any_unused_bit_of_debug_header_is_accepted(peer, sut, judge):
    """The peer sends large messages, each with one unused bit of DebugHeader.Flags set, and a large message with a
    nonzero Reserved. Each message is in its queue.
    """
    for field, rule in RULE_BY_UNUSED_DEBUG_FIELD.items():
        fields = {field: NONZERO_RESERVED_VALUE if field == "Reserved" else 1}
        done = deliver_message(peer, peer.recoverable_message(debug=fields, label=field, body=LARGE_BODY), field)
        judge(rule, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")


@sut_survives()
@covers("MQMQ-2.2.20.7-02", "MQMQ-2.2.20.7-05")
def test_any_reserved_of_soap_header_is_accepted(peer, sut, judge):
    """The peer sends messages with a nonzero Reserved or Reserved1 in the SoapHeader. Each message is in its queue as
    it was sent.
    """
    for field, rule in (("Reserved", "MQMQ-2.2.20.7-02"), ("Reserved1", "MQMQ-2.2.20.7-05")):
        done = deliver_message(
            peer,
            peer.recoverable_message(soap={**SOAP_HEADER_FIELDS, field: NONZERO_RESERVED_VALUE}, label=field),
            field,
        )
        expected, observed = done.accepted_outcome, done.outcome
        if observed == expected and sut.has("receive"):
            found = next((one for one in sut.messages() if one["label"] == field), None)
            expected, observed = UNCHANGED_PROPERTIES_OUTCOME, describe_differences(done.frames[0], found, sut.guid)
        judge(rule, expected=expected, observed=observed, evidence=done.frames, case="message")


@sut_survives()
@covers("MQMQ-2.2.20.2-03", "MQMQ-2.2.20.3-02")
def test_any_reserved_of_mqf_headers_is_accepted(peer, sut, judge):
    """The peer sends messages with a nonzero Reserved in an MQFAddressHeader or MQFSignatureHeader. Each message is in
    its queue.
    """
    name = sut.format_name().removeprefix("DIRECT=")
    element = MQFFormatNameElement(FormatType=3, FormatName=MQFDirectQueueFormatName(DirectFormatName=name))
    lists = {
        name: MQFAddressHeader(HeaderID=number, FormatNameList=[element], Reserved=NONZERO_RESERVED_VALUE)
        for name, number in (("Destination", 0x64), ("Administration", 0xC8), ("Response", 0x12C))
    }
    signature = {"Destination": [element], "Signature": MQFSignatureHeader(Reserved=NONZERO_RESERVED_VALUE)}
    for rule, fields in (("MQMQ-2.2.20.2-03", lists), ("MQMQ-2.2.20.3-02", signature)):
        done = deliver_message(peer, peer.recoverable_message(mqf=fields, label=rule), rule)
        judge(rule, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")


@needs("public_names")
@covers(*IGNORED_FIELD_RULES_OF_TRACED_MESSAGE)
@pytest.mark.parametrize("queue", ["plain", "transactional"])
def test_any_unused_bit_leaves_traced_message_reported(peer, sut, judge, queue):
    """The peer sends traced messages to each kind of queue. In some, unused bits or Reserved of the DebugHeader are
    set; others have a SoapHeader whose reserved fields are nonzero. The SUT sends one report about each message and
    acknowledges its arrival, as it does for a message whose unused bits are clear.
    """
    receiver = AcknowledgingReceiver(peer, sut)

    def send_traced_message(debug, **headers):
        headers |= {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE, **debug}}
        if queue == "plain":
            return receiver.send_packet(receiver.build_message(properties={"PA": 1}, **headers))
        receiver.sequence = Sequence(peer)  # a SUT may end a sequence with any session (E41)
        return receiver.send(receiver.add_admin_queue_fields(), properties={"PA": 1}, **headers)

    send_traced_message({})
    if not receiver.await_messages_of_sut(receiver.list_reports, 1):
        judge.mark_not_exercised(
            *IGNORED_FIELD_RULES_OF_TRACED_MESSAGE, reason="the SUT sends no report on an ordinary traced message"
        )
        return
    sent = {}
    for field, rule in RULE_BY_UNUSED_DEBUG_FIELD.items():
        values = (NONZERO_RESERVED_VALUE, 1) if field == "Reserved" else (1,)
        sent[rule] = [send_traced_message({field: value}) for value in values]
    for field, rule in (("Reserved", "MQMQ-2.2.20.7-02"), ("Reserved1", "MQMQ-2.2.20.7-05")):
        sent[rule] = [send_traced_message({}, soap={**SOAP_HEADER_FIELDS, field: NONZERO_RESERVED_VALUE})]
    messages = [message for each in sent.values() for message in each]
    frames = receiver.await_messages_of_sut(receiver.list_reports, 1 + len(messages))
    acks = receiver.await_acks(1 + len(messages))
    reports, acknowledged = [TraceReportMessage(frame) for frame in frames], [get_correlation_id(ack) for ack in acks]
    for rule, of_rule in sent.items():
        observed = [
            (sum(report.is_about_message(message) for report in reports), acknowledged.count(identifier(message)))
            for message in of_rule
        ]
        judge(
            rule,
            expected=[(1, 1)] * len(of_rule),
            observed=observed,
            case="reports and acknowledgments of each message",
            evidence=[*of_rule, *frames, *acks],
        )
    receiver.acknowledge_all()


@needs("public_names", "private_names")
@covers(*RULE_BY_UNUSED_DEBUG_FIELD.values())
def test_any_unused_bit_leaves_forwarded_message_reported(peer, sut, judge):
    """The peer sends traced messages for a private queue of its own, with unused bits or Reserved of the DebugHeader
    set. The SUT sends the same number of reports about each message as about a message whose unused bits are clear.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    to = private_queue(peer.identifier, 1)

    def send_traced_message(debug):
        headers = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE, **debug}}
        return receiver.send_packet(peer.message(to, destination=None, **headers))

    first = send_traced_message({})
    usual = sum(
        TraceReportMessage(frame).is_about_message(first)
        for frame in receiver.await_messages_of_sut(receiver.list_reports, 2)
    )
    if not usual:
        judge.mark_not_exercised(
            *RULE_BY_UNUSED_DEBUG_FIELD.values(), reason="the SUT sends no report on a traced message that it forwards"
        )
        return
    sent = {
        rule: send_traced_message({field: NONZERO_RESERVED_VALUE if field == "Reserved" else 1})
        for field, rule in RULE_BY_UNUSED_DEBUG_FIELD.items()
    }
    frames = receiver.await_messages_of_sut(receiver.list_reports, usual * (1 + len(sent)))
    reports = [TraceReportMessage(frame) for frame in frames]
    for rule, message in sent.items():
        observed = sum(report.is_about_message(message) for report in reports)
        judge(
            rule,
            expected=usual,
            observed=observed,
            case="number of reports on the message",
            evidence=[message, *frames],
        )
    receiver.acknowledge_all()


@needs("security", "receive")
@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=covers(rule), id=part.lower())
        for part, rule in (
            ("Signature", "MQMQ-2.2.20.3-02"),
            ("Destination", "MQMQ-2.2.20.2-03"),
            ("Administration", "MQMQ-2.2.20.2-03"),
            ("Response", "MQMQ-2.2.20.2-03"),
        )
    ],
)
def test_any_reserved_of_mqf_header_leaves_signature_verified(peer, sut, judge, part):
    """The peer sends two messages with MSMQ 3.0 signatures and a nonzero Reserved in one part of the
    MultiQueueFormatHeader. The message with a genuine signature is acknowledged as arrived. The message with a forged
    signature is refused.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    packets = {
        "genuine": sign_message(secured.message(several=True), SIG30),
        "forged": flip_signature_bit(sign_message(secured.message(several=True), SIG30)),
    }
    for packet in packets.values():
        getattr(packet["MultiQueueFormatHeader"], part).Reserved = NONZERO_RESERVED_VALUE
    found = secured.send_and_read_dispositions(packets)
    judge.all(
        expected=facts(
            genuine_signature=ARRIVAL_ACK_CLASS,
            forged_signature=secured.describe_refusal_without_storing(BAD_SIGNATURE_CLASS),
        ),
        observed={
            "genuine_signature": found["genuine"].answer,
            "forged_signature": found["forged"].silent_refusal,
        },
        evidence=[*found["genuine"].frames, *found["forged"].frames],
    )


@covers("MQMQ-2.2.20-09", "MQMQ-2.2.19.1-07")
@varied("positive journaling", acknowledgments=("none", "of receipt"), body=("short", "5,000 bytes"))
def test_message_with_sh_has_session_header(peer, sut, judge):
    """The SUT sends a message shortly before its acknowledgment timer expires: SH is 1, and the packet is 16 bytes
    longer than without a SessionHeader.
    """
    sut.limit_time_scale(10)
    sender = Sender(peer, sut)
    sender.send(1)
    session, first = sender.await_first_messages(1)
    delay_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout // 2
    for number in range(2, 2 + MAX_ATTEMPTS):
        session.acknowledge_all()
        known = len(session.received)
        received = session.send(peer.message())
        peer.pass_time(sut.duration_ms(int(delay_ms * PIGGYBACK_SHARE_OF_ACK_TIMEOUT)))
        sender.send(number)
        sent = sender.collect_messages(session, number)
        if len(sent) < number or _get_session_header(sent[-1]) != SESSION_HEADER_FLAG_AND_SIZE_WITHOUT_ACK:
            break
        peer.pass_time(sut.duration_ms(delay_ms))  # until the message is acknowledged
    if len(sent) == number and session.received[known].kind == "SessionAck":
        raise ConformanceFailure("the SUT always acknowledged the peer's message before it sent its own message")
    observed = list(dict.fromkeys(_get_session_header(frame) for frame in sent))
    expected, evidence = (
        [SESSION_HEADER_FLAG_AND_SIZE_WITHOUT_ACK, SESSION_HEADER_FLAG_AND_SIZE_WITH_ACK],
        [*first, received, sent[-1]],
    )
    judge.all(
        expected=expected, observed=observed, case="SH and size of the SessionHeader of each message", evidence=evidence
    )
    session.acknowledge_all()


def _get_session_header(frame):
    """Return SH of a message, and the size of its SessionHeader."""
    return int(frame["BaseHeader"].SH), len(frame.data) - int.from_bytes(frame.data[8:12], "little")


LARGEST_PACKET_BYTES = 0x0040_0000


@needs("send")
@covers("MQMQ-2.2.20-D01")
@pytest.mark.parametrize("size", [LARGEST_PACKET_BYTES // 2, LARGEST_PACKET_BYTES])
def test_message_above_maximum_size_is_not_sent(peer, sut, judge, size):
    """The SUT sends a body of 2 MiB in one packet, and refuses or shortens a body of 4 MiB."""
    outgoing = MessagesSentBySut(peer, sut)
    before = outgoing.send(body="before")
    try:
        frame = outgoing.send(body="x" * size)
    except ControlRefused:
        frame = outgoing.send(body="after")
        if size < LARGEST_PACKET_BYTES:
            raise ConformanceFailure("the SUT does not send a body of 2 MiB") from None
    size_sent = Layout(frame).of("MessagePropertiesHeader.MessageSize")["MessagePropertiesHeader.MessageSize"]
    observed = size_sent if size < LARGEST_PACKET_BYTES else "no body of 4 MiB"
    expected = size if size < LARGEST_PACKET_BYTES else "no body of 4 MiB"
    judge(
        "MQMQ-2.2.20-D01", expected=expected, observed=observed, evidence=[before, frame], case="bytes of the sent body"
    )
    outgoing.end()
