"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: empty parts of messages of every delivery, and of reports."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import AcknowledgingReceiver

EXTENSION_DATA = b"an extension"
PROPERTIES_HEADER_PREFIX = "MessagePropertiesHeader."
REPORT_CLASS = 1


@needs("send_extension", "send")
@covers("MQMQ-2.2.19.3-33")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("priority", "application tag", "response queue", "time to be received")
def test_message_with_extension_and_empty_body_ends_after_extension(peer, sut, judge, delivery):
    """The SUT sends a message with a label, an extension and an empty body: MessageSize is 0, and the header ends after
    the extension and its padding.
    """
    outgoing = MessagesSentBySut(peer, sut)
    extension = b64encode(EXTENSION_DATA).decode()
    frame = outgoing.send(body="", label="empty", extension_base64=extension, delivery=delivery)
    outgoing.end()
    wanted = {
        f"{PROPERTIES_HEADER_PREFIX}MessageSize": 0,
        f"{PROPERTIES_HEADER_PREFIX}ExtensionData": EXTENSION_DATA.hex(),
        f"{PROPERTIES_HEADER_PREFIX}MessageBody": Layout.MISSING,
        "bytes after the last header": 0,
    }
    judge("MQMQ-2.2.19.3-33", expected=fields(wanted), observed=Layout(frame), evidence=frame)


@needs("public_names")
@covers("MQMQ-2.2.19.3-32")
def test_report_without_extension_has_body_after_label(peer, sut, judge):
    """The peer sends a traced message. In the SUT's report, ExtensionSize is 0, the body follows the label, and the
    packet ends after the body. A SUT may send no reports.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    traced: dict[str, Any] = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}}
    sent = receiver.send_packet(receiver.build_message(**traced))
    peer.eventually(lambda: bool(peer.inbox.packets_with_possibly_malformed_messages))
    reports = [
        frame
        for frame in peer.inbox.packets_with_possibly_malformed_messages
        if Layout(frame).fields.get(f"{PROPERTIES_HEADER_PREFIX}MessageClass") == REPORT_CLASS
    ]
    if not reports:
        judge.mark_not_exercised("MQMQ-2.2.19.3-32", reason="the SUT sends no report on a traced message")
        return
    wanted = {
        f"{PROPERTIES_HEADER_PREFIX}ExtensionSize": 0,
        f"{PROPERTIES_HEADER_PREFIX}ExtensionData": Layout.MISSING,
        "bytes after the last header": 0,
    }
    judge("MQMQ-2.2.19.3-32", expected=fields(wanted), observed=Layout(reports[0]), evidence=[sent, reports[0]])
