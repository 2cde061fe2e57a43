"""Faults that break rules of MS-MQQB 3.1.7.7 Receive Ping Request."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import FormatError, parse_ping
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping import Ping
from reference_qm.surface.inputs import Endpoint


@fault("acceptor-ping-request-with-known-cookie-not-answered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestWithKnownCookieNotAnswered(Ping):
    """The acceptor does not answer a Ping Request with the Cookie and QMGuid of an earlier Ping Request."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.answered: set[tuple[UUID, int]] = set()

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        try:
            request = parse_ping(data)
        except FormatError:
            return
        key = (request.QMGuid, request.Cookie)
        if key not in self.answered:
            self.answered.add(key)
            super().receive_request(remote, data)
