"""Relay the traffic between two systems. A relay forwards bytes, reports them to an observer, and can simulate a
network failure. It runs in the (virtual or real) environment of a check, and therefore forwards bytes only while the
check waits.
"""

from __future__ import annotations

from typing import Protocol

from harness.environment import Environment, Stream, StreamSink, TcpListener
from reference_qm.surface.inputs import Endpoint


class RelayObserver(Protocol):
    """The interface of an observer of all traffic of a relay."""

    def on_opened(self, link: RelayedStreamPair) -> None:
        """Handle a new connection of a system."""

    def on_data(self, link: RelayedStreamPair, data: bytes, *, from_initiator: bool) -> None:
        """Handle bytes that one side sent."""

    def on_closed(self, link: RelayedStreamPair, *, by_initiator: bool) -> None:
        """Handle the end of a connection."""


class Relay:
    """A relay for a system. Other systems connect to the address of the relay. ``local_host``: the address from
    which the relay connects to the system.
    """

    def __init__(
        self, environment: Environment, at: Endpoint, target: Endpoint, observer: RelayObserver, local_host: str
    ) -> None:
        self.environment = environment
        self.at = at
        self.target = target
        self.observer = observer
        self.local_host = local_host
        self.links: list[RelayedStreamPair] = []
        """The open connections through the relay."""
        self._listener: TcpListener | None = None
        self.allow_connections()

    def allow_connections(self) -> None:
        """Allow systems to connect through the relay, initially and again after ``cut``."""
        if self._listener is None:
            self._listener = self.environment.listen(self.at, self._accept)

    def cut(self) -> None:
        """Close all connections and refuse new connections, as a broken network does."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for link in list(self.links):
            link.end(by_initiator=False)

    def _accept(self, stream: Stream) -> StreamSink:
        link = RelayedStreamPair(self, stream)
        self.links.append(link)
        return link.initiator_side


class RelayedStreamPair:
    """One connection through a relay. ``initiator_side``: the side of the system that opened the connection."""

    def __init__(self, relay: Relay, stream: Stream) -> None:
        self.relay = relay
        self.client, self.server = stream.remote, relay.at
        self.initiator_side, self.far = _RelaySide(self, from_initiator=True), _RelaySide(self, from_initiator=False)
        self.initiator_side.stream = stream
        self._open = True
        relay.observer.on_opened(self)
        self.far.stream = relay.environment.connect(relay.target, relay.local_host, self.far)

    def forward_bytes(self, data: bytes, *, from_initiator: bool) -> None:
        """Send bytes to the other side as soon as that side is connected."""
        self.relay.observer.on_data(self, data, from_initiator=from_initiator)
        (self.far if from_initiator else self.initiator_side).send(data)

    def end(self, *, by_initiator: bool) -> None:
        """Close the connections to both systems."""
        if not self._open:
            return
        self._open = False
        self.relay.links.remove(self)
        self.relay.observer.on_closed(self, by_initiator=by_initiator)
        for side in (self.initiator_side, self.far):
            if side.stream is not None:
                side.stream.close()


class _RelaySide:
    """One side of a connection through a relay."""

    def __init__(self, link: RelayedStreamPair, *, from_initiator: bool) -> None:
        self._link = link
        self._from_initiator = from_initiator
        self._is_there = from_initiator
        self._waiting: list[bytes] = []
        self.stream: Stream | None = None

    def send(self, data: bytes) -> None:
        if self._is_there and self.stream is not None:
            self.stream.send(data)
        else:
            self._waiting.append(data)

    def on_connection_open(self) -> None:
        self._is_there = True
        waiting, self._waiting = self._waiting, []
        for data in waiting:
            self.send(data)

    def on_failed(self, error: str) -> None:
        self._link.end(by_initiator=False)

    def on_bytes(self, data: bytes) -> None:
        self._link.forward_bytes(data, from_initiator=self._from_initiator)

    def on_closed(self, reason: str) -> None:
        self._link.end(by_initiator=self._from_initiator)
