"""Faults that break the rules MQQB-3.1.7.17-D11 to MQQB-3.1.7.17-D13."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import (
    PrivateName,
)
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session


@fault("receiver-transactional-ack-always-to-private-name", breaks="MQQB-3.1.7.17-D11")
class ReceiverTransactionalAckAlwaysToPrivateName(OrderAcks):
    """The receiver addresses every OrderAck and FinalAck to a private format name."""

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        return str(PrivateName(source, ORDER_QUEUE_NUMBER))


@fault("receiver-transactional-ack-always-to-direct-name", breaks="MQQB-3.1.7.17-D13")
class ReceiverTransactionalAckAlwaysToDirectName(OrderAcks):
    """The receiver addresses every OrderAck and FinalAck to a direct format name."""

    def build_order_queue_name(self, session: Session, source: UUID) -> str:
        return f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"
