"""Faults of MS-MQQB 3.1.5.2 Establish a Protocol Session, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.sessions.connecting import HRESULT_BY_CONNECTION_STATUS, Connecting, outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface.clock import Now


@fault("initiator-connection-history-address-list-of-first-next-hop", breaks="MQQB-3.1.5.2-04", blind=True)
class InitiatorConnectionHistoryAddressListOfFirstNextHop(Connecting):
    """The initiator puts the address of the first next hop into the ConnectionHistory entry of a failure, instead of
    the address that failed.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        super().add_connection_history(session, status, now)
        if HRESULT_BY_CONNECTION_STATUS[status] and session.NextHopCollection:
            history = outgoing_queue(session).ConnectionHistory
            history.append(replace(history.pop(), AddressList=session.NextHopCollection[0].Address))
