"""The buffers for incomplete packets are limited: by the longest packet that the state of a session permits, and by one
limit for all connections.
"""

from __future__ import annotations

import pytest
from core_network import Network
from core_raw import Raw, establish, parameters, user_message

from reference_qm.codec import BaseHeader
from reference_qm.core.transfer.identifying import (
    CONNECTION_PARAMETERS_SIZE,
    ESTABLISH_CONNECTION_SIZE,
    MAX_PACKET_BYTES_BY_STATE,
)
from reference_qm.model.states import SessionState
from reference_qm.model.unfinished import UnfinishedPacketByteCounts
from reference_qm.surface.inputs import Endpoint, RpcAccepted, RpcBytesReceived, RpcConnectionLost

LONG = BaseHeader(PacketSize=4 * 1024 * 1024 - 1).build() + bytes(84)
"""The beginning of a message with a PacketSize of 4 MiB - 1."""
FRAGMENT = bytes.fromhex("0500 00 01 10000000 0002 0000 01000000") + bytes(100)
"""The beginning of a PDU with a length of 512 bytes."""


def test_packet_size_limits_of_session_states_equal_sizes_of_built_packets() -> None:
    assert len(establish().build()) == ESTABLISH_CONNECTION_SIZE
    assert len(parameters().build()) == CONNECTION_PARAMETERS_SIZE


@pytest.mark.parametrize("opened", [False, True], ids=["WAITING_EC_MSG", "WAITING_CP_MSG"])
def test_a_message_before_the_session_is_open_is_refused_with_its_first_bytes(opened: bool) -> None:
    raw = Raw.initiator(Network().host(1))
    if opened:
        raw.feed(establish())
    raw.feed(LONG)
    assert raw.closed is not None
    state = SessionState.WAITING_CP_MSG if opened else SessionState.WAITING_EC_MSG
    assert f"which allows {MAX_PACKET_BYTES_BY_STATE[state]} bytes" in raw.closed
    assert raw.host.core.unfinished.total == 0


def test_handshake_packets_of_the_right_size_are_accepted_byte_by_byte() -> None:
    raw = Raw.initiator(Network().host(1))
    for byte in establish().build() + parameters().build() + user_message(1).build():
        raw.feed(bytes([byte]))
    assert raw.closed is None
    assert raw.session["SessionState"] == "OPEN"
    assert raw.host.core.unfinished.total == 0


def test_longest_idle_connection_with_unfinished_message_is_closed() -> None:
    host = Network().host(1)
    host.core.unfinished.limit = 350
    first, second, third = (Raw.open(host) for _ in range(3))
    for raw in (first, second):
        raw.feed(LONG)
    first.feed(bytes(50))
    assert host.core.unfinished.total == 250
    third.feed(LONG + bytes(10))
    assert second.closed is not None
    assert "all connections together hold more than 350 bytes" in second.closed
    assert (first.closed, third.closed) == (None, None)
    assert host.core.unfinished.total == 260


def test_unfinished_rpc_requests_count_to_the_limit_until_connection_is_lost() -> None:
    host = Network().host(1)
    core = host.core
    core.unfinished.limit = 250
    session = Raw.open(host)
    session.feed(LONG)
    for name in ("rpc-1", "rpc-2"):
        host.handle(RpcAccepted(name, Endpoint("127.0.0.9", 5000), Endpoint("127.0.0.1", 2103)))
        host.handle(RpcBytesReceived(name, FRAGMENT))
    assert session.closed is not None
    assert core.unfinished.total == 2 * len(FRAGMENT)
    host.handle(RpcAccepted("rpc-3", Endpoint("127.0.0.9", 5000), Endpoint("127.0.0.1", 2103)))
    host.handle(RpcBytesReceived("rpc-3", FRAGMENT))
    assert len(core.remote.associations) == 2
    assert core.unfinished.total == 2 * len(FRAGMENT)
    host.handle(RpcConnectionLost("rpc-2", "gone"))
    assert core.unfinished.total == len(FRAGMENT)


def test_lost_connection_releases_its_unfinished_bytes() -> None:
    host = Network().host(1)
    raw = Raw.open(host)
    raw.feed(LONG)
    assert host.core.unfinished.total == len(LONG)
    raw.lose()
    assert host.core.unfinished.total == 0


def test_connection_with_oldest_unfinished_packet_is_closed_first() -> None:
    unfinished = UnfinishedPacketByteCounts(limit=10)
    unfinished.note("a", 6)
    unfinished.note("b", 4)
    assert unfinished.find_connection_to_close() is None
    unfinished.note("a", 7)
    assert unfinished.find_connection_to_close() == "b"
    unfinished.note("b", 0)
    assert (unfinished.find_connection_to_close(), unfinished.total) == (None, 7)
