"""The peer's endpoints without a core: a listener for connections, and a UDP port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.capture.recorder import Frame
from harness.environment import Stream, StreamSink
from harness.peer.conversation import RawConversation
from harness.peer.party import CounterpartOfSut
from reference_qm.surface.inputs import Endpoint


class RawListener:
    """A listener at peer_address that accepts connections from the SUT without using a reference core."""

    def __init__(self, peer: CounterpartOfSut, watch: Callable[[RawConversation], None]) -> None:
        self.peer = peer
        self._watch = watch
        driver = peer.sut.file.driver
        self.waiting: list[RawConversation] = []
        self._listener = peer.environment.listen(Endpoint(peer.address, driver.peer_tcp_port), self._take_connection)

    def _take_connection(self, stream: Stream) -> StreamSink:
        conversation = RawConversation(self.peer, by_peer=False)
        conversation.stream = stream
        self.waiting.append(conversation)
        self._watch(conversation)
        return conversation

    def accept(self, within_ms: int | None = None, *, exactly: bool = False) -> RawConversation | None:
        """Wait for the next connection from the SUT; return None if no connection arrives.

        ``exactly``: whether to measure by the tester's clock, without an allowance for stalls. If ``within_ms`` is
        omitted, the wait includes a second attempt after a failed attempt.
        """
        timeout = self.peer.sut.connect_timeout_ms if within_ms is None else within_ms
        self.peer.environment.run_until(lambda: bool(self.waiting), timeout, exactly=exactly)
        return self.waiting.pop(0) if self.waiting else None

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()


class PingPort:
    """A UDP port of the peer for pings."""

    def __init__(self, peer: CounterpartOfSut, port: int) -> None:
        self.peer = peer
        self.received: list[tuple[Endpoint, Frame]] = []
        self._next = 0
        self._port = peer.environment.open_udp_port(Endpoint(peer.address, port), self)

    @property
    def endpoint(self) -> Endpoint:
        """The address and port from which the peer sends pings."""
        return self._port.endpoint

    def on_datagram(self, remote: Endpoint, data: bytes) -> None:
        """Record a datagram from the SUT."""
        if self.peer.recorder.is_flooded:
            return
        frame = self.peer.recorder.record_datagram(self._port.endpoint, remote, data, from_sut=True)
        self.received.append((remote, frame))

    def send(self, packet: Any, to: Endpoint | None = None) -> Frame:
        """Send a scapy packet or bytes, to the SUT's ping port by default."""
        target = to or Endpoint(self.peer.sut.address, self.peer.sut.ping_port)
        data = bytes(packet)
        frame = self.peer.recorder.record_datagram(self._port.endpoint, target, data, from_sut=False)
        self._port.send(target, data)
        return frame

    def poll(self, within_ms: int | None = None) -> Frame | None:
        """Wait for the next datagram that has not been polled yet; ``received`` contains the ``source`` of each
        datagram.
        """
        self.peer.wait(lambda: self._next < len(self.received), within_ms, "a datagram")
        if self._next >= len(self.received):
            return None
        self._next += 1
        return self.received[self._next - 1][1]

    def stays_quiet(self, for_ms: int | None = None) -> bool:
        """Wait for the silence window; return whether no datagram arrived."""
        return self.poll(self.peer.sut.quiet_ms if for_ms is None else for_ms) is None

    def close(self) -> None:
        """Close the port."""
        self._port.close()
