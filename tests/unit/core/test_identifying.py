"""MS-MQQB 3.1.5.1, 3.1.5.1.1, 3.1.5.1.2, 3.1.5.1.3: how any received bytes are processed.

One table has the packets that are accepted in each state.
"""

import pytest
from core_network import Network, guid
from core_ordering import in_sequence
from core_raw import RAW, Raw, establish, internal, parameters, session_ack, user_message

from reference_qm.codec import InternalHeader, SessionHeader, UnknownInternalPacket, UserHeader, parse_packet
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.transfer.identifying import (
    FIELD_RANGES_BY_PACKET_TYPE,
    RECEIVER_BY_STATE_AND_PACKET,
    Identifying,
)
from reference_qm.model.states import SessionState

PACKETS = {
    "EstablishConnection": establish(ServerGuid=RAW, ClientGuid=guid(1)),
    "ConnectionParameters": parameters(),
    "SessionAck": session_ack(),
    "UserMessage": user_message(1),
    "unknown internal": UnknownInternalPacket(internal(2)[0], InternalHeader(Flags=7)),
}
STATES = [state for state in SessionState if state not in (SessionState.CLOSED, SessionState.WAITING_RECONNECT)]
"""The states in which a connection exists, so that packets can arrive."""

TAKEN = {
    ("WAITING_EC_MSG", "EstablishConnection"): None,
    ("WAITING_ECR_MSG", "EstablishConnection"): "WAITING_CPR_MSG",
    ("WAITING_CP_MSG", "ConnectionParameters"): "OPEN",
    ("WAITING_CPR_MSG", "ConnectionParameters"): "OPEN",
    ("OPEN", "SessionAck"): "OPEN",
    ("OPEN", "UserMessage"): "OPEN",
}
"""The next state for each accepted packet in each state, by 3.1.5.3, 3.1.5.4, 3.1.5.5 and 3.1.5.8. None: the session
closes, because the request names another server.
"""


def in_state(state):
    """Return a connection of a host whose session is in the given state."""
    host = Network().host(1)
    if state in (SessionState.WAITING_ECR_MSG, SessionState.WAITING_CPR_MSG):
        raw = Raw.acceptor(host)
        if state is SessionState.WAITING_CPR_MSG:
            raw.feed(PACKETS["EstablishConnection"])
    else:
        raw = Raw.initiator(host)
        if state is not SessionState.WAITING_EC_MSG:
            raw.feed(establish())
        if state is SessionState.OPEN:
            raw.feed(parameters())
    assert raw.session["SessionState"] == state.value
    return raw


@pytest.mark.parametrize("kind", PACKETS)
@pytest.mark.parametrize("state", STATES)
def test_every_session_state_and_packet_kind_has_one_outcome(state, kind):
    raw = in_state(state)
    packet = PACKETS[kind]
    if state is SessionState.WAITING_EC_MSG and kind == "EstablishConnection":
        packet = establish()
        after = "WAITING_CP_MSG"
    else:
        after = TAKEN.get((state.value, kind), "CLOSED")
    before = len(raw.sent)
    raw.feed(packet)
    assert raw.session["SessionState"] == after
    assert (raw.closed is not None) == (after == "CLOSED")
    if after == "CLOSED":
        assert len(raw.sent) == before, "a refused packet is not answered"
        assert set(raw.session["timers"].values()) == {None}


def test_dispatch_table_names_methods_and_packets_have_ranges():
    core = Network().host(1).core
    assert all(
        isinstance(receiver(core).__self__, QueueManagerPart) for receiver in RECEIVER_BY_STATE_AND_PACKET.values()
    )
    assert {kind for _, kind in RECEIVER_BY_STATE_AND_PACKET} < set(FIELD_RANGES_BY_PACKET_TYPE)
    assert len(RECEIVER_BY_STATE_AND_PACKET) == len(TAKEN)


WRONG_FORMS = {
    "version": b"\x11" + session_ack().build()[1:],
    "signature": session_ack().build()[:4] + b"ROIL" + session_ack().build()[8:],
    "size": session_ack().build()[:8] + b"\xff\xff\xff\x7f" + session_ack().build()[12:],
    "SessionAck with CS": session_ack().build()[:18] + b"\x11\x00" + session_ack().build()[20:],
    "SessionAck without SH": b"\x10\x00\x0b\x00" + session_ack().build()[4:],
    "SessionAck without window": session_ack(WindowSize=0).build(),
    "delivery mode": user_message(1, Flags=UserHeader.flags(DM=2, DQ=7, MP=1)).build(),
    "UserMessage with a window of 0": user_message(1, session=SessionHeader()).build(),
    "transactional and express": user_message(1, transactional=True)
    .build()
    .replace(
        UserHeader.flags(DM=1, DQ=7, MP=1, TH=1).to_bytes(4, "little"),
        UserHeader.flags(DM=0, DQ=7, MP=1, TH=1).to_bytes(4, "little"),
    ),
    "number 0 in its sequence": in_sequence(0, 0).build(),
}


@pytest.mark.parametrize("name", WRONG_FORMS)
def test_a_malformed_packet_is_discarded_and_closes_the_session(name):
    raw = in_state(SessionState.OPEN)
    raw.feed(WRONG_FORMS[name])
    section = "3.1.5.1.2" if name in ("version", "signature") else "3.1.5.1.3"
    assert raw.closed is not None
    assert section in raw.closed
    assert "\n" not in raw.closed
    assert raw.session["MessageReceivedCount"] == 0
    assert raw.host.bodies() == []


def test_packets_received_together_are_handled_in_order():
    raw = in_state(SessionState.WAITING_EC_MSG)
    raw.feed(establish(), parameters(), user_message(1, body=b"one"), user_message(2, body=b"two"))
    assert raw.host.bodies() == ["one", "two"]


def test_packets_after_closing_packet_are_not_identified():
    raw = in_state(SessionState.OPEN)
    identified = []

    class Noting(Identifying):
        def identify_packet(self, data):
            identified.append(super().identify_packet(data))
            return identified[-1]

    replace_part_by_subclass(raw.host.core, Noting)
    raw.feed(establish(), user_message(1), user_message(2))
    assert identified == [parse_packet(establish().build())]
