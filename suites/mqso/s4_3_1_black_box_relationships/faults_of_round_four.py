"""Faults that break rules of MS-MQSO 4.3.1 for destinations in the same site and for early order acknowledgments."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.routing.topology import get_queue_manager, have_common_site


@fault("sender-sends-directly-within-site-despite-out-routing-servers", breaks="MQSO-4.3.1.3-03", blind=True)
class SenderSendsDirectlyWithinSiteDespiteOutRoutingServers(NextHops):
    """The sender sends a message for a queue manager of its own site directly, although the directory lists
    OutRoutingServers for the sender.
    """

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        topology = self.read_topology()
        source = get_queue_manager(topology, self.qm.adm.Identifier)
        destination = get_queue_manager(topology, guid)
        if source is None or destination is None or source.RoutingServer:
            return super().get_next_hop_identifiers(guid)
        if source.OutRoutingServerIdentifierList and have_common_site(source, destination):
            return (guid,)
        return super().get_next_hop_identifiers(guid)


@fault("sender-keeps-message-whose-order-ack-preceded-session-ack", breaks="MQSO-4.3.1.2-D05", blind=True)
class SenderKeepsMessageWhoseOrderAckPrecededSessionAck(TransactionalSending):
    """The sender does not delete a transactional message whose OrderAck arrived before its session acknowledgment."""

    def keep_message_until_order_ack(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.ReceivedOrderAck:
            session.OutgoingMessageTable.keep_message_until_order_ack(position)
        else:
            super().keep_message_until_order_ack(session, position)
