"""Faults in the use of the addresses of a host name (MS-MQQB 3.1.5.2.1)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-host-with-several-addresses-not-connected", breaks="MQQB-3.1.5.2.1-25", blind=True)
class InitiatorHostWithSeveralAddressesNotConnected(SessionAddressResolving):
    """The initiator connects only to a host name that has a single address."""

    def store_addresses(self, session: Session, host: str, addresses: tuple[str, ...], now: Now) -> None:
        super().store_addresses(session, host, addresses if len(addresses) == 1 else (), now)
