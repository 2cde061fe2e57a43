"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader."""

from __future__ import annotations

import base64
import contextlib

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, holds
from harness.peer.inbox import parameters_response
from harness.run.marks import covers, needs, sut_survives, varied
from harness.sut.control import ControlRefused
from suites.mqmq.steps.message_bytes import find_properties_header_offset
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import SecondQueueManager

UNUSED_BIT_BY_RULE = {
    "MQMQ-2.2.19.3-05": "X4",
    "MQMQ-2.2.19.3-06": "X5",
    "MQMQ-2.2.19.3-07": "X6",
    "MQMQ-2.2.19.3-08": "X7",
}
"""The unused bits of Flags, by rule."""
PROPERTIES_HEADER_FIXED_BYTES = 56
LONGEST_LABEL_LENGTH = 249
"""The length of the longest label in characters, without the terminating null."""
BODY_OF_17_BYTES = "body of 17 bytes."
LABEL_WITH_SURROGATES = "\U0001f4e8 two words"
"""A label that begins with a character of two WCHARs."""
MESSAGE_LABEL = "label"
SAMPLE_APPLICATION_TAG = 0xC0FF_EE01


class PropertiesHeaderSizes:
    """The sizes in a MessagePropertiesHeader and the bytes after the header. They are read by offset, so that wrong
    sizes can also be judged.
    """

    def __init__(self, data):
        at = find_properties_header_offset(data)
        if at is None or len(data) < at + PROPERTIES_HEADER_FIXED_BYTES:
            raise ConformanceFailure("the SUT's message is too short for a MessagePropertiesHeader")
        self.flags, self.label_length = data[at], data[at + 1]
        self.tag, self.body_size, self.allocated = (
            int.from_bytes(data[at + place :][:4], "little") for place in (28, 32, 36)
        )
        self.extension_size = int.from_bytes(data[at + 52 :][:4], "little")
        self.rest = data[at + PROPERTIES_HEADER_FIXED_BYTES :]


