"""MS-MQMQ 2.2.20 UserMessage Packet: optional headers, as a receiver takes them and as a sender sends them."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.wire import MQFAddressHeader, MQFDirectQueueFormatName, MQFFormatNameElement, MQFSignatureHeader
from suites.messages import a_message, recoverable_message
from suites.mqqb.exchanges import reception, taken
from suites.mqqb.sender import Sender, messages

DEBUG_BITS = {f"X{number}": f"MQMQ-2.2.20.8-{number:02}" for number in range(2, 16)}
SECURITY_BITS = {f"X{number}": f"MQMQ-2.2.20.6-{number - 2}" for number in range(12, 16)}
SOAP = {"Header": "<a/>", "Body": "<b/>"}
RESERVED = 0xA7C3
PIGGYBACK_AFTER = 0.8
"""Of half of AckTimeout, when a message carries the acknowledgment (three quarters, MS-MQQB 3.1.7.11)."""


@pytest.mark.covers(*DEBUG_BITS.values(), "MQMQ-2.2.20.8-16")
def test_unused_bits_of_a_debug_header_are_ignored(peer, sut, judge):
    """A message whose DebugHeader has an unused bit, or anything in Reserved, is taken as any other."""
    for bit, rule in {**DEBUG_BITS, "Reserved": "MQMQ-2.2.20.8-16"}.items():
        oddity = {bit: RESERVED if bit == "Reserved" else 1}
        done = reception(peer, recoverable_message(peer, debug=oddity, label=bit), bit)
        judge(rule, expected=taken(sut), observed=done.outcome, evidence=done.frames)


@pytest.mark.covers(*SECURITY_BITS.values())
def test_unused_bits_of_a_security_header_are_ignored(peer, sut, judge):
    """An unsigned message of the peer itself whose SecurityHeader has an unused bit is taken as any other."""
    sender = {"ST": 2, "SecurityID": peer.identifier.bytes_le}
    for bit, rule in SECURITY_BITS.items():
        done = reception(peer, recoverable_message(peer, security=sender | {bit: 1}, label=bit), bit)
        judge(rule, expected=taken(sut), observed=done.outcome, evidence=done.frames)


@pytest.mark.covers("MQMQ-2.2.20.7-02", "MQMQ-2.2.20.7-05")
def test_reserved_of_a_soap_header_is_ignored(peer, sut, judge):
    """A message whose SoapHeader has anything in its reserved fields is taken as any other."""
    for field, rule in (("Reserved", "MQMQ-2.2.20.7-02"), ("Reserved1", "MQMQ-2.2.20.7-05")):
        done = reception(peer, recoverable_message(peer, soap={**SOAP, field: RESERVED}, label=field), field)
        judge(rule, expected=taken(sut), observed=done.outcome, evidence=done.frames)


@pytest.mark.covers("MQMQ-2.2.20.2-03", "MQMQ-2.2.20.3-02")
def test_reserved_of_lists_of_queues_is_ignored(peer, sut, judge):
    """A message for several queues is taken whatever the reserved fields of its lists and of their signature hold."""
    name = sut.format_name().removeprefix("DIRECT=")
    element = MQFFormatNameElement(FormatType=3, FormatName=MQFDirectQueueFormatName(DirectFormatName=name))
    lists = {"Destination": MQFAddressHeader(HeaderID=0x64, FormatNameList=[element], Reserved=RESERVED)}
    signature = {"Destination": [element], "Signature": MQFSignatureHeader(Reserved=RESERVED)}
    for rule, fields in (("MQMQ-2.2.20.2-03", lists), ("MQMQ-2.2.20.3-02", signature)):
        done = reception(peer, recoverable_message(peer, mqf=fields, label=rule), rule)
        judge(rule, expected=taken(sut), observed=done.outcome, evidence=done.frames)


@pytest.mark.needs("send")
@pytest.mark.covers("MQMQ-2.2.20-09")
def test_a_message_that_acknowledges_has_a_session_header(peer, sut, judge):
    """A message sent when most of the time for an acknowledgment is over has SH set and 16 bytes more."""
    sender = Sender(peer, sut)
    sender.send(1)
    session, first = sender.first(1)
    received = session.send(a_message(peer))
    timeout_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout
    peer.world.run_until(lambda: False, int(timeout_ms * sut.scale // 2 * PIGGYBACK_AFTER) // sut.scale)
    if any(frame.kind == "SessionAck" for frame in session.received):
        raise ConformanceFailure("the SUT acknowledged at once, so that no message has to")
    sender.send(2)
    sent = sender.collect(session, 2)
    observed = "; ".join(_session_header(frame) for frame in messages(session)) or "no message"
    expected = "SH 0, no SessionHeader; SH 1, a SessionHeader"
    judge("MQMQ-2.2.20-09", expected=expected, observed=observed, evidence=[*first, received, *sent[1:]])
    sender.acknowledge_all(session)


def _session_header(frame):
    extra = len(frame.data) - int.from_bytes(frame.data[8:12], "little")
    there = {0: "no SessionHeader", 16: "a SessionHeader"}.get(extra, f"{extra} bytes more")
    return f"SH {frame['BaseHeader'].SH}, {there}"
