"""Faults that break rules of MS-MQMQ 2.2.20.3 MQFSignatureHeader and 2.2.20.8 DebugHeader."""

from __future__ import annotations

from harness.faults.primitives import change_packets_of_kind
from harness.faults.received_messages import change_received_message
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, UserMessagePacket

_TRACE_REQUEST_FLAG = BaseHeader.flags(TR=1)
_SESSION_HEADER_SIZE = 16


def _put_size_before_reserved(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    several = packet.MultiQueueFormatHeader
    if several is None:
        return data
    after = 0 if packet.SessionHeader is None else _SESSION_HEADER_SIZE
    at = len(data) - after - len(several.Signature.build())
    return data[: at + 2] + data[at + 4 : at + 8] + data[at + 2 : at + 4] + data[at + 8 :]


add(
    "sender-signature-header-size-before-reserved",
    "MQMQ-2.2.20.3-D01",
    "The sender puts Size before Reserved in an MQFSignatureHeader.",
    change_packets_of_kind(UserMessagePacket, _put_size_before_reserved),
    blind=True,
)

add(
    "receiver-no-report-for-debug-header-with-x14",
    "MQMQ-2.2.20.8-14",
    "The receiver stores a traced message whose DebugHeader has bit X14 set, but sends no report about it.",
    change_received_message(
        {"BaseHeader.Flags": lambda flags: flags & ~_TRACE_REQUEST_FLAG},
        lambda packet: packet.DebugHeader is not None and packet.DebugHeader.X14,
    ),
    blind=True,
)
