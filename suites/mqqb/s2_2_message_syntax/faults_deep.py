"""Faults of MS-MQQB 2.2 Message Syntax, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session


def _reverse_bytes(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "little"), "big")


@fault("acceptor-window-size-of-response-in-big-endian-order", breaks="MQQB-2.2-D01", blind=True)
class AcceptorWindowSizeOfResponseInBigEndianOrder(SessionOpening):
    """The acceptor sends WindowSize of a ConnectionParameters response in big-endian order."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        return set_fields(packet, {"ConnectionParametersHeader.WindowSize": lambda old: _reverse_bytes(old, 2)})
