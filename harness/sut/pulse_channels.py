"""Define the channels that measure the pulse of a system: they ask it simple questions at short intervals, so that
delayed answers reveal a stall. The questions are pings if the system answers pings; otherwise, they are requests on a
second control connection.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.environment.real import RealEnvironment
from harness.errors import SutUnavailable
from harness.sut.wires import ControlChannelConnection, ControlReply, ControlRoute
from harness.wire import PingPacket, dissect_ping, ping_request
from reference_qm.surface.inputs import Endpoint

LARGEST_DATAGRAM_BYTES = 2_048
ReportAnswerNumber = Callable[[int], None]


class PingPulseChannel:
    """A channel that measures the pulse with Ping Requests (MS-MQQB 3.1.7.7), about which the system stores no state.
    The PingCookie of a request contains the number of the question.
    """

    def __init__(
        self, environment: RealEnvironment, endpoint: Endpoint, guid: UUID, answered: ReportAnswerNumber
    ) -> None:
        self._environment = environment
        self._guid = guid
        self._answered = answered
        family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._is_reachable = True
        with contextlib.suppress(OSError):  # the answer to the first question shows whether this succeeded
            self._socket.connect(tuple(endpoint))
        environment.watch_socket(self._socket, self._on_socket_ready)

    def send_question(self, number: int) -> bool:
        try:
            self._socket.send(bytes(ping_request(Cookie=number, QMGuid=self._guid)))
        except BlockingIOError:
            pass  # the question counts as lost; a later one may arrive
        except OSError:
            self._is_reachable = False
        return self._is_reachable

    def _on_socket_ready(self, mask: int) -> None:
        try:
            packet: Any = dissect_ping(self._socket.recv(LARGEST_DATAGRAM_BYTES))
        except BlockingIOError:
            return
        except OSError:  # no program listens there any more
            self._is_reachable = False
            return
        except ValueError:
            return
        self._is_reachable = True
        self._answered(int(packet[PingPacket].Cookie))

    def close(self) -> None:
        self._environment.forget(self._socket)


class ControlPulseChannel:
    """A channel that measures the pulse of an agent. Each question is a request for the agent's identity on a separate
    control connection.
    """

    def __init__(self, environment: RealEnvironment, route: ControlRoute, answered: ReportAnswerNumber) -> None:
        self._answered = answered
        self._is_reachable = True
        self._numbers: dict[int, int] = {}
        """The numbers of the unanswered questions, by the ids of the requests that contain the questions."""
        self._wire: ControlChannelConnection | None = None
        try:
            self._wire = route.open(environment, self)
        except SutUnavailable:
            self._is_reachable = False

    def send_question(self, number: int) -> bool:
        if self._is_reachable and self._wire is not None:
            self._numbers[self._wire.send_request("identity", {})] = number
        return self._is_reachable

    def on_connection_open(self) -> None:
        """Do nothing, because the question was already sent."""

    def on_reply(self, reply: ControlReply) -> None:
        number = self._numbers.pop(reply["id"], None)
        if number is not None:
            self._answered(number)

    def on_end(self, why: str) -> None:
        self._is_reachable = False

    def close(self) -> None:
        if self._wire is not None:
            self._wire.close()
