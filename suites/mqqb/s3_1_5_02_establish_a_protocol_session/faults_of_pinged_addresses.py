"""Faults in the address of a Ping Request. MS-MQQB 3.1.5.2.2 Ping Mechanism."""

from __future__ import annotations

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


class _WrongPingAddressFault(PingHandling):
    """A base class of faults that send a Ping Request to an address other than the resolved address."""

    def ping_address(self, session: Session, address: str, now: Now) -> None:
        """Send the Ping Request of a session to a wrong address, and then connect to the correct address."""
        right, session.RemoteQMAddress = session.RemoteQMAddress, address
        super().send_request(session, now)
        session.RemoteQMAddress = right


@fault("initiator-pings-address-of-open-session-for-second-session", breaks="MQQB-3.1.5.2.2-02", blind=True)
class InitiatorPingsAddressOfOpenSessionForSecondSession(_WrongPingAddressFault):
    """While another session is open, the initiator sends the Ping Request to the address of that session."""

    def send_request(self, session: Session, now: Now) -> None:
        others = [one for one in list_open_sessions(self.qm, session) if one.initiator]
        self.ping_address(session, (others or [session])[0].RemoteQMAddress, now)
