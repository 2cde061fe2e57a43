"""The real environment. Its sockets and its clock, the monotonic clock, are used by a single thread, which blocks
only in select.
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import itertools
import os
import selectors
import socket
import time
from collections.abc import Callable

from harness.environment.base import DatagramSink, StreamSink, UnseenEventRecorder
from harness.environment.pulse import QUESTION_INTERVAL_MS, LivenessMeasurement
from harness.environment.wall_clock import WallClock, compute_jump_free_time_of_day_ns
from harness.errors import ConformanceFailure, SutFlood, SutUnavailable
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint

READ_CHUNK_BYTES = 65_536
CONNECT_TIMEOUT_MS = 5_000
MAX_CHECK_DURATION_MS = 15 * 60_000
"""int ms: the default time limit of a check."""
MAX_CLEANUP_DURATION_MS = 30_000
"""int ms: the additional time that a check has for undoing its changes after it has reached its time limit."""
MAX_CONNECTIONS = 512
"""The maximum number of connections that a SUT may have open during a check; more connections are treated as a
flood.
"""
MAX_OUTGOING_BYTES = 64 * 1024 * 1024
"""int bytes: the maximum amount of data that may wait in the queue if the SUT does not read. A check that queues more
data has a bug.
"""


def _get_address_family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _parse_socket_name(name: tuple[object, ...]) -> Endpoint:
    return Endpoint(str(name[0]), int(str(name[1])))


class _Timer:
    __slots__ = ("action", "cancelled")

    def __init__(self, action: Callable[[], None]) -> None:
        self.action = action
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class _RealStream:
    def __init__(
        self, environment: RealEnvironment, sock: socket.socket, remote: Endpoint, sink: StreamSink | None
    ) -> None:
        self.environment = environment
        self.sock = sock
        self.remote = remote
        self.local = Endpoint("", 0)
        if sink is not None:
            self.sink = sink
        self.connecting = sink is not None
        self.give_up: _Timer | None = None
        self.outgoing = bytearray()
        self.open = True

    def on_connection_open(self) -> None:
        self.connecting = False
        if self.give_up is not None:
            self.give_up.cancel()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.local = _parse_socket_name(self.sock.getsockname())
        self.sink.on_connection_open()

    def send(self, data: bytes) -> None:
        if not self.open:
            return
        if len(self.outgoing) + len(data) > MAX_OUTGOING_BYTES:
            raise SutUnavailable(
                f"{self.remote.host}:{self.remote.port} is not reading from its "
                f"connection: {MAX_OUTGOING_BYTES} bytes are waiting to be sent"
            )
        self.outgoing += data
        self.flush()

    def flush(self) -> None:
        if self.connecting or not self.open:
            return
        while self.outgoing:
            try:
                sent = self.sock.send(self.outgoing)
            except BlockingIOError:
                break
            except OSError as error:
                self.report_connection_loss(error.strerror or "send failed")
                return
            del self.outgoing[:sent]
        self.environment.watch_socket(self.sock, self.on_socket_ready, write=bool(self.outgoing))

    def on_socket_ready(self, mask: int) -> None:
        if self.connecting:
            error = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                self.report_failure(os.strerror(error))
                return
            self.on_connection_open()
            self.flush()
            return
        if mask & selectors.EVENT_WRITE:
            self.flush()
        if mask & selectors.EVENT_READ and self.open:
            self.read()

    def read(self) -> None:
        try:
            data = self.sock.recv(READ_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self.report_connection_loss(error.strerror or "connection reset")
            return
        if data:
            self.sink.on_bytes(data)
        else:
            self.report_connection_loss("closed by the other side")

    def report_failure(self, error: str) -> None:
        if self.open:
            self.close()
            self.sink.on_failed(error)

    def report_connection_loss(self, reason: str) -> None:
        if self.open:
            self.environment.has_other_side_closed_connection = True
            self.close()
            self.sink.on_closed(reason)

    def close(self) -> None:
        if self.open:
            self.open = False
            self.environment.forget(self.sock)


class _RealListener:
    def __init__(self, environment: RealEnvironment, sock: socket.socket, accept: Callable[..., StreamSink]) -> None:
        self.environment = environment
        self.sock = sock
        self.endpoint = _parse_socket_name(sock.getsockname())
        self.accept = accept

    def on_socket_ready(self, mask: int) -> None:
        try:
            sock, name = self.sock.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            raise ConformanceFailure(f"no more connections from the SUT can be accepted: {error.strerror}") from error
        if self.environment.open_socket_count >= MAX_CONNECTIONS:
            sock.close()
            if self.environment.flood_description is not None:
                return
            self.environment.flood_description = (
                f"the SUT has opened more than {MAX_CONNECTIONS} connections within one check"
            )
            raise SutFlood(self.environment.flood_description)
        sock.setblocking(False)
        stream = _RealStream(self.environment, sock, _parse_socket_name(name), None)
        stream.sink = self.accept(stream)
        self.environment.watch_socket(sock, stream.on_socket_ready)
        stream.on_connection_open()

    def close(self) -> None:
        self.environment.forget(self.sock)


class _RealDatagrams:
    def __init__(self, environment: RealEnvironment, sock: socket.socket, sink: DatagramSink) -> None:
        self.environment = environment
        self.sock = sock
        self.endpoint = _parse_socket_name(sock.getsockname())
        self.sink = sink

    def on_socket_ready(self, mask: int) -> None:
        try:
            data, name = self.sock.recvfrom(READ_CHUNK_BYTES)
        except OSError:  # an ICMP error for an earlier datagram is not an event, because UDP may lose datagrams
            return
        self.sink.on_datagram(_parse_socket_name(name), data)

    def send(self, remote: Endpoint, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self.sock.sendto(data, tuple(remote))

    def close(self) -> None:
        self.environment.forget(self.sock)


class RealEnvironment:
    """The environment for real systems. Events are handled only in ``run_until``, not while the code of a check
    runs.

    ``shares_clock`` states whether the SUT runs on this machine and so reads the same clock.
    """

    is_time_virtual = False

    def __init__(self, *, shares_clock: bool = True) -> None:
        self._selector = selectors.DefaultSelector()
        self.wall_clock = WallClock(machines=shares_clock)
        self.limit_check_time(MAX_CHECK_DURATION_MS)
        self._timers: list[tuple[int, int, _Timer]] = []
        self._timer_numbers = itertools.count()
        self.has_other_side_closed_connection = False
        self.flood_description: str | None = None
        self.pulse: LivenessMeasurement | None = None
        """The measurement of the SUT's pulse, or None if the pulse is not measured. If it is measured, the time during
        which the SUT stalls does not count as waiting time.
        """
        self.unseen_event_recorder: UnseenEventRecorder | None = None

    def now(self) -> Now:
        return Now(time.monotonic_ns() // 1_000_000, self.wall_clock.utc_s())

    def epoch_us(self) -> int:
        return compute_jump_free_time_of_day_ns() // 1000

    def get_epoch_us_at(self, monotonic_ms: int) -> int:
        return compute_jump_free_time_of_day_ns(monotonic_ms * 1_000_000) // 1000

    def limit_check_time(self, check_ms: int) -> None:
        self._check_limit_ms = check_ms
        self._check_end_ms = self.now().monotonic_ms + check_ms

    @property
    def open_socket_count(self) -> int:
        """The number of watched sockets."""
        return len(self._selector.get_map())

    def watch_socket(self, sock: socket.socket, on_ready: Callable[[int], None], *, write: bool = False) -> None:
        """Watch a socket. ``on_socket_ready`` is called whenever the socket is readable or, if requested, writable."""
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if write else 0)
        if sock in self._selector.get_map():
            self._selector.modify(sock, mask, on_ready)
        else:
            self._selector.register(sock, mask, on_ready)

    def forget(self, sock: socket.socket) -> None:
        """Close a socket, and stop watching it."""
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(sock)
        sock.close()

    def call_at(self, monotonic_ms: int, action: Callable[[], None]) -> _Timer:
        timer = _Timer(action)
        heapq.heappush(self._timers, (monotonic_ms, next(self._timer_numbers), timer))
        return timer

    def run_until(self, condition: Callable[[], bool], timeout_ms: int, *, exactly: bool = False) -> bool:
        began_ms = self.now().monotonic_ms
        wait = None if self.pulse is None or exactly else self.pulse.begin()
        while not condition():
            now_ms = self.now().monotonic_ms
            if now_ms >= self._check_end_ms:
                self._check_end_ms = now_ms + MAX_CLEANUP_DURATION_MS
                raise ConformanceFailure(f"the check did not end within {self._check_limit_ms // 1_000} s")
            left_ms = wait.compute_remaining_ms(now_ms, timeout_ms) if wait else began_ms + timeout_ms - now_ms
            if exactly and self.pulse is not None and left_ms > 0:
                self.pulse.send_due_question()
                left_ms = min(left_ms, QUESTION_INTERVAL_MS)
            if left_ms <= 0:
                self._wait_and_dispatch_once(0)  # handle the events that occurred while this process was not running
                if self.unseen_event_recorder is not None:
                    self.unseen_event_recorder.note_timeout()
                return condition()
            self._wait_and_dispatch_once(min(left_ms, max(0, self._timers[0][0] - now_ms)) if self._timers else left_ms)
        return True

    def _wait_and_dispatch_once(self, wait_ms: int) -> None:
        ready = self._selector.select(max(wait_ms, 0) / 1000)
        unseen_event_recorder = self.unseen_event_recorder if len(ready) > 1 else None
        if unseen_event_recorder is not None:
            unseen_event_recorder.note_event_group(begins=True)
        for key, mask in ready:
            if key.fileobj in self._selector.get_map():  # an earlier event of this round may have closed the socket
                key.data(mask)
        if unseen_event_recorder is not None:
            unseen_event_recorder.note_event_group(begins=False)
        now_ms = self.now().monotonic_ms
        while self._timers and self._timers[0][0] <= now_ms:
            _, _, timer = heapq.heappop(self._timers)
            if not timer.cancelled:
                timer.action()

    def connect(self, remote: Endpoint, local_host: str, sink: StreamSink) -> _RealStream:
        sock = socket.socket(_get_address_family(remote.host), socket.SOCK_STREAM)
        sock.setblocking(False)
        stream = _RealStream(self, sock, remote, sink)
        try:
            sock.bind((local_host, 0))
            code = sock.connect_ex(tuple(remote))
        except OSError as error:
            self._report_failure_soon(stream, f"cannot connect from the address {local_host}: {error.strerror}")
            return stream
        if code not in (0, errno.EINPROGRESS):
            self._report_failure_soon(stream, os.strerror(code))
            return stream
        self.watch_socket(sock, stream.on_socket_ready, write=True)
        stream.give_up = self.call_at(
            self.now().monotonic_ms + CONNECT_TIMEOUT_MS, lambda: stream.report_failure("connection timed out")
        )
        return stream

    def _report_failure_soon(self, stream: _RealStream, error: str) -> None:
        self.call_at(self.now().monotonic_ms, lambda: stream.report_failure(error))

    def listen(self, endpoint: Endpoint, accept: Callable[..., StreamSink]) -> _RealListener:
        sock = socket.socket(_get_address_family(endpoint.host), socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(tuple(endpoint))
            sock.listen(64)
        except OSError as error:
            sock.close()
            raise SutUnavailable(
                f"cannot listen on {endpoint.host}:{endpoint.port}, "
                f"where the SUT connects to the peer: {error.strerror}; "
                "set peer_address and peer_tcp_port in [driver] to an address and a free port of this machine"
            ) from error
        sock.setblocking(False)
        listener = _RealListener(self, sock, accept)
        self.watch_socket(sock, listener.on_socket_ready)
        self._report_picked_port(endpoint, listener.endpoint)
        return listener

    def open_udp_port(self, endpoint: Endpoint, sink: DatagramSink) -> _RealDatagrams:
        sock = socket.socket(_get_address_family(endpoint.host), socket.SOCK_DGRAM)
        try:
            sock.bind(tuple(endpoint))
        except OSError as error:
            sock.close()
            raise SutUnavailable(f"cannot open udp {endpoint.host}:{endpoint.port}: {error.strerror}") from error
        sock.setblocking(False)
        port = _RealDatagrams(self, sock, sink)
        self.watch_socket(sock, port.on_socket_ready)
        self._report_picked_port(endpoint, port.endpoint)
        return port

    def _report_picked_port(self, asked: Endpoint, got: Endpoint) -> None:
        """Report to the recorder of unseen events (``witness``) which port the operating system chose, if port 0 was
        requested.
        """
        if asked.port == 0 and self.unseen_event_recorder is not None:
            self.unseen_event_recorder.note_port(got)

    def resolve(self, host: str) -> tuple[str, ...]:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except socket.gaierror:
            return ()
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    def close(self) -> None:
        if self.pulse is not None:
            self.pulse.close()
        for key in list(self._selector.get_map().values()):
            self.forget(key.fileobj)  # type: ignore[arg-type]
        self._selector.close()
        self._timers.clear()
