"""MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet: messages with few properties, and messages for readers."""

from __future__ import annotations

from harness.expectations import fields, none
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

LARGE_BODY = "0123456789" * 1_000
EXTENSION_BASE64 = "ZXh0ZW5zaW9u"


@needs("send")
@covers("MQDMPR-3.1.7.1.30-03", "MQDMPR-3.1.7.1.30-04", "MQDMPR-3.1.7.1.30-D03")
def test_packet_has_properties_header_for_each_property(peer, sut, judge):
    """The SUT sends express and transactional messages that have only a label, only a body, only a large body, only an
    extension, or none of them. MP is set in each packet, and the packet has the label and the body of its message.
    """
    outgoing = MessagesSentBySut(peer, sut)
    messages = [{"label": "only a label"}, {"body": "only a body"}, {"body": LARGE_BODY}, {}]
    if sut.has("send_extension"):
        messages.append({"extension_base64": EXTENSION_BASE64})
    for delivery in ("express", "transactional"):
        for message in messages:
            frame = outgoing.send(delivery=delivery, **message)
            found = Layout(frame)
            judge("MQDMPR-3.1.7.1.30-D03", expected=fields({"UserHeader.Flags.MP": 1}), observed=found, evidence=frame)
            properties = frame["MessagePropertiesHeader"]
            judge(
                "MQDMPR-3.1.7.1.30-03",
                "MQDMPR-3.1.7.1.30-04",
                expected=(message.get("label", ""), message.get("body", "")),
                observed=(
                    str(properties.Label or "").rstrip("\0"),
                    bytes(properties.MessageBody).decode(errors="replace"),
                ),
                evidence=frame,
                case=f"label and body of the {delivery} message with {' and '.join(message) or 'no property'}",
            )
    outgoing.end()


@needs("qm2qm")
@covers("MQDMPR-3.1.7.1.30-04")
def test_remote_reader_gets_packet_of_its_message(remote, judge):
    """The peer sends two messages whose properties differ, and reads them remotely. Each packet that the SUT returns
    has the properties of its message.
    """
    queue = remote.open_with_messages()
    properties = [
        {"ApplicationTag": 0x8000_0000 | number, "BodyType": 8 + number, "CorrelationID": bytes([number]) * 20}
        for number in (1, 2)
    ]
    remote.send_messages_and_require_acks(
        [
            remote.peer.recoverable_message(properties=one, label=f"message {number}", body=bytes([number]) * 3_000)
            for number, one in enumerate(properties, start=1)
        ]
    )
    for number, one in enumerate(properties, start=1):
        read = queue.receive()
        header = None if read.packet is None else read.packet["MessagePropertiesHeader"]
        wanted = {**one, "Label": f"message {number}", "MessageBody": bytes([number]) * 3_000}
        found = (
            {}
            if header is None
            else {
                **{name: getattr(header, name) for name in one},
                "Label": str(header.Label or "").rstrip("\0"),
                "MessageBody": bytes(header.MessageBody),
            }
        )
        judge(
            "MQDMPR-3.1.7.1.30-04",
            expected=none("changed property"),
            observed=sorted(name for name, value in wanted.items() if found.get(name) != value),
            evidence=read,
            case=f"packet of message {number}",
        )
