"""Faults of MS-MQDMPR 3.1.7.1.28, 3.1.7.1.29, 3.1.7.3.9: messages that wait to be sent."""

from __future__ import annotations

import heapq
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields, skip, skip_during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session

_ORDER_RULES = ("MQDMPR-3.1.7.1.28-06", "MQDMPR-3.1.7.3.9-04")


@fault("waiting-messages-sent-without-regard-to-priority", breaks=_ORDER_RULES)
class WaitingMessagesSentWithoutRegardToPriority(DispatchCollection):
    """The queue manager sends waiting messages in the order in which applications sent them, regardless of their
    priorities.
    """

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (0, position.order))


@fault("waiting-messages-sent-lowest-priority-first", breaks=_ORDER_RULES)
class WaitingMessagesSentLowestPriorityFirst(DispatchCollection):
    """The queue manager sends waiting messages from the lowest priority to the highest."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        heapq.heappush(session.OutgoingMessageTable._unsent, (position.priority, position.order))


@fault("only-one-waiting-message-per-priority-sent", breaks=("MQDMPR-3.1.7.1.28-03", "MQDMPR-3.1.7.1.28-08"))
class OnlyOneWaitingMessagePerPrioritySent(DispatchCollection):
    """If several waiting messages have the same priority, the queue manager sends only the last of them."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        unsent = session.OutgoingMessageTable._unsent
        unsent[:] = [entry for entry in unsent if entry[0] != -position.priority]
        heapq.heapify(unsent)
        super().add(session, position)


add(
    "waiting-messages-marked-as-being-sent",
    ("MQDMPR-3.1.7.1.28-07", "MQDMPR-3.1.7.1.28-08"),
    "The queue manager marks a new DispatchEntry as being sent, so its message is never sent.",
    skip(DispatchCollection.add),
)


@fault("waiting-messages-all-sent-with-body-of-first", breaks="MQDMPR-3.1.7.1.28-04")
class WaitingMessagesAllSentWithBodyOfFirst(DispatchCollection):
    """The queue manager sends every waiting message with the contents of the first waiting message."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        first = next(iter(session.OutgoingMessageTable)).UserMessage
        position.UserMessage = replace(position.UserMessage, MessagePropertiesHeader=first.MessagePropertiesHeader)
        super().add(session, position)


@fault("waiting-message-packet-rebuilt", breaks=("MQDMPR-3.1.7.1.28-05", "MQDMPR-3.1.7.3.9-07"))
class WaitingMessagePacketRebuilt(DispatchCollection):
    """The queue manager builds a new packet with a new MessageID when it adds a message to the dispatch collection."""

    def add(self, session: Session, position: OutgoingMessagePosition) -> None:
        number = self.qm.numbering.assign_identifier()
        position.UserMessage = set_fields(position.UserMessage, {"UserHeader.MessageID": number})
        super().add(session, position)


add(
    "message-on-open-session-delayed",
    "MQDMPR-3.1.7.1.28-09",
    "The sender does not send a message that is added while a session is open until the next event of the session.",
    skip_during(Sending.put_outgoing, Sending.dispatch_messages),
)


@fault("message-sent-twice", breaks=("MQDMPR-3.1.7.1.29-03", "MQDMPR-3.1.7.3.9-06"))
class MessageSentTwice(Sending):
    """The queue manager sends each message a second time."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        for _ in range(2):
            super().transmit(session, position, packet)


@fault("message-sent-after-acknowledgment-only", breaks="MQDMPR-3.1.7.1.29-04")
class MessageSentAfterAcknowledgmentOnly(Sending):
    """The queue manager does not send a message until the previous message is acknowledged."""

    def may_send(self, session: Session) -> bool:
        return not session.OutgoingMessageTable.awaiting_ack and bool(super().may_send(session))
