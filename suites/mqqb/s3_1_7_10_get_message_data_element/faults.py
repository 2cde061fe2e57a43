"""Faults of MS-MQQB 3.1.7.10 Get Message Data Element From Buffer."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_insertion
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def _replace_received_field(field: str, value: object) -> Install:
    """Make the receiver replace a field of each received message packet."""

    class FieldReplaced(Receiving):
        def take_message(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            other = set_fields(packet, {"BaseHeader.PacketSize": 0, field: value})
            super().take_message(session, other, receipt, now)

    return replace_part(FieldReplaced)


add(
    "receiver-message-label-empty",
    (
        "MQQB-3.1.7.10-02",
        "MQDMPR-3.1.7.1.31-03",
        "MQQB-3.1.7.10-03",
        "MQDMPR-3.1.7.1.31-D01",
        "MQDMPR-3.1.7.1.31-04",
        "MQDMPR-3.1.7.1.31-D05",
    ),
    "The receiver stores every message with an empty label.",
    _replace_received_field("MessagePropertiesHeader.Label", ""),
)
add(
    "receiver-message-application-tag-0",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver stores every message with the ApplicationTag 0.",
    _replace_received_field("MessagePropertiesHeader.ApplicationTag", 0),
)
add(
    "receiver-message-correlation-id-empty",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver stores every message with an empty CorrelationID.",
    _replace_received_field("MessagePropertiesHeader.CorrelationID", bytes(20)),
)


add(
    "receiver-message-body-type-in-8-bits",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.1.12-33", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver keeps only one byte of BodyType, so VT_VECTOR is lost.",
    change_insertion(lambda message: replace(message, BodyType=message.BodyType & 0xFF)),
    blind=True,
)


add(
    "receiver-transactional-message-extension-lost",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D02"),
    "The receiver drops the extension of a transactional message.",
    change_insertion(
        lambda message: replace(message, Extension=b"") if message.TransactionIdentifier is not None else message
    ),
    blind=True,
)


add(
    "receiver-message-sent-time-is-arrival-time",
    ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D05"),
    "The receiver replaces SentTime of a message by its arrival time.",
    change_insertion(lambda message: replace(message, SentTime=message.ArrivalTime or message.SentTime)),
    blind=True,
)
