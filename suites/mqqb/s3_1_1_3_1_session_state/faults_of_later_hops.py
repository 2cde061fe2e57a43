"""Faults that break rules of MS-MQQB 3.1.1.3.1.3 NextHop for a later hop or a direct format name."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-second-next-hop-address-is-host-name", breaks="MQQB-3.1.1.3.1.3-01", blind=True)
class InitiatorSecondNextHopAddressIsHostName(Resolving):
    """Address of the initiator's second and later NextHops is the host name."""

    def try_addresses(self, session: Session, now: Now) -> None:
        super().try_addresses(session, now)
        session.NextHopCollection[1:] = [replace(hop, Address=hop.HostName) for hop in session.NextHopCollection[1:]]


@fault("initiator-next-hop-address-of-direct-name-with-port", breaks="MQQB-3.1.1.3.1.3-01", blind=True)
class InitiatorNextHopAddressOfDirectNameWithPort(Resolving):
    """Address of the initiator's NextHop for a direct format name also contains a port."""

    def try_addresses(self, session: Session, now: Now) -> None:
        super().try_addresses(session, now)
        if session.direct:
            session.NextHopCollection[:] = [
                replace(hop, Address=f"{hop.Address}:1801") for hop in session.NextHopCollection
            ]
