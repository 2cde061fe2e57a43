"""Faults that break rules of MS-MQQP 3.1.3 Initialization after a co_cancel or a fragmented request."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.rpc.bodies import CoCancel, Request
from reference_qm.rpc.header import PfcFlags
from reference_qm.rpc.interfaces import QM2QM
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytesReceived


def parse_received_pdu(event: RpcBytesReceived) -> Pdu | None:
    """Return the PDU that the received bytes contain, or None if they do not contain exactly one PDU."""
    try:
        return Pdu.parse(event.data)
    except PduError:
        return None


def is_later_fragment_with_unknown_opnum(pdu: Pdu | None) -> bool:
    """Return whether a PDU is a later fragment of a request whose opnum does not exist in qm2qm."""
    if pdu is None or not isinstance(pdu.body, Request):
        return False
    return not pdu.pfc_flags & PfcFlags.FIRST_FRAG and pdu.body.opnum not in QM2QM.methods


@fault("server-co-cancel-pdu-ends-rpc-service", breaks="MQQP-3.1.3-01")
class ServerCoCancelPduEndsRpcService(RpcEventDispatching):
    """The server processes no RPC PDU of any client after a co_cancel PDU."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        pdu = parse_received_pdu(event)
        if pdu is not None and isinstance(pdu.body, CoCancel):
            self.__dict__["ended"] = True
        if not self.__dict__.get("ended"):
            super().on_bytes(event, now)


@fault("server-later-fragment-opnum-unknown-ends-rpc-service", breaks="MQQP-3.1.3-01")
class ServerLaterFragmentOpnumUnknownEndsRpcService(RpcEventDispatching):
    """The server processes no RPC PDU of any client after a later fragment of a request whose opnum is unknown."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        if is_later_fragment_with_unknown_opnum(parse_received_pdu(event)):
            self.__dict__["ended"] = True
        if not self.__dict__.get("ended"):
            super().on_bytes(event, now)
