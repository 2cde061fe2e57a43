"""The inbox of the peer receives every message of a SUT, on whichever connection the message arrives; the test
determines the packets of the SUT.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from harness_made import sut_file

from harness.capture.recorder import Frame, Recorder
from harness.environment import Stream, VirtualEnvironment
from harness.errors import HarnessError
from harness.peer.conversation import Conversation
from harness.peer.peer import Peer
from harness.sut.sut import Sut
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from reference_qm.surface.inputs import Endpoint

SUT_GUID = UUID("6d71636f-6e66-4f72-8d00-000000000042")
SUT_PORT = 1801
FIRST_ID = 1_000


class Wire:
    """The SUT's end of a connection."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def on_connection_open(self) -> None: ...

    def on_bytes(self, data: bytes) -> None: ...

    def on_closed(self, reason: str) -> None: ...

    def on_failed(self, error: str) -> None: ...

    def say(self, *packets: object) -> None:
        assert self.stream is not None
        self.stream.send(b"".join(bytes(packet) for packet in packets))  # type: ignore[call-overload]


class ScriptedSut:
    """A SUT that accepts connections, connects to the peer, and sends the packets that the test determines."""

    def __init__(self, peer: Peer) -> None:
        assert isinstance(peer.environment, VirtualEnvironment)
        self.environment = peer.environment
        self.peer = peer
        self.wires: list[Wire] = []
        self.environment.listen(Endpoint("127.0.0.1", SUT_PORT), self._accept)

    def _accept(self, stream: Stream) -> Wire:
        self.wires.append(Wire(stream))
        return self.wires[-1]

    def call(self, peer: Peer | None = None) -> Wire:
        """Connect to a peer, by default the first, and set up a session."""
        wire = Wire()
        port = self.peer.sut.file.driver.peer_tcp_port
        address = (peer or self.peer).address
        wire.stream = self.environment.connect(Endpoint(address, port), "127.0.0.1", wire)
        self.pass_time()
        wire.say(establish_connection(ClientGuid=SUT_GUID))
        self.pass_time()
        wire.say(connection_parameters(RecoverableAckTimeout=500, AckTimeout=20_000))
        self.pass_time()
        return wire

    def pass_time(self) -> None:
        self.environment.run_until(lambda: False, 50)


def message(number: int, *, recoverable: int = 0, correlation: bytes = bytes(20)) -> object:
    user = {"SourceQueueManager": SUT_GUID, "MessageID": number, "DM": recoverable}
    return user_message(destination="TCP:127.0.0.1\\private$\\q", user=user, CorrelationID=correlation)


def numbers(frames: list[Frame]) -> list[int]:
    return [int(frame["UserHeader"].MessageID) for frame in frames]


def acknowledgments(conversation: Conversation) -> list[tuple[int, int, int, int]]:
    """Return four numbers of each SessionAck that the peer sent: the acknowledged messages, the flags, and the counts
    of the peer's own messages and own recoverable messages.
    """
    headers = [frame["SessionHeader"] for frame in conversation.sent if frame.kind == "SessionAck"]
    return [
        (
            int(one.AckSequenceNumber),
            int(one.RecoverableMsgAckFlags),
            int(one.UserMsgSequenceNumber),
            int(one.RecoverableMsgSeqNumber),
        )
        for one in headers
    ]


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    environment = VirtualEnvironment()
    sut = Sut(
        sut_file(),
        environment,
        None,
        identifier=None,
        facilities=frozenset(),
        tcp_port=SUT_PORT,
        ping_port=3527,
        scale=1,
    )
    sut.first_message_id = FIRST_ID
    made = Peer(environment, sut, Recorder(environment, tmp_path / "c.pcapng"), seed="s")
    yield made
    made.close()


@pytest.fixture
def sut(peer: Peer) -> ScriptedSut:
    return ScriptedSut(peer)


