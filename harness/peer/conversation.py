"""A connection between the peer and the SUT, on which a check sends packets, polls received packets, and waits for the
connection's end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from harness.capture.recorder import Connection, Frame
from harness.environment import Stream
from harness.environment.core_host import CoreHost
from harness.errors import ConformanceFailure, HarnessError
from harness.peer.party import CounterpartOfSut
from harness.peer.timeouts import ACK_TIMEOUT_MS, RECOVERABLE_ACK_MS
from harness.wire import dissect, session_ack
from reference_qm.surface.commands import Inspect, SendMessage

USER_MESSAGE_KIND = "UserMessage"
ALL_ACK_FLAGS = 0xFFFF_FFFF
"""RecoverableMsgAckFlags with all bits set, which acknowledges 32 recoverable messages (MS-MQQB 2.2.6.1)."""
ChangeSentPacket = Callable[[Any], Any]
"""The type of functions that change packets. Such a function is called with the scapy packet to be sent. It returns a
changed packet, bytes, or None to drop the packet.
"""


class Conversation:
    """The common base class of raw connections and of sessions in which a reference core acts as the peer."""

    stream: Stream
    record: Connection

    def __init__(self, peer: CounterpartOfSut) -> None:
        self.peer = peer
        self._next = 0

    # -- received packets ---------------------------------------------------------------------------------------

    @property
    def received(self) -> list[Frame]:
        """Every packet that the SUT has sent on this connection."""
        return self.record.received

    @property
    def sent(self) -> list[Frame]:
        """Every packet that the peer has sent on this connection."""
        return self.record.sent

    @property
    def messages(self) -> list[Frame]:
        """The messages that the SUT has sent on this connection, except messages of earlier tests."""
        return [
            frame
            for frame in self._user_messages(self.record.from_sut)
            if not self.peer.is_about_message_of_earlier_test(frame)
        ]

    @property
    def connection_parameters_of_sut(self) -> Any:
        """The ConnectionParametersHeader that the SUT sent on this connection."""
        return next(frame for frame in self.received if frame.kind == "ConnectionParameters")[
            "ConnectionParametersHeader"
        ]

    @property
    def last(self) -> Frame | None:
        """The last packet in either direction. It is evidence that the SUT reacted or did not react."""
        return self.record.frames[-1] if self.record.frames else None

    @property
    def closed_by_sut(self) -> bool:
        """Whether the SUT has closed the connection."""
        return self.record.closed_by == "sut"

    def poll(
        self, kind: str, where: Callable[[Frame], bool] | None = None, *, within_ms: int | None = None
    ) -> Frame | None:
        """Wait for the next packet of a kind (given by name) that has not been polled yet; return None if no such
        packet arrives in time.
        """
        found: list[Frame] = []

        def has_arrived() -> bool:
            received = self.record.from_sut
            while self._next < len(received):
                frame = received[self._next]
                self._next += 1
                if frame.kind == kind and (where is None or where(frame)):
                    found.append(frame)
                    return True
            return self.record.closed_by is not None

        self.peer.wait(has_arrived, within_ms, kind)
        return found[0] if found else None

    def expect(self, kind: str, where: Callable[[Frame], bool] | None = None, *, within_ms: int | None = None) -> Frame:
        """Wait for a packet as ``poll`` does. Raise ConformanceFailure if no packet arrives, because the next steps of
        the check depend on the packet.
        """
        frame = self.poll(kind, where, within_ms=within_ms)
        if frame is None:
            ended = "; the SUT closed the connection" if self.closed_by_sut else ""
            raise ConformanceFailure(f"the SUT did not send {kind}{ended}")
        return frame

    def wait_closed(self, within_ms: int | None = None, *, exactly: bool = False) -> bool:
        """Wait for the SUT to close the connection; return whether the SUT closes it in time.

        ``exactly``: whether to measure by the tester's clock, without an allowance for stalls. Raise
        ConformanceFailure if the SUT must close the connection immediately (``within_ms`` is None) but closes it
        late.
        """

        def is_closed_by_either() -> bool:
            return self.record.closed_by is not None

        if exactly and within_ms is not None:
            self.peer.environment.run_until(is_closed_by_either, within_ms, exactly=True)
        else:
            self.peer.wait(is_closed_by_either, within_ms, "the end of the connection")
        return self.closed_by_sut

    def await_close(self, within_ms: int | None = None) -> Self:
        """Wait as ``wait_closed`` does; return this conversation, so that a check can compare it with the expectation
        ``closed()``.
        """
        self.wait_closed(within_ms)
        return self

    def stays_quiet(self, for_ms: int | None = None, of: str | None = None) -> bool:
        """Wait for a silence window; return whether the SUT keeps the connection open and sends no packet. If
        ``of`` is given, packets of other kinds are ignored.
        """
        before = len(self.record.from_sut)

        def was_disturbed() -> bool:
            came = self.record.from_sut[before:]
            return self.record.closed_by is not None or any(of in (None, frame.kind) for frame in came)

        waited_ms = self.peer.sut.quiet_ms if for_ms is None else for_ms
        return not self.peer.environment.run_until(was_disturbed, waited_ms, exactly=for_ms is not None)

    def outcome(self) -> str:
        """Return a short description of the SUT's last action, for ``observed`` in a verdict."""
        if self.closed_by_sut:
            return f"closed the connection at {self.record.closed_at_ms} ms"
        last = self.record.from_sut[-1:]
        return f"kept the connection open{'; last sent ' + last[0].kind if last else '; sent nothing'}"

    # -- sent packets -------------------------------------------------------------------------------------------

    def send(self, packet: Any) -> Frame:
        """Send a scapy packet or bytes unchanged."""
        data = bytes(packet)
        frame = self.peer.recorder.record_sent(self.record, data)
        self.stream.send(data)
        return frame

    def send_together(self, *packets: Any) -> list[Frame]:
        """Send several packets in one call, so that they arrive together, if possible in one TCP segment."""
        pieces = [bytes(packet) for packet in packets]
        frames = [self.peer.recorder.record_sent(self.record, data) for data in pieces]
        self.stream.send(b"".join(pieces))
        return frames

    def build_session_ack(self, **header: Any) -> Any:
        """Build a SessionAck with the WindowSize that the peer sent in this session (MS-MQQB 3.1.6.4)."""
        named = [
            frame["ConnectionParametersHeader"].WindowSize
            for frame in self.sent
            if frame.kind == "ConnectionParameters"
        ]
        return session_ack(**({"WindowSize": named[-1]} if named else {}), **header)

    def acknowledge_all(self) -> Frame:
        """Acknowledge every message that the SUT sent on this connection (at most 32 recoverable messages). The SUT
        then does not send these messages again.
        """
        came, sent = (
            [bool(frame["UserHeader"].DM == 1) for frame in self._user_messages(frames)]
            for frames in (self.record.from_sut, self.sent)
        )
        return self.send(
            self.build_session_ack(
                AckSequenceNumber=len(came),
                RecoverableMsgAckSeqNumber=min(sum(came), 1),
                RecoverableMsgAckFlags=(1 << sum(came)) - 1 & ALL_ACK_FLAGS,
                UserMsgSequenceNumber=len(sent),
                RecoverableMsgSeqNumber=sum(sent),
            )
        )

    @staticmethod
    def _user_messages(frames: list[Frame]) -> list[Frame]:
        return [frame for frame in frames if frame.kind == USER_MESSAGE_KIND]

    def request_acknowledgment(self) -> Frame | None:
        """Send a recoverable message; return the SUT's SessionAck, or None if no SessionAck arrives. The SUT sends
        a SessionAck only on an open session.

        If no SessionAck acknowledges the message, return the last SessionAck, which acknowledges earlier messages.
        """
        sut = self.peer.sut
        self.send(self.peer.recoverable_message())
        sent = len(self._user_messages(self.sent))
        found = self.poll("SessionAck", within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS))
        while found is not None and found["SessionHeader"].AckSequenceNumber < sent:
            within_ms = sut.duration_ms(RECOVERABLE_ACK_MS) + sut.slack_ms(RECOVERABLE_ACK_MS)
            later = self.poll("SessionAck", within_ms=within_ms)
            if later is None:
                break
            found = later
        return found

    def await_session_ack(self, count: int) -> Frame | None:
        """Wait for a SessionAck that acknowledges at least ``count`` messages from the peer; return the last
        SessionAck received, or None if the SUT has sent no SessionAck.
        """
        sut = self.peer.sut
        within_ms = sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS)
        self.poll("SessionAck", lambda one: one["SessionHeader"].AckSequenceNumber >= count, within_ms=within_ms)
        acks = [frame for frame in self.received if frame.kind == "SessionAck"]
        return acks[-1] if acks else None

    def require_session_ack_for_message(self) -> Frame:
        """Send a message and return its SessionAck; raise ConformanceFailure if no SessionAck arrives."""
        answer = self.request_acknowledgment()
        if answer is None:
            raise ConformanceFailure("the SUT did not acknowledge a message on an open session")
        return answer

    def close(self) -> None:
        """Close the connection from the peer's side."""
        self.peer.recorder.record_connection_end(self.record, by_peer=True)
        self.stream.close()

    def end(self) -> None:
        """Close the connection unless it is already closed."""
        if self.record.closed_by is None:
            self.close()


