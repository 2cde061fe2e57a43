"""Faults of MS-MQQB 2.2.5 FinalAck Packet, 2.2.5.1 FinalAck Body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import bit_clear, field_is
from harness.faults.ordering_acks import WRONG
from harness.faults.parts import fault, override_method, replace_part
from harness.faults.registry import add
from reference_qm.codec import FinalAckBody, MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack
from reference_qm.model.adm import MessagePosition
from reference_qm.surface.clock import Now

OTHER_CLASS = 0xC004


def _of_class(value: MessageClass) -> Callable[[UserMessagePacket], bool]:
    return lambda packet: is_final_ack(packet) and packet.MessagePropertiesHeader.MessageClass == value


for _name, _rule, _does in (
    ("ordering-final-base-flags", "MQQB-2.2.5-01", "has priority 3"),
    ("ordering-final-without-properties", "MQQB-2.2.5-02", "has MP clear"),
    ("ordering-final-journaled", "MQQB-2.2.5-04", "has JN set"),
    ("ordering-final-private-queue", "MQQB-2.2.5-05", "is for private queue 5"),
    ("ordering-final-by-name", "MQQB-2.2.5-06", "names the computer, not its address"),
    ("ordering-final-elsewhere", "MQQB-2.2.5-07", "names another address"),
    ("ordering-final-label", "MQQB-2.2.5-08", "has another label"),
    ("ordering-final-body-size", "MQQB-2.2.5-09", "has 40 bytes of body"),
    ("ordering-final-flags", "MQQB-2.2.5-10", "asks for an acknowledgment"),
    ("ordering-final-body-type", "MQQB-2.2.5-23", "has BodyType VT_UI1"),
    ("ordering-final-body", ("MQQB-2.2.5-24", "MQQB-2.2.5.1-D01"), "has numbers before the sequence"),
    ("ordering-final-message-first", "MQQB-2.2.5.1-D01", "has MessageID before SourceGUID"),
    ("ordering-final-number-signed", "MQQB-2.2.5.1-D02", "has a TxSequenceNumber of at most 31 bits"),
    ("ordering-final-number-zero", "MQQB-2.2.5.1-D02", "has a TxSequenceNumber of 0"),
    ("ordering-final-other-sequence", "MQQB-2.2.5.1-01", "has a TxSequenceID that is one more"),
    ("ordering-final-other-number", "MQQB-2.2.5.1-02", "has a TxSequenceNumber that is one more"),
    ("ordering-final-other-previous", "MQQB-2.2.5.1-03", "has a TxPreviousSequenceNumber that is one more"),
):
    add(_name, _rule, f"A final acknowledgment {_does}.", WRONG[_does](is_final_ack))

add(
    "ordering-final-express",
    "MQQB-2.2.5-03",
    "A FinalAck is express.",
    bit_clear(UserMessagePacket, "UserHeader.DM", is_final_ack),
)

for _name, _rule, _class in (
    ("ordering-final-ack-receive", "MQQB-2.2.5-11", MessageClass.MQMSG_CLASS_ACK_RECEIVE),
    ("ordering-final-nack-not-transactional-q", "MQQB-2.2.5-13", MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q),
    ("ordering-final-nack-bad-dst-q", "MQQB-2.2.5-14", MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q),
    ("ordering-final-nack-access-denied", "MQQB-2.2.5-15", MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED),
    ("ordering-final-nack-bad-encryption", "MQQB-2.2.5-16", MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION),
    (
        "ordering-final-nack-unsupported-crypto-provider",
        "MQQB-2.2.5-17",
        MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER,
    ),
    ("ordering-final-nack-bad-signature", "MQQB-2.2.5-18", MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE),
    ("ordering-final-nack-q-exceed-quota", "MQQB-2.2.5-19", MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA),
    ("ordering-final-nack-q-deleted", "MQQB-2.2.5-20", MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
    ("ordering-final-nack-q-purged", "MQQB-2.2.5-21", MessageClass.MQMSG_CLASS_NACK_Q_PURGED),
    ("ordering-final-nack-receive-timeout", "MQQB-2.2.5-22", MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT),
):
    add(
        _name,
        _rule,
        f"A FinalAck of class {_class.name} has another.",
        field_is(UserMessagePacket, "MessagePropertiesHeader.MessageClass", OTHER_CLASS, _of_class(_class)),
    )


@fault("ordering-final-for-every-message", breaks="MQQB-2.2.5-D01")
class FinalForEveryMessage(FinalAcks):
    """Every transactional message that leaves its queue has a FinalAck, whether it wants journaling or not."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        for session in self.qm.sessions.values():
            if position.order_queue is None and message.TransactionSequenceNumber:
                source = message.Identifier.QueueManagerGuid
                position.order_queue = self.qm.order_acks.name_order_queue(session, source)
        super().position_deleted(position, reason, now)


@fault("ordering-final-not-for-dead-letters", breaks="MQQB-2.2.5-D01")
class FinalNotForDeadLetters(FinalAcks):
    """A message that wants negative journaling alone has no FinalAck when it leaves its queue."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        if not position.MessageReference.PositiveJournalingRequested:
            position.order_queue = None
        super().position_deleted(position, reason, now)


@fault("received-message-with-jn-alone-has-no-final-ack", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"), blind=True)
class ReceivedMessageWithJnAloneHasNoFinalAck(FinalAcks):
    """A message with JN alone has a FinalAck only when it failed: its sender never learns that it was received."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.NegativeJournalingRequested and not message.PositiveJournalingRequested
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


@fault("failed-message-with-jp-alone-has-no-final-ack", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"), blind=True)
class FailedMessageWithJpAloneHasNoFinalAck(FinalAcks):
    """A message with JP alone has a FinalAck only when it was received."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


def _sent_final(change: Any) -> Any:
    def make(original: Any) -> Any:
        def send(qm: QM, name: str, message_class: MessageClass, body: Any, now: Now) -> None:
            original(qm, name, message_class, change(body) if isinstance(body, FinalAckBody) else body, now)

        return send

    return replace_part(override_method(OrderAcks.send_transactional_ack, make))


add(
    "final-ack-previous-one-less",
    ("MQQB-2.2.5.1-03", "MQQB-3.1.7.17-D05", "MQQB-3.1.7.17-D08"),
    "TxPreviousSequenceNumber of a FinalAck is its TxSequenceNumber less one, also where the sequence has a gap.",
    _sent_final(lambda body: replace(body, TxPreviousSequenceNumber=body.TxSequenceNumber - 1)),
    blind=True,
)


@fault("final-ack-names-the-newest-sequence", breaks="MQQB-2.2.5.1-01", blind=True)
class FinalAckNamesTheNewestSequence(FinalAcks):
    """The FinalAck of a message names the sequence that its sender has got to meanwhile."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
        transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None:
            position.MessageReference = replace(
                message, TransactionalMessageSequenceIdentifier=transfer.SequenceIdentifier
            )
        super().acknowledge_final(position, reason, now)
