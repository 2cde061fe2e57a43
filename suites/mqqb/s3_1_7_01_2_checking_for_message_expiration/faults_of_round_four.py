"""Faults of MS-MQQB 3.1.7.1.2 Checking for Message Expiration in a router."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.events import MessageDeadlinesChanged, MessageSent
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes, get_time_to_reach_queue
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import INFINITE_TIMEOUT, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


class _SendingWithLifetimesCountedFromArrival(MessageSending):
    def send_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> bool:
        packet = position.UserMessage
        arrived_s = position.MessagePosition.MessageReference.ArrivalTime
        restarted = replace(packet, UserHeader=replace(packet.UserHeader, SentTime=arrived_s))
        is_late = self.qm.message_lifetimes.has_message_expired
        if self.is_from_this_queue_manager(packet) or not is_late(packet, now) or is_late(restarted, now):
            return super().send_user_message(session, position, now)
        self.transmit(session, position, self.update_user_message(session, position, now))
        self.qm.post_event(MessageSent(session, position.MessagePosition.MessageReference))
        return True


class _MessageLifetimesCountedFromArrival(MessageLifetimes):
    def record_deadline_of_message_to_send(self, session: Session, position: OutgoingMessagePosition) -> None:
        message = position.MessagePosition.MessageReference
        life_s = get_time_to_reach_queue(message)
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier or life_s == INFINITE_TIMEOUT:
            super().record_deadline_of_message_to_send(session, position)
            return
        self.qm.to_be_sent.add((session, position), message.ArrivalTime + life_s + 1)
        self.qm.post_event(MessageDeadlinesChanged())


add(
    "router-message-time-to-reach-queue-counted-from-arrival",
    "MQQB-3.1.7.1.2-D01",
    "A router counts TimeToReachQueue of a message from the arrival of the message, and not from SentTime.",
    combine_installers(
        replace_part(_SendingWithLifetimesCountedFromArrival), replace_part(_MessageLifetimesCountedFromArrival)
    ),
    blind=True,
)