class RawConversation(Conversation):
    """A conversation without a reference core. The peer sends only packets that the check builds."""

    def __init__(self, peer: CounterpartOfSut, *, by_peer: bool) -> None:
        super().__init__(peer)
        self.by_peer = by_peer
        self.is_open = False
        self.failed: str | None = None

    def on_connection_open(self) -> None:
        """Record the new connection."""
        self.is_open = True
        self.record = self.peer.recorder.record_opening(self.stream.local, self.stream.remote, by_peer=self.by_peer)

    def on_failed(self, error: str) -> None:
        """Record that the connection attempt failed."""
        self.failed = error

    def on_bytes(self, data: bytes) -> None:
        """Record bytes that arrived from the SUT."""
        self.peer.recorder.record_received(self.record, data)

    def on_closed(self, reason: str) -> None:
        """Record that the SUT closed the connection."""
        self.peer.recorder.record_connection_end(self.record, by_peer=False)

    def poll_packet(self, number: int) -> Frame | None:
        """Wait for the SUT's packet with the given number (counted from 0), of any kind; return None if the packet does
        not arrive.
        """
        self.peer.environment.run_until(
            lambda: len(self.received) > number or self.record.closed_by is not None, self.peer.sut.response_timeout_ms
        )
        return self.received[number] if len(self.received) > number else None

    def poll_next_packet(self) -> Frame | None:
        """Wait for the next packet, of any kind, after the packets received so far; return None if no packet
        arrives.
        """
        return self.poll_packet(len(self.received))


