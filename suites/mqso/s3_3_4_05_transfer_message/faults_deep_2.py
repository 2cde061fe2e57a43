"""Faults of MS-MQSO 3.3.4.5: duplicates on other sessions, later losses of a connection, and journals of refusals."""

from __future__ import annotations

from harness.faults.parts import fault, only_if
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.history import History
from reference_qm.model.adm import MessageIDHistoryEntry, Session
from reference_qm.surface.clock import Now


@fault("receiver-duplicate-on-later-session-stored", breaks="MQSO-3.3.4.5-D01")
class ReceiverDuplicateOnLaterSessionStored(History):
    """The receiver stores a repeated message if more than three other messages arrived in between."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        user = packet.UserHeader
        found = super().find_duplicate(packet)
        recent = getattr(self, "recent", ())
        self.recent = (*recent[-3:], (user.SourceQueueManager, user.MessageID))
        return found if (user.SourceQueueManager, user.MessageID) in recent else None


@fault("receiver-refuses-second-message-without-nack", breaks="MQSO-3.3.4.5-D02")
class ReceiverRefusesSecondMessageWithoutNack(Admission):
    """The receiver sends a negative acknowledgment for the first message that it refuses for a reason, and for no later
    message that it refuses for this reason.
    """

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        known = getattr(self, "known", ())
        self.known = (*known, message_class)
        if message_class not in known or packet.TransactionHeader is not None:
            super().refuse_message(session, packet, message_class, now)


@fault("sender-after-second-lost-connection-repeats-nothing", breaks="MQSO-3.3.4.5-D04")
class SenderAfterSecondLostConnectionRepeatsNothing(Closing):
    """The sender establishes a session again after its first loss, but not after its second loss."""

    @only_if(lambda self, session, now: session.initiator)
    def await_reconnect(self, session: Session, now: Now) -> None:
        losses = getattr(self, "losses", {})
        self.losses = {**losses, session.number: losses.get(session.number, 0) + 1}
        if self.losses[session.number] < 2:
            super().await_reconnect(session, now)
