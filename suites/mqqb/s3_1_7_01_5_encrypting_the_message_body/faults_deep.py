"""Faults of MS-MQQB 3.1.7.1.5 Encrypting the Message Body that only special cases show: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-large-body-not-encrypted", breaks="MQQB-3.1.7.1.5-01", blind=True)
class LargeNotEncrypted(Securing):
    """The sender does not encrypt a body that is larger than 64 KB."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet if len(message.Body) > 0x10000 else super().encrypt_body(session, message, packet, now)


@fault("sender-transactional-message-that-cannot-be-encrypted-sent", breaks="MQQB-3.1.7.1.5.1-01", blind=True)
class SentInClear(Sending):
    """If the sender cannot encrypt a transactional message, it sends the message unencrypted."""

    def handle_encryption_error(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if not position.TxSequenceNumber:
            super().handle_encryption_error(session, position, now)
            return
        place = position.MessagePosition
        message = replace(place.MessageReference, security=None)
        clear = self.construct_user_message(MessagePosition(message, place.QueueReference))
        position.UserMessage = replace(clear, TransactionHeader=position.UserMessage.TransactionHeader)
        self.transmit(session, position, self.update_user_message(session, position, now))


@fault("sender-recoverable-message-that-cannot-be-encrypted-not-journaled", breaks="MQQB-3.1.7.1.5.1-02", blind=True)
class RecoverableNotJournaled(Sending):
    """The sender does not journal a recoverable message that it cannot encrypt."""

    def delete_unsent(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable and not position.TxSequenceNumber:
            self.remove_unsent(session, position)
            return
        super().delete_unsent(session, position)
