"""Faults of MS-MQMQ 2.2.19.3 MessagePropertiesHeader, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import off_by
from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.sent_messages import change_insertion
from reference_qm.codec import MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState

add(
    "receiver-user-message-application-tag-above-31-bits-cut",
    "MQMQ-2.2.19.3-16",
    "The receiver stores an ApplicationTag above 0x7FFFFFFF as 0x7FFFFFFF.",
    change_insertion(lambda message: replace(message, AppSpecific=min(message.AppSpecific, 0x7FFFFFFF))),
    blind=True,
)


@fault("receiver-message-purged-before-abort-gets-no-nack", breaks="MQMQ-2.2.19.3-04", blind=True)
class ReceiverMessagePurgedBeforeAbortGetsNoNack(Positions):
    """If a message is purged after a transaction received it, the receiver sends no negative acknowledgment when the
    abort of the transaction removes the message from its queue.
    """

    def unlock_message(self, position: MessagePosition) -> None:
        if position.State is MessagePositionState.PURGE_PENDING:
            message = position.MessageReference
            wanted = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(NR=1)
            position.MessageReference = replace(message, AcknowledgementsRequested=wanted)
        super().unlock_message(position)


def _has_surrogates(packet: Any) -> bool:
    return any(ord(character) > 0xFFFF for character in packet.MessagePropertiesHeader.Label or "")


add(
    "sender-user-message-label-length-counts-characters",
    "MQMQ-2.2.19.3-09",
    "The sender counts a character of two WCHARs once in LabelLength.",
    off_by(UserMessagePacket, "MessagePropertiesHeader.LabelLength", -1, when=_has_surrogates),
    blind=True,
)
