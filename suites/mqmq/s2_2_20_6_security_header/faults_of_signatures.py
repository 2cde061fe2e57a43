"""Faults in the properties that the sender signs: MQMQ-2.2.20.6-25 to MQMQ-2.2.20.6-27."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.signed_packets import ValueByFieldPath, change_signed_packet
from reference_qm.codec import MessagePropertiesHeader
from reference_qm.security import SignatureType

SIG10, SIG20, SIG30 = SignatureType.SIG10, SignatureType.SIG20, SignatureType.SIG30
_changed_values_by_field_path: ValueByFieldPath
_ALL_ACK_REQUEST_BITS = MessagePropertiesHeader.flags(PA=1, PR=1, NA=1, NR=1)

for _kind, _name, _rule, _says, _changed_values_by_field_path in (
    (
        SIG10,
        "1-0-signature-without-admin-queue",
        "MQMQ-2.2.20.6-25",
        "1.0 signature without AdminQueue",
        {"UserHeader.AdminQueue": None},
    ),
    (
        SIG10,
        "1-0-signature-without-correlation-id",
        "MQMQ-2.2.20.6-25",
        "1.0 signature with CorrelationID 0",
        {"MessagePropertiesHeader.CorrelationID": bytes(20)},
    ),
    (
        SIG10,
        "1-0-signature-without-response-queue",
        "MQMQ-2.2.20.6-25",
        "1.0 signature without ResponseQueue",
        {"UserHeader.ResponseQueue": None},
    ),
    (
        SIG20,
        "2-0-signature-without-acknowledgment-bits",
        "MQMQ-2.2.20.6-26",
        "2.0 signature with clear acknowledgment bits",
        {"MessagePropertiesHeader.Flags": lambda old: old & ~_ALL_ACK_REQUEST_BITS},
    ),
    (
        SIG20,
        "2-0-signature-without-admin-queue",
        "MQMQ-2.2.20.6-26",
        "2.0 signature without AdminQueue",
        {"UserHeader.AdminQueue": None},
    ),
    (
        SIG30,
        "3-0-signature-without-second-destination",
        "MQMQ-2.2.20.6-27",
        "3.0 signature over the first destination only",
        {"MultiQueueFormatHeader.Destination.FormatNameList": lambda old: old[:1]},
    ),
    (
        SIG30,
        "3-0-signature-without-admin-queue",
        "MQMQ-2.2.20.6-27",
        "3.0 signature without AdminQueue",
        {"UserHeader.AdminQueue": None},
    ),
    (
        SIG30,
        "3-0-signature-without-extension",
        "MQMQ-2.2.20.6-27",
        "3.0 signature without ExtensionData",
        {"MessagePropertiesHeader.ExtensionData": b""},
    ),
):
    add(
        f"sender-msmq-{_name}",
        _rule,
        f"The sender computes an MSMQ {_says}.",
        change_signed_packet(_kind, _changed_values_by_field_path),
        blind=True,
    )
