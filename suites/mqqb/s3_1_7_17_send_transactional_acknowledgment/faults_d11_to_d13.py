"""Faults that break the rules MQQB-3.1.7.17-D11 to MQQB-3.1.7.17-D13."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import (
    DirectQueueFormatName,
    PrivateName,
    UserMessagePacket,
)
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-transactional-ack-always-to-private-name", breaks="MQQB-3.1.7.17-D11")
class ReceiverTransactionalAckAlwaysToPrivateName(OrderAcks):
    """The receiver addresses every OrderAck and FinalAck to a private format name."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        return str(PrivateName(source, ORDER_QUEUE_NUMBER))


@fault("receiver-clears-direct-format-session-for-other-kind-of-name", breaks="MQQB-3.1.7.17-D11", blind=True)
class ReceiverClearsDirectFormatSessionForOtherKindOfName(Receiving):
    """The receiver clears DirectFormatSession when a message to a different kind of format name arrives."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_activity(session, packet, now)
        session.DirectFormatSession = isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)


@fault("receiver-transactional-ack-always-to-direct-name", breaks="MQQB-3.1.7.17-D13")
class ReceiverTransactionalAckAlwaysToDirectName(OrderAcks):
    """The receiver addresses every OrderAck and FinalAck to a direct format name."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        return f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
