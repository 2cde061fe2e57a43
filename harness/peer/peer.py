"""The SUT's counterpart (peer). A peer is either a reference core, whose packets an interceptor records and changes
with scapy, or a set of raw connections without a core.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Any
from uuid import uuid5

from harness.capture.recorder import Frame, Recorder
from harness.environment import Environment, Stream
from harness.environment.core_host import CoreHost
from harness.errors import ConformanceFailure, HarnessError, SutUnavailable
from harness.peer.afterwards import PEER_QUOTA_KB, accept_waiting_messages
from harness.peer.conversation import ChangeSentPacket, Conversation, RawConversation, Session
from harness.peer.handshake import build_parameters_request, establish_request, shake_hands
from harness.peer.inbox import InboxOfUserMessages
from harness.peer.party import NO_CHANGED_FIELDS, CounterpartIdentity, CounterpartOfSut
from harness.peer.raw_ends import PingPort, RawListener
from harness.sut.own_queues import MESSAGE_IDS_PER_TEST
from harness.sut.sut import Sut
from harness.varying.variant import VARIANT_WITHOUT_CHANGES, RowVariant
from reference_qm.codec import ConnectionParametersPacket, parse_packet
from reference_qm.config import QueueManagerConfig, QueueSettings, TimerSettings
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.commands import OpenSession
from reference_qm.surface.inputs import Endpoint, PingSocket

PEER_QUEUE = "private$\\mqc-peer"
UNUSED_ADDRESS = "127.255.255.253"
"""A loopback address that no peer uses."""


class Peer(CounterpartOfSut):
    """The counterpart of the SUT in one test. The recorder stores every packet that the peer sends or receives."""

    def __init__(
        self,
        environment: Environment,
        sut: Sut,
        recorder: Recorder,
        seed: str,
        variant: RowVariant = VARIANT_WITHOUT_CHANGES,
        identity: CounterpartIdentity | None = None,
    ) -> None:
        super().__init__(environment, sut, recorder, seed, variant, identity)
        self.first_core_id = self.message_ids[MESSAGE_IDS_PER_TEST // 2]
        """The MessageID of the first message of the peer's reference core."""
        self.sessions: dict[str, Session] = {}
        self.sessions_not_awaited_by_check: list[Session] = []
        self._packet_changes_of_next_session: list[ChangeSentPacket] = []
        self._packet_changes_of_accepted_sessions: list[ChangeSentPacket] = []
        self._host: CoreHost | None = None
        self._config = QueueManagerConfig(
            identifier=self.identifier,
            host_name=self.address,
            addresses=(self.address,),
            remote_tcp_port=sut.tcp_port,
            remote_ping_port=sut.ping_port,
            queues=(QueueSettings(PEER_QUEUE),),
            queue_manager_quota_kb=PEER_QUOTA_KB,
            timers=TimerSettings(scale=sut.scale),
            routes={sut.identifier: sut.address} if sut.identifier else {},
        )
        self._raw: list[RawConversation] = []
        self._listeners: list[RawListener] = []
        self._actions_at_end_of_test: list[Callable[[], None]] = []
        self._other_hosts: list[Peer] = []
        """The further counterparts in the same test, which have other addresses."""
        self.inbox = InboxOfUserMessages(
            self, lambda: self.open_conversations, self.listen_without_core, self.arrived_at_other_counterpart
        )
        self._ignore_when_open = False
        self.listens = False
        """Whether the peer has ever waited for connections from the SUT."""

    @property
    def open_conversations(self) -> list[Conversation]:
        """Every open connection with the SUT, opened by either side, with or without a core."""
        return [*self.sessions.values(), *(one for one in self._raw if one.is_open)]

    def hang_up(self) -> None:
        """Close every open connection with the SUT."""
        for conversation in self.open_conversations:
            conversation.end()

    # -- a second host ------------------------------------------------------------------------------------------

    def create_second_host(self, address: str) -> Peer:
        """Return a second counterpart of the SUT, with its own identifier, at another address of this machine.

        The second counterpart uses the recorder of this peer, and ends with this peer. The inbox of each counterpart
        contains only the messages that the SUT sent to that counterpart.
        """
        identity = CounterpartIdentity(uuid5(self.identifier, "second host"), address)
        second = Peer(
            self.environment, self.sut, self.recorder, f"second host {identity.identifier}", identity=identity
        )
        self._other_hosts.append(second)
        second._other_hosts.append(self)
        self.call_at_end_of_test(lambda: second._release_everything(lambda: None))
        return second

    def arrived_at_other_counterpart(self, frame: Frame) -> bool:
        """Return whether a packet arrived on a connection of another counterpart in the same test."""
        return frame.connection is not None and any(host.has_connection(frame) for host in self._other_hosts)

    def has_connection(self, frame: Frame) -> bool:
        """Return whether a packet arrived on a connection of this counterpart."""
        return any(one.record is frame.connection for one in [*self.sessions.values(), *self._raw])

    # -- raw mode -----------------------------------------------------------------------------------------------

    def connect(self, *, from_another_address: bool = False) -> RawConversation:
        """Connect to the SUT without a core.

        ``from_another_address``: whether to connect from an address other than the peer's, if this machine has
        several addresses (loopback).
        """
        loopback = ip_address(self.address).is_loopback
        address = UNUSED_ADDRESS if from_another_address and loopback else self.address
        conversation = RawConversation(self, by_peer=True)
        conversation.stream = self.environment.connect(self.sut.endpoint, address, conversation)
        self.environment.run_until(
            lambda: conversation.is_open or conversation.failed is not None, self.sut.timeouts.connect_ms
        )
        if not conversation.is_open:
            raise SutUnavailable(
                f"cannot connect to {self.sut.endpoint.host}:{self.sut.endpoint.port}: "
                f"{conversation.failed or 'no answer'}"
            )
        self._raw.append(conversation)
        return conversation

    def request_session(self, **header: Any) -> RawConversation:
        """Open a connection without a core, and send an EstablishConnection request, which brings the SUT's session
        into the state WAITING_CP_MSG. ``header``: fields of the EstablishConnection request.
        """
        connection = self.connect()
        connection.send(establish_request(self, **header))
        connection.expect("EstablishConnection")
        return connection

    def open_raw(self, asked: Mapping[str, Any] = NO_CHANGED_FIELDS, **header: Any) -> RawConversation:
        """Open a connection without a core, and set up a session on it (state OPEN).

        ``asked``: fields of the EstablishConnection request. ``header``: fields of the ConnectionParameters
        request.
        """
        return shake_hands(self.connect(), establish_request(self, **asked), build_parameters_request(**header))

    def register_conversation(self, conversation: RawConversation) -> None:
        """Register a conversation, so that it is closed at the end of the test."""
        self._raw.append(conversation)

    def call_at_end_of_test(self, close: Callable[[], None]) -> None:
        """Register a function that is called at the end of the test."""
        self._actions_at_end_of_test.append(close)

    def listen_without_core(self, *, ping: bool = True) -> RawListener:
        """Accept connections from the SUT without using a reference core. If ``ping`` is True, also answer pings from
        the SUT.
        """
        if ping:
            self.host.listen_ping(self.sut.file.driver.peer_ping_port)
        self.listens = True
        self._listeners.append(RawListener(self, self.register_conversation))
        return self._listeners[-1]

    def open_ping_port(self, port: int = 0) -> PingPort:
        """Open a UDP port for pings to and from the SUT."""
        end = PingPort(self, port)
        self.call_at_end_of_test(end.close)
        return end

    # -- with the reference core --------------------------------------------------------------------------------

    def configure(self, **changes: Any) -> None:
        """Change the peer's configuration. A change is possible only before the peer's core is used."""
        if self._host is not None:
            raise HarnessError("configure the peer before it opens or awaits a session")
        self._config = replace(self._config, **changes)

    @property
    def host(self) -> CoreHost:
        """The host of the peer's reference core, which starts when the host is first used."""
        if self._host is None:
            core = QueueManager(self._config, self.entropy)
            core.adm.MessageIdOrdinal = self.first_core_id - 1
            self._host = CoreHost(self.environment, core, self.address, _RecordingInterceptor(self))
            self._host.start()
        return self._host

    def open_session(self, tamper: ChangeSentPacket | None = None) -> Session:
        """Open a session to the SUT as the initiator (MS-MQQB 3.1.5.2); raise ConformanceFailure if the SUT refuses
        the session.
        """
        session, error = self.try_to_open_session(tamper)
        if session is None or error is not None:
            raise ConformanceFailure(f"no session with the SUT was established: {error}")
        return session

    def try_to_open_session(self, tamper: ChangeSentPacket | None = None) -> tuple[Session | None, str | None]:
        """Try to open a session; return the session (None if no connection was established), and the reason for the
        failure (None if the session is open).
        """
        self._packet_changes_of_next_session = [tamper] if tamper else []
        before = set(self.sessions)
        token = self.host.begin(OpenSession(self.sut.format_name("plain")))
        answered = self.environment.run_until(
            lambda: token in self.host.answers, self.sut.timeouts.connect_ms + self.sut.response_timeout_ms
        )
        self._packet_changes_of_next_session = []
        new = [session for name, session in self.sessions.items() if name not in before]
        for session in new:
            self.sessions_not_awaited_by_check.remove(session)
        answer = self.host.answers.pop(token) if answered else "not open in time"
        return (new[0] if new else None), (answer if isinstance(answer, str) else None)

    def listen(self, *, ping: bool = True, ignore_incoming: bool = False) -> None:
        """Let the peer's core accept sessions and pings from the SUT at peer_address.

        ``ignore_incoming``: whether to hide the SUT's packets from the core after the session is open.
        """
        self._ignore_when_open, self.listens = ignore_incoming, True
        driver = self.sut.file.driver
        self.host.listen(driver.peer_tcp_port)
        if ping:
            self.host.listen_ping(driver.peer_ping_port)

    def change_packets_of_accepted_sessions(self, change: ChangeSentPacket | None) -> None:
        """Change, with the function ``change``, every packet that the core sends from now on, on connections that
        the SUT opens. If ``change`` is None, the changes end.

        Call this method before the SUT connects: over loopback, the handshake may end before the next line runs.
        """
        self._packet_changes_of_accepted_sessions = [change] if change else []

    @property
    def has_unawaited_connection(self) -> bool:
        """Return whether the SUT has opened a connection to the peer's core without the check having waited for this
        connection.
        """
        return any(session.record.sut_role == "initiator" for session in self.sessions_not_awaited_by_check)

    def await_session(self, within_ms: int | None = None) -> Session | None:
        """Wait for the SUT to open a connection to the listening core. The timeout includes a second attempt of the
        SUT.
        """
        within_ms = self.sut.connect_timeout_ms if within_ms is None else within_ms
        self.wait(lambda: self.has_unawaited_connection, within_ms, "a connection")
        for session in self.sessions_not_awaited_by_check:
            if session.record.sut_role == "initiator":
                self.sessions_not_awaited_by_check.remove(session)
                return session
        return None

    def close(self) -> None:
        """Release every resource of the test and close every open connection, even if one of these steps fails."""
        with contextlib.ExitStack() as stack:
            stack.callback(self.recorder.close)
            stack.callback(self._release_everything, self.sut.restore_state)

    def create_successor(self, variant: RowVariant, seed: str) -> Peer:
        """End this peer; return a peer for the next row (set of parameter values) of a varied check. The new peer has
        the same identity, but new MessageIDs.
        """
        self._release_everything(self.sut.end_row)
        peer = Peer(self.environment, self.sut, self.recorder, seed, variant)
        peer.message_ids = range(self.sut.first_message_id, self.message_ids.stop)
        peer.first_core_id = self.first_core_id
        if self._host is not None:
            core = self._host.core
            assert isinstance(core, QueueManager)
            peer.first_core_id = core.adm.MessageIdOrdinal + 1
        return peer

    def _release_everything(self, tidy: Callable[[], None]) -> None:
        """Release the resources and close the connections of the test as ``close`` does, but keep the recorder open.
        ``tidy``: whether to restore the SUT's state.
        """
        with contextlib.ExitStack() as stack:
            stack.callback(accept_waiting_messages, self)
            if self._host is not None:
                stack.callback(self._host.stop)
            for listener in self._listeners:
                stack.callback(listener.close)
            for conversation in self._raw:
                stack.callback(conversation.end)
            for close in self._actions_at_end_of_test:
                stack.callback(self._release_resource, close)
            stack.callback(tidy)

    def _release_resource(self, close: Callable[[], None]) -> None:
        """Release one resource. If this fails, record the error as residue, which affects no rule of the check."""
        try:
            close()
        except (ConformanceFailure, SutUnavailable) as error:
            self.sut.residue.append(str(error))


