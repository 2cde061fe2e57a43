"""Implements the UDP sockets for pings (MS-MQQB 2.1.2)."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

from reference_qm.surface.inputs import Endpoint

DATAGRAM_LIMIT = 65_535

log = logging.getLogger(__name__)


class DatagramSocket:
    """A UDP socket that sends a datagram at once or drops it. Datagrams never wait in memory, because UDP does not
    guarantee delivery anyway.
    """

    def __init__(self, local: Endpoint, received: Callable[[Endpoint, bytes], None]) -> None:
        """Bind the socket. Raise OSError if this fails."""
        self._on_datagram = received
        self._socket = socket.socket(socket.AF_INET6 if ":" in local.host else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.bind(local)
        except OSError:
            self._socket.close()
            raise
        self.local = Endpoint(*self._socket.getsockname()[:2])

    def start(self) -> None:
        """Start receiving."""
        asyncio.get_running_loop().add_reader(self._socket, self._on_readable)

    def send(self, remote: Endpoint, data: bytes) -> None:
        """Send a datagram. If the datagram cannot be sent, it counts as lost, and the Ping Response Timer expires."""
        try:
            self._socket.sendto(data, remote)
        except OSError as error:
            log.debug("datagram to %s:%d not sent: %s", remote.host, remote.port, error)

    def close(self) -> None:
        """Stop receiving and sending."""
        if self._socket.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()

    def _on_readable(self) -> None:
        try:
            data, name = self._socket.recvfrom(DATAGRAM_LIMIT)
        except OSError as error:  # an ICMP error of an earlier datagram, or a bad checksum
            log.debug("cannot receive a datagram: %s", error)
            return
        self._on_datagram(Endpoint(*name[:2]), data)