@sut_survives()
@covers(*UNUSED_BIT_BY_RULE)
def test_any_unused_bit_of_properties_header_is_accepted(peer, sut, judge):
    """The peer sends messages with each unused bit of Flags set: each message is in its queue."""
    for rule, bit in UNUSED_BIT_BY_RULE.items():
        done = deliver_message(peer, peer.recoverable_message(properties={bit: 1}, label=bit), bit)
        judge(rule, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")


@needs("receive")
@covers("MQMQ-2.2.19.3-13", "MQMQ-2.2.19.3-16")
@pytest.mark.parametrize(
    ("correlation", "tag"), [(bytes(20), 0), (b"\xff" * 20, 0xFFFF_FFFF), (bytes(range(20)), 0x8000_0001)]
)
@varied("priority", "destination", "extension", "correlation", "queue journaling")
def test_correlation_id_and_application_tag_reach_application(peer, sut, judge, correlation, tag):
    """Messages with several values of CorrelationID and ApplicationTag arrive. The application receives both values as
    they were sent.
    """
    packet = peer.recoverable_message(CorrelationID=correlation, ApplicationTag=tag, label="defined")
    done = deliver_message(peer, packet, "defined")
    found = [one for one in sut.messages() if one["label"] == "defined"]
    observed = [one["correlation_id"] for one in found]
    judge(
        "MQMQ-2.2.19.3-13", expected=[correlation.hex()], case="CorrelationID", observed=observed, evidence=done.frames
    )
    judge(
        "MQMQ-2.2.19.3-16",
        expected=[tag],
        case="ApplicationTag",
        observed=[one["application_tag"] for one in found],
        evidence=done.frames,
    )


@needs("send")
@covers(
    "MQMQ-2.2.19.3-09",
    "MQMQ-2.2.19.3-10",
    "MQMQ-2.2.19.3-16",
    "MQMQ-2.2.19.3-17",
    "MQMQ-2.2.19.3-19",
    "MQMQ-2.2.19.3-27",
    "MQMQ-2.2.19.3-31",
    "MQMQ-2.2.19.3-32",
    "MQMQ-2.2.19.3-33",
)
@varied("acknowledgments", "positive journaling", "negative journaling", "response queue", "time to be received")
def test_sent_message_has_sizes_of_label_extension_and_body(peer, sut, judge):
    """The SUT sends messages with a label and a body, and a message without these parts; one label contains a character
    of two WCHARs. The sizes in the header are the sizes of label, extension and body. Each part is at the offset that
    the sizes determine.
    """
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(body=BODY_OF_17_BYTES, label=MESSAGE_LABEL, application_tag=SAMPLE_APPLICATION_TAG)
    whole = PropertiesHeaderSizes(frame.data)
    judge(
        "MQMQ-2.2.19.3-09",
        expected=len(MESSAGE_LABEL) + 1,
        case="LabelLength",
        observed=whole.label_length,
        evidence=frame,
    )
    judge(
        "MQMQ-2.2.19.3-16", expected=SAMPLE_APPLICATION_TAG, case="ApplicationTag", observed=whole.tag, evidence=frame
    )
    judge(
        "MQMQ-2.2.19.3-17", expected=len(BODY_OF_17_BYTES), case="MessageSize", observed=whole.body_size, evidence=frame
    )
    enough = holds("AllocationBodySize is at least MessageSize", f"AllocationBodySize {whole.allocated}")
    judge("MQMQ-2.2.19.3-19", expected=enough, observed=whole.allocated >= whole.body_size, evidence=frame)
    judge("MQMQ-2.2.19.3-27", expected=0, case="ExtensionSize", observed=whole.extension_size, evidence=frame)
    before = whole.rest.find(BODY_OF_17_BYTES.encode())
    case = "bytes before the body"
    judge("MQMQ-2.2.19.3-32", expected=2 * len(MESSAGE_LABEL) + 2, observed=before, case=case, evidence=frame)

    frame = outgoing.send(body=BODY_OF_17_BYTES, delivery="transactional", application_tag=SAMPLE_APPLICATION_TAG)
    judge(
        "MQMQ-2.2.19.3-16",
        expected=SAMPLE_APPLICATION_TAG,
        case="ApplicationTag of a transactional message",
        observed=PropertiesHeaderSizes(frame.data).tag,
        evidence=frame,
    )

    frame = outgoing.send(body=BODY_OF_17_BYTES, label=LABEL_WITH_SURROGATES)
    judge(
        "MQMQ-2.2.19.3-09",
        expected=len(LABEL_WITH_SURROGATES.encode("utf-16-le")) // 2 + 1,
        case="LabelLength of a label with a character of two WCHARs",
        observed=PropertiesHeaderSizes(frame.data).label_length,
        evidence=frame,
    )

    frame = outgoing.send(body="", label="")
    bare = PropertiesHeaderSizes(frame.data)
    judge("MQMQ-2.2.19.3-09", expected=0, case="LabelLength", observed=bare.label_length, evidence=frame)
    judge(
        "MQMQ-2.2.19.3-10",
        "MQMQ-2.2.19.3-31",
        "MQMQ-2.2.19.3-33",
        expected=b"",
        observed=bare.rest,
        case="bytes after the header",
        evidence=frame,
    )
    outgoing.end()


EMPTY_PART_RULES = ("MQMQ-2.2.19.3-10", "MQMQ-2.2.19.3-31", "MQMQ-2.2.19.3-32", "MQMQ-2.2.19.3-33")
LABEL_AND_BODY_CASES = (
    ("", b""),
    (MESSAGE_LABEL, bytes(range(256)) * 300),
    ("x" * LONGEST_LABEL_LENGTH, b"b"),
    ("", bytes(257)),
    ("la", b""),
)
"""Labels and bodies, of which some are empty or large."""


@needs("send")
@covers(
    "MQMQ-2.2.19.3-09",
    "MQMQ-2.2.19.3-10",
    "MQMQ-2.2.19.3-16",
    "MQMQ-2.2.19.3-17",
    "MQMQ-2.2.19.3-19",
    "MQMQ-2.2.19.3-27",
    "MQMQ-2.2.19.3-29",
    "MQMQ-2.2.19.3-31",
    "MQMQ-2.2.19.3-32",
    "MQMQ-2.2.19.3-33",
    "MQMQ-2.2.19.3-D01",
)
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_sent_message_of_any_delivery_has_its_parts_and_sizes(peer, sut, judge, delivery):
    """The SUT sends recoverable or transactional messages with empty and large labels and bodies, and with all
    acknowledgment bits. The sizes in the header are the sizes of the parts, and each part directly follows the previous
    one.
    """
    outgoing = MessagesSentBySut(peer, sut)
    admin = f"DIRECT=TCP:{sut.address}\\{sut.queue('admin')}"
    acks = ["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"]
    for label, body in LABEL_AND_BODY_CASES:
        frame = outgoing.send(
            label=label,
            body_base64=base64.b64encode(body).decode(),
            application_tag=SAMPLE_APPLICATION_TAG,
            delivery=delivery,
            acks=acks,
            admin_queue=admin,
        )
        found = PropertiesHeaderSizes(frame.data)
        label_bytes = f"{label}\0".encode("utf-16-le") if label else b""
        parts = label_bytes + body
        for rules, case, expected, observed in (
            (("MQMQ-2.2.19.3-09", "MQMQ-2.2.19.3-29"), "LabelLength", len(label_bytes) // 2, found.label_length),
            (("MQMQ-2.2.19.3-16",), "ApplicationTag", SAMPLE_APPLICATION_TAG, found.tag),
            (("MQMQ-2.2.19.3-17",), "MessageSize", len(body), found.body_size),
            (("MQMQ-2.2.19.3-27",), "ExtensionSize", 0, found.extension_size),
            (("MQMQ-2.2.19.3-D01",), "Flags", 0xF, found.flags),
            (
                EMPTY_PART_RULES,
                "bytes of label and body",
                parts,
                found.rest[: len(parts)] if parts else found.rest,
            ),
        ):
            judge(*rules, expected=expected, case=case, observed=observed, evidence=frame)
        enough = holds("AllocationBodySize is at least MessageSize", f"AllocationBodySize {found.allocated}")
        judge("MQMQ-2.2.19.3-19", expected=enough, observed=found.allocated >= len(body), evidence=frame)
    outgoing.end()


@needs("send")
@covers("MQMQ-2.2.19.3-29", "MQDMPR-3.1.1.12-45")
@varied("acknowledgments", "positive journaling", "negative journaling", "time to reach queue", "trace")
def test_sent_label_has_at_most_250_characters(peer, sut, judge):
    """The SUT sends a label of 249 characters: LabelLength is 250. A longer label is refused or truncated."""
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(label="x" * LONGEST_LABEL_LENGTH, body="")
    judge.all(
        expected=500,
        case="bytes of the label",
        observed=2 * PropertiesHeaderSizes(frame.data).label_length,
        evidence=frame,
    )
    with contextlib.suppress(ControlRefused):
        frame = outgoing.send(label="x" * (LONGEST_LABEL_LENGTH + 1), body="")
        judge.all(
            expected=between(0, 500),
            case="bytes of the label",
            observed=2 * PropertiesHeaderSizes(frame.data).label_length,
            evidence=frame,
        )
    outgoing.end()


@covers(*EMPTY_PART_RULES)
def test_acknowledgment_of_bare_message_has_no_bytes_of_label_extension_and_body(peer, sut, judge):
    """On a session on which the peer sends no messages, the SUT acknowledges the arrival of a message without label and
    body. The sizes of label, extension and body in the acknowledgment are 0, and no bytes follow its
    MessagePropertiesHeader.
    """
    session = OutgoingSession(peer, sut, listener=peer.listen_without_core())
    SecondQueueManager(peer, peer.direct_name()).send(1, label="", body=b"")
    session.await_request()
    session.connection.send(parameters_response(session.respond()))
    frame = session.connection.poll_packet(2)
    if frame is None:
        raise ConformanceFailure("the SUT did not send the acknowledgment")
    bare = PropertiesHeaderSizes(frame.data)
    if bare.label_length or bare.extension_size or bare.body_size:
        judge.mark_not_exercised(*EMPTY_PART_RULES, reason="the acknowledgment has a label, an extension or a body")
        return
    judge.all(expected=b"", observed=bare.rest, case="bytes after the MessagePropertiesHeader", evidence=frame)
