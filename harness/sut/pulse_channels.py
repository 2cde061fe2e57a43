"""The ways to feel a system's pulse: pings where it answers them, else a control connection of its own."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.environment.real import RealEnvironment
from harness.wire import PingPacket, dissect_ping, ping_request
from reference_qm.surface.inputs import Endpoint

DATAGRAM = 2_048
ANSWER_LIMIT = 1_048_576
Answered = Callable[[int], None]


class PingChannel:
    """Pings the system (MS-MQQB 3.1.7.7): it keeps nothing of them. The cookie is the number of the question."""

    def __init__(self, environment: RealEnvironment, endpoint: Endpoint, guid: UUID, answered: Answered) -> None:
        self._environment = environment
        self._guid = guid
        self._answered = answered
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._there = True
        with contextlib.suppress(OSError):  # asking finds it out
            self._socket.connect(tuple(endpoint))
        environment.watch(self._socket, self._on_ready)

    def ask(self, number: int) -> bool:
        try:
            self._socket.send(bytes(ping_request(Cookie=number, QMGuid=self._guid)))
        except BlockingIOError:
            pass  # as good as lost: the next one may get through
        except OSError:
            self._there = False
        return self._there

    def _on_ready(self, mask: int) -> None:
        try:
            packet: Any = dissect_ping(self._socket.recv(DATAGRAM))
        except BlockingIOError:
            return
        except OSError:  # nobody listens there any more
            self._there = False
            return
        except ValueError:
            return
        self._there = True
        self._answered(int(packet[PingPacket].Cookie))

    def close(self) -> None:
        self._environment.forget(self._socket)


class ControlChannel:
    """Asks the control channel for the identity. It shows the pulse of what answers there."""

    def __init__(self, environment: RealEnvironment, endpoint: Endpoint, answered: Answered) -> None:
        self._answered = answered
        self._pending = b""
        self._there = True
        self._stream = environment.connect(endpoint, "127.0.0.1", self)

    def ask(self, number: int) -> bool:
        if self._there:
            self._stream.send(json.dumps({"id": number, "verb": "identity"}).encode() + b"\n")
        return self._there

    def on_open(self) -> None:
        """Do nothing: what was asked is sent."""

    def on_failed(self, error: str) -> None:
        self._there = False

    def on_closed(self, reason: str) -> None:
        self._there = False

    def on_bytes(self, data: bytes) -> None:
        *lines, self._pending = (self._pending + data).split(b"\n")
        if len(self._pending) > ANSWER_LIMIT:
            self._there = False
            self._stream.close()
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
                self._answered(int(json.loads(line)["id"]))

    def close(self) -> None:
        self._stream.close()
