"""Faults of MS-MQQB 3.1.5.3.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import (
    EstablishConnectionPacket,
)
from reference_qm.core.sessions.connecting import Connecting, outgoing_queue
from reference_qm.core.sessions.session_opening import (
    SessionOpening,
)
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now


@fault("initiator-foreign-client-guid-accepted-for-guid-name", breaks="MQQB-3.1.5.3.2-01", blind=True)
class InitiatorForeignClientGuidAcceptedForGuidName(SessionOpening):
    """The initiator of a session for a private or public format name does not check ClientGuid of the response."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        if not session.direct:
            own = self.qm.adm.Identifier
            packet = set_fields(packet, {"EstablishConnectionHeader.ClientGuid": own})
        return super().is_establish_response_valid(session, packet)


@fault("initiator-connection-history-entry-missing-in-later-session", breaks="MQQB-3.1.5.3.2-15", blind=True)
class InitiatorConnectionHistoryEntryMissingInLaterSession(Connecting):
    """The initiator adds no ConnectionHistory entry with Status EstablishPacketReceived for an outgoing queue that
    already had an established session.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        history = outgoing_queue(session).ConnectionHistory
        before = any(entry.Status is ConnectionStatus.ESTABLISHED for entry in history)
        if status is not ConnectionStatus.ESTABLISH_PACKET_RECEIVED or not before:
            super().add_connection_history(session, status, now)