class Session(Conversation):
    """A protocol session in which a reference core acts as the peer.

    ``packet_changes``: the functions that change or drop packets of the core. ``ignore_incoming``: whether to hide the
    SUT's packets from the core, which then neither acknowledges them nor reacts to them.
    """

    def __init__(
        self, peer: CounterpartOfSut, host: CoreHost, stream: Stream, record: Connection, transport: str
    ) -> None:
        super().__init__(peer)
        self._host = host
        self.stream = stream
        self.record = record
        self.transport = transport
        self.packet_changes: list[ChangeSentPacket] = []
        self.ignore_incoming = False

    def change_sent_packets(self, change: ChangeSentPacket) -> Session:
        """Change every packet that the core sends from now on with the function ``change``."""
        self.packet_changes.append(change)
        return self

    def on_outgoing_packet(self, data: bytes) -> None:
        """Pass a packet of the core to every registered function that changes packets, and send the result."""
        packet: Any = data
        if self.packet_changes:
            packet = dissect(data)
            for change in self.packet_changes:
                packet = change(packet)
                if packet is None:
                    return
        self.send(packet)

    @property
    def state(self) -> dict[str, Any]:
        """The abstract data model of the peer for this session (MS-MQQB 3.1.1.3.1)."""
        answer = self._host.ask(Inspect())
        if isinstance(answer, str):
            raise HarnessError(f"the peer's core refused the inspection: {answer}")
        for session in answer.values["adm"]["Sessions"]:
            if session["transport"] == self.transport:
                return dict(session)
        raise HarnessError(f"the peer's core has no session on {self.transport}")

    def send_message(self, *, to: str | None = None, **fields: Any) -> list[Frame]:
        """Send a message through the core to the queue ``to``, by default the SUT's plain queue; return the packets
        that were sent.

        The fields of the message are those of ``reference_qm.surface.commands.SendMessage``.
        """
        before = len(self.sent)
        answer = self._host.ask(SendMessage(to=to or self.peer.sut.format_name("plain"), **fields))
        if isinstance(answer, str):
            raise HarnessError(f"the peer's core refused to send: {answer}")
        return self.sent[before:]
