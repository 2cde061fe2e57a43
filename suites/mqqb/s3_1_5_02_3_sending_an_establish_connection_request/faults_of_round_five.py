"""Blind violations of round five: MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import change_sent_packet, clear_internal_flag
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.connecting import Connecting, get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now


@fault("initiator-connection-history-addresslist-of-later-hop-is-first-hop", breaks="MQQB-3.1.5.2.3-14", blind=True)
class InitiatorConnectionHistoryAddresslistOfLaterHopIsFirstHop(Connecting):
    """For an EstablishConnection request to a later next hop, AddressList of the initiator's ConnectionHistory entry is
    the address of the first next hop.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        if status is ConnectionStatus.IN_PROCESS and session.NextHopIndexer:
            entries = get_outgoing_queue(session).ConnectionHistory
            entries[-1] = replace(entries[-1], AddressList=session.NextHopCollection[0].Address)


def _is_request_for_routed_message(qm: QueueManager, session: Session, packet: Any) -> bool:
    own = qm.adm.Identifier
    waiting = (position.UserMessage.UserHeader for position in session.OutgoingMessageTable)
    return session.initiator and any(header.SourceQueueManager != own for header in waiting)


add(
    "initiator-establish-connection-request-in-clear-for-routed-message",
    "MQQB-3.1.5.2.3-04",
    "The initiator's EstablishConnection request has BaseHeader.Flags.IN clear if a message of another queue manager "
    "waits for the session.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, _is_request_for_routed_message),
    blind=True,
)
