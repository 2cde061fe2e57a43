"""Faults of MS-MQSO 3.3.4.5 Transfer Message."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.refusal_acks import nack_missing
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.routing import Routing
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.directory import QueueManager
from reference_qm.model.adm import MessageIDHistoryEntry


@fault("routing-past-the-router", breaks=("MQSO-3.3.4.5-01", "MQSO-5.1.1.3-D03", "MQSO-5.1.2-01"))
class PastTheRouter(NextHops):
    """A message goes to the queue manager of its queue itself, whatever the directory says of the way there."""

    def get_next_hops(self, guid: UUID) -> tuple[QueueManager, ...]:
        if not self.qm.enterprise.state.DirectoryIntegrated:
            return super().get_next_hops(guid)
        found = self.qm.enterprise.find_queue_manager("Identifier", guid)
        return () if found is None else (found,)


add(
    "routing-ends-at-the-router",
    "MQSO-3.3.4.5-01",
    "A router takes messages for others over and keeps them.",
    skip(Routing.send_on),
)


@fault("transferred-duplicates-taken", breaks="MQSO-3.3.4.5-D01")
class DuplicatesTaken(History):
    """A message is taken as often as it comes."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None


add(
    "refused-in-silence",
    "MQSO-3.3.4.5-D02",
    "A message that is in no transaction, for a transactional queue, is refused and not answered.",
    nack_missing(MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG),
)
add(
    "transferred-messages-not-acknowledged",
    "MQSO-3.3.4.5-D03",
    "No session acknowledgment is sent on its own.",
    skip(SessionAcks.send),
)
add(
    "messages-left-when-the-network-was-away",
    ("MQSO-3.3.4.5-D04", "MQSO-5.5.2-D01"),
    "A session that was lost is not established again.",
    skip(Establishing.on_session_retry_connect_timer),
)
