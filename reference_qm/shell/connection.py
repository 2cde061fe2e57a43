"""Implements the TCP connections of MS-MQQB sessions (MS-MQQB 2.1.1)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import cast

from reference_qm.shell.unsent import UnsentBytesLimit
from reference_qm.surface.inputs import (
    BytesReceived,
    Endpoint,
    Input,
    TransportAccepted,
    TransportConnected,
    TransportLost,
)

CLOSE_FLUSH_TIMEOUT_S = 5.0
"""The time limit in s for sending the pending bytes of a connection that is being closed."""

OpenedConnectionInput = type[TransportAccepted] | type[TransportConnected]


class Connection(asyncio.Protocol):
    """Converts asyncio's callbacks for a stream into inputs of the core.

    Received bytes are handled when they are read (asyncio reads at most 256 KiB at a time), so no received bytes wait
    in memory. Bytes to send wait in memory while the remote side does not read. When more than ``unsent_limit`` bytes
    wait, the connection is aborted, because the core cannot use a stream with missing bytes. All bytes that are sent in
    one turn of the event loop are written together.
    """

    def __init__(
        self,
        name: str,
        opened: OpenedConnectionInput,
        deliver: Callable[[Input], None],
        admit: Callable[[Connection], bool],
        gone: Callable[[Connection], None],
        unsent_limit: int,
        remote: Endpoint | None = None,
        unsent: UnsentBytesLimit | None = None,
    ) -> None:
        self.name = name
        self.opened = opened
        self.deliver = deliver
        self.admit = admit
        self.gone = gone
        self.unsent_limit = unsent_limit
        self.unsent = unsent or UnsentBytesLimit()
        self.remote = remote
        self.connecting_task: asyncio.Task[None] | None = None
        self.closed = False
        """Whether the core no longer gets inputs from this connection."""
        self._transport: asyncio.Transport | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._abort_reason: str | None = None
        self._collected_chunks: list[bytes] = []
        self._collected_size = 0

    @property
    def connected(self) -> bool:
        """Whether the TCP connection has been established. The value stays true after the connection is lost."""
        return self._transport is not None

    @property
    def unsent_bytes(self) -> int:
        """The number of bytes that are not sent yet."""
        return self._collected_size + (0 if self._transport is None else self._transport.get_write_buffer_size())

    # -- asyncio's callbacks ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast("asyncio.Transport", transport)
        peer_name = stream.get_extra_info("peername")  # None when the other side has already disconnected
        remote = Endpoint(*peer_name[:2]) if peer_name else self.remote
        if self.closed or remote is None or not self.admit(self):
            self.closed = True
            stream.abort()
            return
        self.remote = remote
        self._transport = stream
        self.deliver(self.opened(self.name, remote, Endpoint(*stream.get_extra_info("sockname")[:2])))

    def data_received(self, data: bytes) -> None:
        self.deliver(BytesReceived(self.name, data))

    def eof_received(self) -> None:
        self._report_loss("closed by the remote side")
        self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._close_timer is not None:
            self._close_timer.cancel()
        self._report_loss(self._abort_reason or _describe_exception(exc))
        self.gone(self)

    # -- host requests ------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Send bytes in order. Bytes for a broken connection are discarded."""
        if self._transport is None:
            raise RuntimeError(f"{self.name}: SendPacket was requested before TransportConnected")
        if self._transport.is_closing():
            return
        waiting = self.unsent_bytes
        if waiting + len(data) > self.unsent_limit or self.unsent.is_full(waiting):
            self._abort_reason = (
                f"the remote side is not reading from its connection: {waiting} bytes are waiting to be sent"
            )
            self._transport.abort()
            return
        if not self._collected_chunks:
            asyncio.get_running_loop().call_soon(self._write_pending_bytes)
        self._collected_chunks.append(data)
        self._collected_size += len(data)

    def _write_pending_bytes(self) -> None:
        """Write the collected bytes. If the transport is closing, the bytes are discarded."""
        gathered, self._collected_chunks, self._collected_size = self._collected_chunks, [], 0
        if gathered and self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(gathered))

    def close(self) -> None:
        """Send the pending bytes, then close the connection. The core gets no more inputs from it."""
        self.closed = True
        if self._transport is not None:
            self._write_pending_bytes()
            self._transport.close()
            if self._transport.get_write_buffer_size() and self._close_timer is None:
                self._close_timer = asyncio.get_running_loop().call_later(CLOSE_FLUSH_TIMEOUT_S, self._transport.abort)
        elif self.connecting_task is not None:
            self.connecting_task.cancel()

    def abort(self) -> None:
        """Close the connection without sending the pending bytes. The core gets no more inputs from it."""
        self.close()
        if self._transport is not None:
            self._transport.abort()

    def _report_loss(self, reason: str) -> None:
        if not self.closed:
            self.closed = True
            self.deliver(TransportLost(self.name, reason))


def _describe_exception(exc: Exception | None) -> str:
    if isinstance(exc, OSError) and exc.errno is not None:
        return os.strerror(exc.errno)
    return str(exc) if exc is not None else "closed"
