"""Faults of MS-MQQB 3.1.5.2.1 Resolve Host Address, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-next-hops-without-third-address-of-host", breaks="MQQB-3.1.5.2.1-28", blind=True)
class InitiatorNextHopsWithoutThirdAddressOfHost(Resolving):
    """The initiator creates a NextHop only for the first two addresses of a host name."""

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        super().store_addresses(session, host, addresses[:2], now)
