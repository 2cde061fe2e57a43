"""Faults that break rules of MS-MQSO 6.6.2.1."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping


@fault("acceptor-ping-response-qm-guid-as-before-change-of-domain", breaks="MQSO-6.6.2.1-05", blind=True)
class AcceptorPingResponseQmGuidAsBeforeChangeOfDomain(Ping):
    """The acceptor sends its earlier Identifier as QMGuid of a Ping Response after the directory of its new domain has
    created its object.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(super().build_response(request), QMGuid=self.qm.config.identifier)
