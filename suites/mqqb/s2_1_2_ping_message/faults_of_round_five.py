"""Faults of the fifth round that break rules of MS-MQQB 2.1.2 Ping Message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatError, parse_ping
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.surface.clock import Now


@fault("initiator-reads-only-first-datagram-after-ping-request", breaks="MQQB-2.1.2-01", blind=True)
class InitiatorReadsOnlyFirstDatagramAfterPingRequest(PingHandling):
    """The initiator reads only one datagram from the source port of a Ping Request. If this datagram is not the Ping
    Response, the initiator does not receive the Ping Response that follows.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.closed_cookie: int | None = None

    def receive_response(self, data: bytes, now: Now) -> None:
        if self.closed_cookie == self.qm.adm.PingCookie:
            return
        try:
            cookie = parse_ping(data).Cookie
        except FormatError:
            cookie = None
        if cookie != self.qm.adm.PingCookie:
            self.closed_cookie = self.qm.adm.PingCookie
        super().receive_response(data, now)
