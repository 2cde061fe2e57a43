"""Faults of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.routing import Routing
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.message import INFINITE
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.security import MessageSecurity

ANY_QUEUE = UUID("6d71636f-6e66-4f72-8d00-0000000000f8")
MD4, MD5 = 0x8002, 0x8003
AES_128, AES_256 = 0x660E, 0x6610


def _read(change: Callable[[Message], Message]) -> Install:
    """Read messages otherwise than their packets have them."""

    class Reading(Positions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            return super().insert_message(queue, change(message))

    return replace_part(Reading)


def _with_security(change: Callable[[MessageSecurity], dict[str, Any]]) -> Install:
    """Read the security of messages otherwise."""

    def changed(message: Message) -> Message:
        security = message.security
        return message if security is None else replace(message, security=replace(security, **change(security)))

    return _read(changed)


for _name, _rules, _says, _install in (
    (
        "received-priority-upside-down",
        ("MQDMPR-3.1.7.1.31-D01", "MQDMPR-3.1.7.1.31-04"),
        "The priority of a received message is 7 less that of its packet.",
        _read(lambda message: replace(message, Priority=7 - message.Priority)),
    ),
    (
        "received-time-to-reach-forgotten",
        "MQDMPR-3.1.7.1.31-D01",
        "A message that has reached its queue forgets how long it had for that.",
        _read(lambda message: replace(message, TimeToReachQueue=INFINITE)),
    ),
    (
        "received-journaling-exchanged",
        ("MQDMPR-3.1.7.1.31-D05", "MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12"),
        "JP and JN of a received message are exchanged.",
        _read(
            lambda message: replace(
                message,
                PositiveJournalingRequested=message.NegativeJournalingRequested,
                NegativeJournalingRequested=message.PositiveJournalingRequested,
            )
        ),
    ),
    (
        "received-always-recoverable",
        "MQDMPR-3.1.7.1.31-D05",
        "Every message that is received is recoverable.",
        _read(lambda message: replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)),
    ),
    (
        "received-class-of-refusal-lost",
        "MQDMPR-3.1.7.1.31-D09",
        "Class of a message that was rejected by its receiver is that of one that was not received in time.",
        _read(
            lambda message: (
                replace(message, Class=MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT)
                if message.Class == MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED
                else message
            )
        ),
    ),
    (
        "received-level-counted",
        "MQDMPR-3.1.7.1.31-D10",
        "PrivacyLevel 5 is read as 3.",
        _with_security(lambda security: {"PrivacyLevel": min(security.PrivacyLevel, 3)}),
    ),
    (
        "received-aes-of-one-length",
        "MQDMPR-3.1.7.1.31-D13",
        "AES with a key of 256 bits is read as with one of 128 bits.",
        _with_security(
            lambda security: {
                "EncryptionAlgorithm": AES_128
                if security.EncryptionAlgorithm == AES_256
                else security.EncryptionAlgorithm
            }
        ),
    ),
    (
        "received-md5-as-md4",
        "MQDMPR-3.1.7.1.31-D14",
        "HashAlgorithm 0x8003 is read as MD4, as the table has it.",
        _with_security(
            lambda security: {"HashAlgorithm": MD4 if security.HashAlgorithm == MD5 else security.HashAlgorithm}
        ),
    ),
    (
        "received-sender-of-another-kind",
        "MQDMPR-3.1.7.1.31-D18",
        "A sender of kind 2 is read as one without an identity.",
        _with_security(lambda security: {"SenderIdentifierType": security.SenderIdentifierType % 2}),
    ),
    (
        "received-sender-lost",
        "MQDMPR-3.1.7.1.31-D03",
        "The identifier of a sender is not read.",
        _with_security(lambda security: {"SenderIdentifier": b""}),
    ),
):
    add(_name, _rules, _says, _install)


@fault("received-security-of-the-message-before", breaks="MQDMPR-3.1.7.1.31-05")
class SecurityOfTheMessageBefore(Positions):
    """A message without a SecurityHeader has the security of the last one with it."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        before = [one.MessageReference.security for one in queue.MessagePositionList]
        known = [security for security in before if security is not None and security.in_header]
        if known and (message.security is None or not message.security.in_header):
            message = replace(message, security=known[-1])
        return super().insert_message(queue, message)


@fault("received-tracing-of-the-message-before", breaks="MQDMPR-3.1.7.1.31-05")
class TracingOfTheMessageBefore(Positions):
    """A message without a DebugHeader has the queue for reports of any one with it."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if any(one.MessageReference.TracingRequested for one in queue.MessagePositionList):
            message = replace(message, TracingRequested=True, TracingQueueIdentifier=ANY_QUEUE)
        return super().insert_message(queue, message)


@fault("routed-transaction-renumbered", breaks="MQDMPR-3.1.7.1.31-D04")
class RoutedTransactionRenumbered(Routing):
    """A transactional message on its way begins a sequence of its own."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        if counted is None or counted.TransactionHeader is None:
            return counted
        renumbered: UserMessagePacket = set_fields(
            counted, {"TransactionHeader.TxSequenceNumber": 1, "TransactionHeader.PreviousTxSequenceNumber": 0}
        )
        return renumbered