def test_inbox_receives_messages_on_raw_sessions_of_either_side(peer: Peer, sut: ScriptedSut) -> None:
    peer.inbox.listen()
    own = peer.connect()
    sut.wires[0].say(message(1), session_ack(), message(2))
    sut.call().say(message(3))
    sut.pass_time()
    assert numbers(peer.inbox.messages) == [1, 2, 3]
    roles = [peer.inbox.conversation(frame).record.sut_role for frame in peer.inbox.messages]
    assert roles == ["acceptor", "acceptor", "initiator"]
    assert numbers(own.messages) == [1, 2]


def test_inbox_receives_messages_on_sessions_of_core(peer: Peer, sut: ScriptedSut) -> None:
    peer.listen(ignore_incoming=True)
    sut.call().say(message(1))
    sut.pass_time()
    assert numbers(peer.inbox.messages) == [1]
    session = peer.await_session(0)
    assert peer.inbox.conversation(peer.inbox.messages[0]) is session


def test_inbox_accepts_sessions_of_the_sut_during_any_wait_of_a_check(peer: Peer, sut: ScriptedSut) -> None:
    peer.inbox.listen()
    sut.call()
    assert [[frame.kind for frame in one.sent] for one in peer.inbox.accepted] == [
        ["EstablishConnection", "ConnectionParameters"]
    ]
    assert not peer.inbox.connections_without_session


def test_inbox_counts_copy_on_later_session_as_copy_of_one_message(peer: Peer, sut: ScriptedSut) -> None:
    for _ in range(2):
        peer.connect()
    sut.wires[0].say(message(1), message(2))
    sut.pass_time()
    sut.wires[1].say(message(2), message(3))
    sut.pass_time()
    assert numbers(peer.inbox.messages) == [1, 2, 3]
    assert numbers(peer.inbox.copies) == [1, 2, 2, 3]


def test_inbox_lists_repeated_message_once_with_two_copies(peer: Peer, sut: ScriptedSut) -> None:
    peer.connect()
    sut.wires[0].say(message(1), message(1))
    sut.pass_time()
    assert numbers(peer.inbox.messages) == [1]
    assert numbers(peer.inbox.copies) == [1, 1]


def test_inbox_lists_different_messages_of_one_identifier_separately(peer: Peer, sut: ScriptedSut) -> None:
    peer.connect()
    answered = (peer.identifier.bytes_le + number.to_bytes(4, "little") for number in peer.message_ids[:2])
    sut.wires[0].say(*(message(1, correlation=each) for each in answered))
    sut.pass_time()
    assert numbers(peer.inbox.messages) == [1, 1]


def test_inbox_omits_messages_caused_by_earlier_tests(peer: Peer, sut: ScriptedSut) -> None:
    peer.sut.peer_returns = True
    connection = peer.connect()
    earlier, own = (
        peer.identifier.bytes_le + number.to_bytes(4, "little") for number in (FIRST_ID - 1, peer.message_ids[0])
    )
    sut.wires[0].say(message(1, correlation=earlier), message(2, correlation=own))
    sut.pass_time()
    assert numbers(peer.inbox.messages) == numbers(connection.messages) == [2]


def test_inbox_lists_a_malformed_packet_in_place_of_a_message(peer: Peer, sut: ScriptedSut) -> None:
    peer.connect()
    broken = bytes(message(1))[:8] + (20).to_bytes(4, "little") + bytes(8)  # type: ignore[call-overload]
    sut.wires[0].say(message(1), session_ack(), broken)
    sut.pass_time()
    assert [frame.kind for frame in peer.inbox.packets_with_possibly_malformed_messages] == ["UserMessage", "malformed"]
    assert numbers(peer.inbox.messages) == [1]


