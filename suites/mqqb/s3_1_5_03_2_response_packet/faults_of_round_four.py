"""Faults that break rules of MS-MQQB 3.1.5.3.2 Response Packet, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import change_sent_packet, clear_internal_flag, set_packet_type
from reference_qm.codec import PT_ESTABLISH_CONNECTION, ConnectionParametersPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now


def _is_request_after_retry(qm: QueueManager, session: Session, packet: Any) -> bool:
    return session.initiator and session.is_retrying_connection


def _is_request_to_later_next_hop(qm: QueueManager, session: Session, packet: Any) -> bool:
    return session.initiator and session.NextHopIndexer > 0


add(
    "initiator-parameters-request-after-retry-pt-2",
    "MQQB-3.1.5.3.2-09",
    "InternalHeader.Flags.PT of the initiator's ConnectionParameters request is 0x2 if the session is established "
    "after the Session Retry Connect Timer expired.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(PT_ESTABLISH_CONNECTION), _is_request_after_retry),
    blind=True,
)

add(
    "initiator-parameters-request-to-later-next-hop-in-clear",
    "MQQB-3.1.5.3.2-08",
    "BaseHeader.Flags.IN is clear in the initiator's ConnectionParameters request to a next hop that is not the first.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, _is_request_to_later_next_hop),
    blind=True,
)


@fault("initiator-history-entry-of-response-has-time-of-request", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorHistoryEntryOfResponseHasTimeOfRequest(SessionConnecting):
    """The initiator's ConnectionHistory entry with Status EstablishPacketReceived contains the time of the request."""

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        entries = get_outgoing_queue(session).ConnectionHistory
        if status is ConnectionStatus.ESTABLISH_PACKET_RECEIVED and len(entries) > 1:
            entries[-1] = replace(entries[-1], ConnectionHistoryTime=entries[-2].ConnectionHistoryTime)
