"""Faults that break rules of MS-MQQP 3.1.4.1: waiting reads after a co_cancel or a fragmented request."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.rpc.bodies import CoCancel, Orphaned
from reference_qm.rpc.pdu import Pdu
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytesReceived
from suites.mqqp.s3_1_3_initialization.faults_of_unusual_pdus import (
    is_later_fragment_with_unknown_opnum,
    parse_received_pdu,
)


@fault("server-co-cancel-pdu-processed-as-orphaned-pdu", breaks="MQQP-3.1.4.1-D02")
class ServerCoCancelPduProcessedAsOrphanedPdu(RpcEventDispatching):
    """The server processes a co_cancel PDU like an orphaned PDU: it removes the call without an answer."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        pdu = parse_received_pdu(event)
        if pdu is not None and isinstance(pdu.body, CoCancel):
            event = replace(event, data=Pdu(Orphaned(), pdu.call_id).build())
        super().on_bytes(event, now)


@fault("server-later-fragment-opnum-unknown-orphans-previous-call", breaks="MQQP-3.1.4.1-D02")
class ServerLaterFragmentOpnumUnknownOrphansPreviousCall(RpcEventDispatching):
    """The server removes the previous call of a connection without an answer when the client sends a later fragment of
    a request whose opnum is unknown.
    """

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        pdu = parse_received_pdu(event)
        if pdu is not None and is_later_fragment_with_unknown_opnum(pdu):
            event = replace(event, data=Pdu(Orphaned(), pdu.call_id - 1).build())
        super().on_bytes(event, now)
