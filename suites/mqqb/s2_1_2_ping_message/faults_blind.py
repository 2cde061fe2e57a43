"""Faults of MS-MQQB 2.1.2 Ping Message, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint


@fault("acceptor-ping-response-sent-to-port-of-first-request", breaks="MQQB-2.1.2-02", blind=True)
class AcceptorPingResponseSentToPortOfFirstRequest(Ping):
    """The acceptor sends every Ping Response to the port of the first Ping Request from that address."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.clients: dict[str, Endpoint] = {}

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        super().receive_request(self.clients.setdefault(remote.host, remote), data)


@fault("initiator-ping-response-in-second-half-of-wait-not-received", breaks="MQQB-2.1.2-01", blind=True)
class InitiatorPingResponseInSecondHalfOfWaitNotReceived(Ping):
    """The initiator listens at the source port of a Ping Request only for the first half of the Ping Response Timer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sent_ms = 0

    def send_request(self, session: Session, now: Now) -> None:
        self.sent_ms = now.monotonic_ms
        super().send_request(session, now)

    def receive_response(self, data: bytes, now: Now) -> None:
        settings = self.qm.settings
        if now.monotonic_ms - self.sent_ms <= settings.ping_response_ms // settings.scale // 2:
            super().receive_response(data, now)
