"""Faults of MS-MQSO 3.3.4.5 Transfer Message."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.refusal_acks import omit_nack
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.directory import QueueManager
from reference_qm.model.adm import MessageIDHistoryEntry


@fault("routed-message-sent-directly-to-destination", breaks=("MQSO-3.3.4.5-01", "MQSO-5.1.1.3-D03", "MQSO-5.1.2-01"))
class RoutedMessageSentDirectlyToDestination(NextHops):
    """The sender sends a message directly to the queue manager of the destination queue, instead of along the route in
    the directory.
    """

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        if not self.qm.enterprise.state.DirectoryIntegrated:
            return super().get_next_hops(guid)
        found = self.qm.enterprise.find_queue_manager("Identifier", guid)
        return () if found is None else (found,)


add(
    "router-keeps-messages",
    "MQSO-3.3.4.5-01",
    "The router accepts messages to other queue managers but does not forward them.",
    skip(Routing.forward_message),
)


@fault("receiver-stores-duplicates", breaks="MQSO-3.3.4.5-D01")
class ReceiverStoresDuplicates(History):
    """The receiver stores every copy of a message that arrives several times."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None


add(
    "receiver-sends-no-nack-for-refused-message",
    "MQSO-3.3.4.5-D02",
    "The receiver sends no negative acknowledgment for a nontransactional message to a transactional queue.",
    omit_nack(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG),
)
add(
    "receiver-session-ack-not-sent",
    "MQSO-3.3.4.5-D03",
    "The receiver never sends a separate SessionAck packet.",
    skip(SessionAcks.send),
)
add(
    "sender-does-not-reconnect-after-outage",
    ("MQSO-3.3.4.5-D04", "MQSO-5.5.2-D01"),
    "The sender does not reestablish a lost session.",
    skip(Establishing.on_session_retry_connect_timer),
)
