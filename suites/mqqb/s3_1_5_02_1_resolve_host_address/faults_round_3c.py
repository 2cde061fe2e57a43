"""Faults that break rules of MS-MQQB 3.1.5.2.1."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-next-hop-only-for-first-address-when-host-resolved-again", breaks="MQQB-3.1.5.2.1-28", blind=True)
class InitiatorNextHopOnlyForFirstAddressWhenHostResolvedAgain(Resolving):
    """The initiator creates only one NextHop, for the first address of each host, when it resolves the host of an
    outgoing queue for the second time or later.
    """

    def try_addresses(self, session: Session, now: Now) -> None:
        if outgoing_queue(session).ConnectionHistory:
            session.addresses = {host: found[:1] for host, found in session.addresses.items()}
        super().try_addresses(session, now)
