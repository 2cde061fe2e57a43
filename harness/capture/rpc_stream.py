"""Split a DCE/RPC stream into PDUs. Spec: C706 12.4, 12.6.1."""

from __future__ import annotations

from harness.capture.framer import Framer
from harness.wire.rpc import PDU_HEADER_BYTES, read_rpc_size
from harness.wire.wire_error import WireError
from reference_qm.codec import FormatError


class RpcFramer(Framer):
    """A parser that splits the bytes of one direction of a connection into complete PDUs."""

    def get_remaining_bytes(self) -> bytes:
        """Return no bytes, because an incomplete PDU is not reported."""
        return b""

    def _read_packet_size(self) -> int | None:
        try:
            size = read_rpc_size(bytes(self._unsplit_bytes[:PDU_HEADER_BYTES]))
        except WireError as error:
            raise FormatError("header", 0, "C706 12.6.1", str(error)) from error
        return size if size is not None and size <= len(self._unsplit_bytes) else None
