"""Faults that break rules of MS-MQQB 3.1.7.10 for one kind of packet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

_NORMAL_MESSAGE_CLASS, _REPORT_MESSAGE_CLASS = 0, 1


def _create_no_message_from_some_packets(applies: Callable[[UserMessagePacket], bool]) -> Install:
    """Return an installer of a fault that creates no Message from selected packets."""

    def take(
        self: Any, original: Any, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if applies(packet):
            receipt.is_on_disk = True
        else:
            original(session, packet, receipt, now)

    return change_step(MessageReceiving.put_received_message_into_queue, take)


def _has_no_body(packet: UserMessagePacket) -> bool:
    properties = packet.MessagePropertiesHeader
    return not properties.MessageBody and properties.MessageClass == _NORMAL_MESSAGE_CLASS


def _is_report(packet: UserMessagePacket) -> bool:
    return packet.MessagePropertiesHeader.MessageClass == _REPORT_MESSAGE_CLASS


for _name, _says, _applies in (
    (
        "receiver-no-message-from-packet-without-body",
        "The receiver creates no Message from a packet without body.",
        _has_no_body,
    ),
    (
        "receiver-no-message-from-report-packet",
        "The receiver creates no Message from a packet of the class REPORT.",
        _is_report,
    ),
):
    add(_name, "MQQB-3.1.7.10-02", _says, _create_no_message_from_some_packets(_applies), blind=True)
