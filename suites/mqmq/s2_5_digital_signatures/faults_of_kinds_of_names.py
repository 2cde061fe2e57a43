"""Faults in which a signature does not cover a field of some messages (MS-MQMQ 2.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    NULL_GUID,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    UserMessagePacket,
)
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

_ACKNOWLEDGMENT_BITS = 0x0F
_NEGATIVE_RECEIVE_BIT = 0x08


def _change_signed_values(kind: SignatureType, when: Callable[[Any], Any], changes: dict[str, Any]) -> Install:
    """Return an installer of a fault with which signatures of one kind cover changed values of the messages that a
    condition selects.
    """

    class SignedValues(SecurityOnReceipt):
        def build_signed_properties(self, packet: UserMessagePacket, signature: SignatureType) -> bytes:
            if signature is kind and when(packet):
                packet = set_fields(packet, changes)
            return super().build_signed_properties(packet, signature)

    return replace_part(SignedValues)


def _is_transactional(packet: Any) -> bool:
    return packet.TransactionHeader is not None


def _has_queue_name_of_class(field: str, kind: type) -> Callable[[Any], bool]:
    return lambda packet: isinstance(getattr(packet.UserHeader, field), kind)


_SIG10_TYPE, _SIG20_TYPE, _SIG30_TYPE = SignatureType.SIG10, SignatureType.SIG20, SignatureType.SIG30

for _name, _rule, _says, _kind, _when, _changes in (
    (
        "msmq-1-0-signature-private-admin-queue-omitted",
        "MQMQ-2.5.1-07",
        "An MSMQ 1.0 signature does not cover an administration queue that is identified by the number of a "
        "private queue.",
        _SIG10_TYPE,
        _has_queue_name_of_class("AdminQueue", PrivateQueueFormatNameId),
        {"UserHeader.AdminQueue": None},
    ),
    (
        "msmq-1-0-signature-admin-queue-of-transactional-message-omitted",
        "MQMQ-2.5.1-07",
        "An MSMQ 1.0 signature does not cover the administration queue of a transactional message.",
        _SIG10_TYPE,
        _is_transactional,
        {"UserHeader.AdminQueue": None},
    ),
    (
        "msmq-2-0-signature-public-response-queue-omitted",
        "MQMQ-2.5.2-06",
        "An MSMQ 2.0 signature does not cover a response queue with a public name.",
        _SIG20_TYPE,
        _has_queue_name_of_class("ResponseQueue", PublicQueueFormatName),
        {"UserHeader.ResponseQueue": None},
    ),
    (
        "msmq-2-0-signature-response-queue-of-transactional-message-omitted",
        "MQMQ-2.5.2-06",
        "An MSMQ 2.0 signature does not cover the response queue of a transactional message.",
        _SIG20_TYPE,
        _is_transactional,
        {"UserHeader.ResponseQueue": None},
    ),
    (
        "msmq-2-0-signature-source-of-transactional-message-zero",
        "MQMQ-2.5.2-08",
        "An MSMQ 2.0 signature of a transactional message covers zeros in place of SourceQueueManager.",
        _SIG20_TYPE,
        _is_transactional,
        {"UserHeader.SourceQueueManager": NULL_GUID},
    ),
    (
        "msmq-2-0-signature-source-of-express-message-zero",
        "MQMQ-2.5.2-08",
        "An MSMQ 2.0 signature of an express message covers zeros in place of SourceQueueManager.",
        _SIG20_TYPE,
        lambda packet: not packet.UserHeader.DM,
        {"UserHeader.SourceQueueManager": NULL_GUID},
    ),
    (
        "msmq-2-0-signature-connector-type-of-transactional-message-omitted",
        "MQMQ-2.5.2-15",
        "An MSMQ 2.0 signature does not cover ConnectorType of a transactional message.",
        _SIG20_TYPE,
        _is_transactional,
        {"UserHeader.ConnectorType": None},
    ),
    (
        "msmq-2-0-signature-private-destination-omitted",
        "MQMQ-2.5.2-16",
        "An MSMQ 2.0 signature does not cover a destination queue that is identified by the number of a private queue.",
        _SIG20_TYPE,
        _has_queue_name_of_class("DestinationQueue", PrivateQueueFormatNameId),
        {"UserHeader.DestinationQueue": None},
    ),
    (
        "msmq-2-0-signature-destination-of-transactional-message-omitted",
        "MQMQ-2.5.2-16",
        "An MSMQ 2.0 signature does not cover the destination queue of a transactional message.",
        _SIG20_TYPE,
        _is_transactional,
        {"UserHeader.DestinationQueue": None},
    ),
    (
        "msmq-3-0-signature-public-response-queue-omitted",
        "MQMQ-2.5.3-06",
        "An MSMQ 3.0 signature does not cover a response queue with a public name.",
        _SIG30_TYPE,
        _has_queue_name_of_class("ResponseQueue", PublicQueueFormatName),
        {"UserHeader.ResponseQueue": None},
    ),
    (
        "msmq-3-0-signature-response-queue-of-transactional-message-omitted",
        "MQMQ-2.5.3-06",
        "An MSMQ 3.0 signature does not cover the response queue of a transactional message.",
        _SIG30_TYPE,
        _is_transactional,
        {"UserHeader.ResponseQueue": None},
    ),
    (
        "msmq-3-0-signature-private-admin-queue-omitted",
        "MQMQ-2.5.3-07",
        "An MSMQ 3.0 signature does not cover an administration queue that is identified by the number of a "
        "private queue.",
        _SIG30_TYPE,
        _has_queue_name_of_class("AdminQueue", PrivateQueueFormatNameId),
        {"UserHeader.AdminQueue": None},
    ),
    (
        "msmq-3-0-signature-admin-queue-of-transactional-message-omitted",
        "MQMQ-2.5.3-07",
        "An MSMQ 3.0 signature does not cover the administration queue of a transactional message.",
        _SIG30_TYPE,
        _is_transactional,
        {"UserHeader.AdminQueue": None},
    ),
    (
        "msmq-3-0-signature-source-of-transactional-message-zero",
        "MQMQ-2.5.3-10",
        "An MSMQ 3.0 signature of a transactional message covers zeros in place of SourceQueueManager.",
        _SIG30_TYPE,
        _is_transactional,
        {"UserHeader.SourceQueueManager": NULL_GUID},
    ),
    (
        "msmq-3-0-signature-source-of-express-message-zero",
        "MQMQ-2.5.3-10",
        "An MSMQ 3.0 signature of an express message covers zeros in place of SourceQueueManager.",
        _SIG30_TYPE,
        lambda packet: not packet.UserHeader.DM,
        {"UserHeader.SourceQueueManager": NULL_GUID},
    ),
    (
        "msmq-3-0-signature-acknowledgment-bits-of-transactional-message-zero",
        "MQMQ-2.5.3-14",
        "An MSMQ 3.0 signature of a transactional message covers zeros in place of the acknowledgment bits.",
        _SIG30_TYPE,
        _is_transactional,
        {"MessagePropertiesHeader.Flags": lambda old: old & ~_ACKNOWLEDGMENT_BITS},
    ),
    (
        "msmq-3-0-signature-negative-receive-bit-omitted",
        "MQMQ-2.5.3-14",
        "An MSMQ 3.0 signature does not cover the acknowledgment bit NR.",
        _SIG30_TYPE,
        lambda packet: True,
        {"MessagePropertiesHeader.Flags": lambda old: old & ~_NEGATIVE_RECEIVE_BIT},
    ),
    (
        "msmq-3-0-signature-connector-type-of-transactional-message-omitted",
        "MQMQ-2.5.3-17",
        "An MSMQ 3.0 signature does not cover ConnectorType of a transactional message.",
        _SIG30_TYPE,
        _is_transactional,
        {"UserHeader.ConnectorType": None},
    ),
):
    add(_name, _rule, _says, _change_signed_values(_kind, _when, _changes), blind=True)
