"""Faults that break rules of MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages: the order after a full window."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


class _ChosenSendingOrderFault(MessageSending):
    def dispatch_messages(self, session: Session, now: Now) -> None:
        while self.may_send(session):
            waiting = [
                one
                for one in session.OutgoingMessageTable
                if not (one.AwaitingAck or one.ReceivedSessionAck or one.MessagePosition.is_disk_write_pending)
            ]
            first = session.OutgoingMessageTable.get_next_unsent()
            if first is None or first.MessagePosition.is_disk_write_pending:
                return
            chosen = self.choose_message_to_send(
                session, [one for one in waiting if one.priority == first.priority] or [first]
            )
            self.send_user_message(session, chosen, now)

    def choose_message_to_send(
        self, session: Session, waiting: list[OutgoingMessagePosition]
    ) -> OutgoingMessagePosition:
        raise NotImplementedError


@fault("sender-express-messages-held-back-sent-before-recoverable", breaks="MQQB-3.1.5.5.1-04", blind=True)
class SenderExpressMessagesHeldBackSentBeforeRecoverable(_ChosenSendingOrderFault):
    """When the window opens, the sender sends the express messages that it held back before the recoverable ones."""

    def choose_message_to_send(
        self, session: Session, waiting: list[OutgoingMessagePosition]
    ) -> OutgoingMessagePosition:
        return min(waiting, key=lambda one: (one.recoverable, one.order))


@fault("sender-short-messages-held-back-sent-first", breaks="MQQB-3.1.5.5.1-04", blind=True)
class SenderShortMessagesHeldBackSentFirst(_ChosenSendingOrderFault):
    """When the window opens, the sender begins with the shortest of the messages that it held back."""

    def choose_message_to_send(
        self, session: Session, waiting: list[OutgoingMessagePosition]
    ) -> OutgoingMessagePosition:
        return min(waiting, key=lambda one: (len(one.UserMessage.MessagePropertiesHeader.MessageBody), one.order))


@fault("sender-newest-message-held-back-sent-first-after-second-ack", breaks="MQQB-3.1.5.5.1-04", blind=True)
class SenderNewestMessageHeldBackSentFirstAfterSecondAck(_ChosenSendingOrderFault):
    """From the second acknowledgment of a session on, the sender begins with the newest of the messages that it held
    back.
    """

    def choose_message_to_send(
        self, session: Session, waiting: list[OutgoingMessagePosition]
    ) -> OutgoingMessagePosition:
        acks: list[int] = self.__dict__.setdefault(f"acks {session.number}", [])
        if session.last_ack_number not in acks:
            acks.append(session.last_ack_number)
        return waiting[-1] if len(acks) > 2 else waiting[0]
