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

UNKNOWN_QUEUE = UUID("6d71636f-6e66-4f72-8d00-0000000000f8")
MD4, MD5 = 0x8002, 0x8003
AES_128, AES_256 = 0x660E, 0x6610


def _change_read_attributes(change: Callable[[Message], Message]) -> Install:
    """Build a fault that changes the attributes that the receiver reads from packets."""

    class Reading(Positions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            return super().insert_message(queue, change(message))

    return replace_part(Reading)


def _change_read_security_attributes(change: Callable[[MessageSecurity], dict[str, Any]]) -> Install:
    """Build a fault that changes the security attributes that the receiver reads from packets."""

    def change_security_of_message(message: Message) -> Message:
        security = message.security
        return message if security is None else replace(message, security=replace(security, **change(security)))

    return _change_read_attributes(change_security_of_message)


for _name, _rules, _says, _install in (
    (
        "receiver-priority-inverted",
        ("MQDMPR-3.1.7.1.31-D01", "MQDMPR-3.1.7.1.31-04"),
        "The receiver sets Priority to 7 minus the packet's priority.",
        _change_read_attributes(lambda message: replace(message, Priority=7 - message.Priority)),
    ),
    (
        "receiver-time-to-reach-queue-dropped",
        "MQDMPR-3.1.7.1.31-D01",
        "The receiver drops the TimeToReachQueue of an arriving message.",
        _change_read_attributes(lambda message: replace(message, TimeToReachQueue=INFINITE)),
    ),
    (
        "receiver-swaps-jp-and-jn-of-message",
        ("MQDMPR-3.1.7.1.31-D05", "MQDMPR-3.1.7.1.31-D11", "MQDMPR-3.1.7.1.31-D12"),
        "The receiver swaps JP and JN of an arriving message.",
        _change_read_attributes(
            lambda message: replace(
                message,
                PositiveJournalingRequested=message.NegativeJournalingRequested,
                NegativeJournalingRequested=message.PositiveJournalingRequested,
            )
        ),
    ),
    (
        "receiver-delivery-always-recoverable",
        "MQDMPR-3.1.7.1.31-D05",
        "The receiver sets the delivery of each arriving message to recoverable.",
        _change_read_attributes(lambda message: replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE)),
    ),
    (
        "receiver-class-receive-rejected-as-timeout",
        "MQDMPR-3.1.7.1.31-D09",
        "The receiver reads the class NackReceiveRejected as NackReceiveTimeout.",
        _change_read_attributes(
            lambda message: (
                replace(message, Class=MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT)
                if message.Class == MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED
                else message
            )
        ),
    ),
    (
        "receiver-treats-privacy-level-5-as-3",
        "MQDMPR-3.1.7.1.31-D10",
        "The receiver reads PrivacyLevel 5 as 3.",
        _change_read_security_attributes(lambda security: {"PrivacyLevel": min(security.PrivacyLevel, 3)}),
    ),
    (
        "receiver-decrypts-aes-256-body-with-aes-128",
        "MQDMPR-3.1.7.1.31-D13",
        "The receiver reads the EncryptionAlgorithm AES-256 as AES-128.",
        _change_read_security_attributes(
            lambda security: {
                "EncryptionAlgorithm": AES_128
                if security.EncryptionAlgorithm == AES_256
                else security.EncryptionAlgorithm
            }
        ),
    ),
    (
        "receiver-verifies-md5-signature-with-md4",
        "MQDMPR-3.1.7.1.31-D14",
        "The receiver reads HashAlgorithm 0x8003 as MD4, the name in the specification's table.",
        _change_read_security_attributes(
            lambda security: {"HashAlgorithm": MD4 if security.HashAlgorithm == MD5 else security.HashAlgorithm}
        ),
    ),
    (
        "receiver-treats-sender-type-2-as-none",
        "MQDMPR-3.1.7.1.31-D18",
        "The receiver reads the sender type 2 as None.",
        _change_read_security_attributes(lambda security: {"SenderIdentifierType": security.SenderIdentifierType % 2}),
    ),
    (
        "receiver-sender-identifier-dropped",
        "MQDMPR-3.1.7.1.31-D03",
        "The receiver drops the SenderIdentifier of an arriving message.",
        _change_read_security_attributes(lambda security: {"SenderIdentifier": b""}),
    ),
):
    add(_name, _rules, _says, _install)


@fault("receiver-message-gets-security-attributes-of-previous-message", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverMessageGetsSecurityAttributesOfPreviousMessage(Positions):
    """A message without a SecurityHeader gets the security attributes of the previous message that had a
    SecurityHeader.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        before = [one.MessageReference.security for one in queue.MessagePositionList]
        known = [security for security in before if security is not None and security.in_header]
        if known and (message.security is None or not message.security.in_header):
            message = replace(message, security=known[-1])
        return super().insert_message(queue, message)


@fault("receiver-message-gets-tracing-queue-of-previous-message", breaks="MQDMPR-3.1.7.1.31-05")
class ReceiverMessageGetsTracingQueueOfPreviousMessage(Positions):
    """A message without a DebugHeader gets the TracingQueueIdentifier of the previous message with a DebugHeader."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if any(one.MessageReference.TracingRequested for one in queue.MessagePositionList):
            message = replace(message, TracingRequested=True, TracingQueueIdentifier=UNKNOWN_QUEUE)
        return super().insert_message(queue, message)


@fault("router-renumbers-transactional-message", breaks="MQDMPR-3.1.7.1.31-D04")
class RouterRenumbersTransactionalMessage(Routing):
    """When the router forwards a transactional message, it assigns the message to a new sequence."""

    def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().count_hop(packet)
        if counted is None or counted.TransactionHeader is None:
            return counted
        renumbered: UserMessagePacket = set_fields(
            counted, {"TransactionHeader.TxSequenceNumber": 1, "TransactionHeader.PreviousTxSequenceNumber": 0}
        )
        return renumbered


@fault("message-has-security-of-previous-message", breaks="MQDMPR-3.1.7.1.31-05")
class MessageHasSecurityOfPreviousMessage(Positions):
    """A message without a SecurityHeader has the security attributes of an earlier message."""

    seen: MessageSecurity | None = None

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            if message.security is not None and message.security.in_header:
                self.seen = message.security
            elif self.seen is not None:
                message = replace(message, security=self.seen)
        position: MessagePosition = super().insert_message(queue, message)
        return position
