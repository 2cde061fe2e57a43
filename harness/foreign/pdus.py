"""Split one direction of a connection into DCE/RPC PDUs, and read the interfaces that a client binds to. Spec: C706
12.6.
"""

from __future__ import annotations

from uuid import UUID

from harness.capture.rpc_stream import RpcFramer
from harness.foreign.packets import HandleSplitPacket, StreamSplitter, begins_with_pdu
from harness.wire.rpc import dissect_rpc, get_rpc_kind, read_bind_proposals, read_rpc_size
from harness.wire.wire_error import WireError


class PduSplitter(StreamSplitter):
    """A parser that splits one direction into PDUs. A PDU must begin at the start of a segment."""

    def __init__(self, take: HandleSplitPacket, *, late: bool) -> None:
        super().__init__(RpcFramer(), take, late=late)

    def read_size(self, head: bytes) -> int | None:
        try:
            return read_rpc_size(head)
        except WireError:
            return None

    def find(self, data: bytes) -> int | None:
        return 0 if begins_with_pdu(data) else None

    def is_parsable_packet(self, data: bytes) -> bool:
        return begins_with_pdu(data)


def read_bound_interfaces(pdu: bytes) -> list[UUID]:
    """Return the interfaces that a bind PDU proposes. For other PDUs and for an invalid PDU, return no interfaces."""
    try:
        if get_rpc_kind(pdu) not in ("bind", "alter_context"):
            return []
        return [proposal.abstract_syntax.uuid for proposal in read_bind_proposals(dissect_rpc(pdu))]
    except WireError:
        return []