def test_wait_of_inbox_ends_when_its_messages_have_arrived(peer: Peer, sut: ScriptedSut) -> None:
    peer.connect()
    sut.environment.call_later(300, lambda: sut.wires[0].say(message(1), message(2), message(3)))
    began_ms = sut.environment.now().monotonic_ms
    found = peer.inbox.wait(lambda frame: frame["UserHeader"].MessageID > 1, 2)
    assert numbers(found) == [2, 3]
    assert sut.environment.now().monotonic_ms < began_ms + 400
    assert not peer.inbox.wait(lambda frame: frame["UserHeader"].MessageID == 4, within_ms=100)


def test_inbox_acknowledges_message_on_its_session(peer: Peer, sut: ScriptedSut) -> None:
    peer.inbox.listen()
    first, second = peer.connect(), peer.connect()
    second.send(message(7, recoverable=1))
    sut.wires[1].say(message(1), message(2, recoverable=1))
    sut.call().say(message(3, recoverable=1))
    sut.pass_time()
    peer.inbox.acknowledge()
    assert acknowledgments(first) == []
    assert acknowledgments(second) == [(2, 1, 1, 1)]
    assert acknowledgments(peer.inbox.accepted[0]) == [(1, 1, 0, 0)]


def test_inbox_repeats_acknowledgment_only_with_new_messages(peer: Peer, sut: ScriptedSut) -> None:
    connection = peer.connect()
    for number in (1, 2):
        sut.wires[0].say(message(number))
        sut.pass_time()
        peer.inbox.acknowledge()
        peer.inbox.acknowledge()
    assert acknowledgments(connection) == [(1, 0, 0, 0), (2, 0, 0, 0)]


def test_inbox_can_leave_session_unacknowledged(peer: Peer, sut: ScriptedSut) -> None:
    connections = peer.connect(), peer.connect()
    for wire in sut.wires:
        wire.say(message(1))
    sut.pass_time()
    peer.inbox.acknowledge(spare=connections[0])
    assert [acknowledgments(one) for one in connections] == [[], [(1, 0, 0, 0)]]


def test_inbox_leaves_acknowledgments_to_a_listening_peer_core(peer: Peer, sut: ScriptedSut) -> None:
    peer.listen()
    sut.call().say(message(1))
    sut.pass_time()
    session = peer.await_session(0)
    assert session is not None
    peer.inbox.acknowledge()
    assert acknowledgments(session) == []


def test_inbox_acknowledges_no_message_of_an_ended_session(peer: Peer, sut: ScriptedSut) -> None:
    connection = peer.connect()
    sut.wires[0].say(message(1))
    sut.pass_time()
    connection.close()
    peer.inbox.acknowledge()
    assert not peer.inbox.is_open(peer.inbox.messages[0])
    assert acknowledgments(connection) == []


def test_packet_outside_of_a_connection_has_no_conversation(peer: Peer) -> None:
    frame = peer.recorder.record_datagram(Endpoint("127.0.0.1", 1), Endpoint("127.0.0.1", 2), b"?", from_sut=True)
    with pytest.raises(HarnessError, match=r"arrived on no connection of the peer"):
        peer.inbox.conversation(frame)


def test_inboxes_of_two_hosts_contain_only_the_messages_to_their_own_host(peer: Peer, sut: ScriptedSut) -> None:
    second = peer.create_second_host("127.128.0.2")
    for host in (peer, second):
        host.inbox.listen()
    to_first, to_second = sut.call(peer), sut.call(second)
    to_first.say(message(1), message(3))
    to_second.say(message(2))
    sut.pass_time()
    assert (numbers(peer.inbox.messages), numbers(second.inbox.messages)) == ([1, 3], [2])
    assert second.identifier != peer.identifier
    second.inbox.acknowledge()
    assert acknowledgments(second.inbox.accepted[0]) == [(1, 0, 0, 0)]
    assert acknowledgments(peer.inbox.accepted[0]) == []


def test_second_host_ends_with_the_peer(peer: Peer, sut: ScriptedSut) -> None:
    second = peer.create_second_host("127.128.0.2")
    second.inbox.listen()
    sut.call(second)
    peer.close()
    assert [one.record.closed_by for one in second.inbox.accepted] == ["peer"]