class _RecordingInterceptor:
    """The interceptor between the peer's core and the network, which records, dissects and changes packets."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def on_opened(self, transport: str, stream: Stream, initiator: bool) -> None:
        record = self.peer.recorder.record_opening(stream.local, stream.remote, by_peer=initiator)
        session = Session(self.peer, self.peer.host, stream, record, transport)
        session.packet_changes += (
            self.peer._packet_changes_of_next_session if initiator else self.peer._packet_changes_of_accepted_sessions
        )
        self.peer.sessions[transport] = session
        self.peer.sessions_not_awaited_by_check.append(session)

    def on_outgoing_packet(self, transport: str, stream: Stream, packet: bytes) -> None:
        session = self.peer.sessions[transport]
        session.on_outgoing_packet(packet)
        if self.peer._ignore_when_open and session.record.sut_role == "initiator":
            session.ignore_incoming = isinstance(parse_packet(packet), ConnectionParametersPacket)

    def on_incoming_bytes(self, transport: str, data: bytes) -> bytes:
        session = self.peer.sessions[transport]
        self.peer.recorder.record_received(session.record, data)
        return b"" if session.ignore_incoming or self.peer.recorder.is_flooded else data

    def on_closed(self, transport: str, by_us: bool, reason: str) -> None:
        session = self.peer.sessions.get(transport)
        if session is not None:
            self.peer.recorder.record_connection_end(session.record, by_peer=by_us)

    def on_outgoing_ping(self, socket: PingSocket, local: Endpoint, remote: Endpoint, data: bytes) -> bytes | None:
        self.peer.recorder.record_datagram(local, remote, data, from_sut=False)
        return data

    def on_incoming_ping(self, socket: PingSocket, local: Endpoint, remote: Endpoint, data: bytes) -> bytes | None:
        if self.peer.recorder.is_flooded:
            return None
        self.peer.recorder.record_datagram(local, remote, data, from_sut=True)
        return data
