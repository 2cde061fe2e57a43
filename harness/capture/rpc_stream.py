"""Cutting a stream of DCE/RPC into PDUs. Spec: C706 12.4, 12.6.1."""

from __future__ import annotations

from harness.wire.rpc import HEADER_SIZE, rpc_size
from harness.wire.wire_error import WireError
from reference_qm.codec import FormatError, FramingError


class RpcFramer:
    """A framer of the bytes of one direction of a connection, which come cut anywhere, into whole PDUs."""

    def __init__(self) -> None:
        self._held = bytearray()

    @property
    def pending(self) -> int:
        """Return the number of bytes held of an unfinished PDU."""
        return len(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the PDUs that ``data`` completes; FramingError, with those before it, where no header is."""
        self._held += data
        whole: list[bytes] = []
        try:
            while (size := rpc_size(bytes(self._held[:HEADER_SIZE]))) is not None and size <= len(self._held):
                whole.append(bytes(self._held[:size]))
                del self._held[:size]
        except WireError as error:
            raise FramingError(FormatError("header", 0, "C706 12.6.1", str(error)), whole) from error
        return whole

    def rest(self) -> bytes:
        """Return nothing: a PDU that is not whole is none."""
        return b""
