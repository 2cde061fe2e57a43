"""The reference queue manager as ``mqconform serve``, but everything that it sends is late.

MQ_LATE_S: the delay in seconds, by default 1.
"""

from __future__ import annotations

import asyncio
import os

from reference_qm.shell import cli, host
from reference_qm.shell.connection import Connection
from reference_qm.shell.datagrams import DatagramSocket
from reference_qm.surface.inputs import Endpoint

LATE_S = float(os.environ.get("MQ_LATE_S", "1"))


class LateConnection(Connection):
    """A connection that delays what it sends, and its end; the order stays unchanged."""

    def send(self, data: bytes) -> None:
        asyncio.get_running_loop().call_later(LATE_S, super().send, data)

    def close(self) -> None:
        self.closed = True
        if self.connected:
            asyncio.get_running_loop().call_later(LATE_S, super().close)
        else:
            super().close()


class LateDatagramSocket(DatagramSocket):
    """A datagram socket that delays what it sends."""

    def send(self, remote: Endpoint, data: bytes) -> None:
        asyncio.get_running_loop().call_later(LATE_S, super().send, remote, data)


if __name__ == "__main__":
    host.Connection = LateConnection  # type: ignore[misc]
    host.DatagramSocket = LateDatagramSocket  # type: ignore[misc]
    cli.main()
