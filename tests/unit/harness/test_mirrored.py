"""The predicates also judge the packets of the peer, so that the rules which these packets break are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.judging.mirrored import PeerPacketJudge
from harness.judging.passive import load_predicates
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from reference_qm.surface.inputs import Endpoint

SUT, PEER = Endpoint("127.0.0.2", 1801), Endpoint("127.0.0.1", 50_000)
WINDOW_OF_THE_SENDER, SIZES_OF_SECURITY, VERSION = "MQQB-3.1.6.4-09", "MQMQ-2.2.20.6-19", "MQMQ-2.2.19.1-01"


@pytest.fixture
def mirror() -> PeerPacketJudge:
    load_predicates()
    return PeerPacketJudge()


@pytest.fixture
def recorder(mirror: PeerPacketJudge) -> Recorder:
    made = Recorder(VirtualEnvironment(), None)
    made.listeners.append(mirror.on_frame)
    return made


def test_rule_violation_by_the_peer_is_found(mirror: PeerPacketJudge, recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    recorder.record_sent(connection, bytes(user_message(security={"ST": 0, "DE": 1})))
    assert mirror.take() == {
        SIZES_OF_SECURITY: "sizes: SecurityID 0, EncryptionKey 0, Signature 0, SenderCert 0, ProviderInfo 0 (frame 1)"
    }
    assert mirror.take() == {}


def test_packets_of_the_sut_break_no_rule_of_the_peer(mirror: PeerPacketJudge, recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    recorder.record_received(connection, bytes(user_message(security={"ST": 0, "DE": 1})))
    assert mirror.take() == {}


@pytest.mark.parametrize(("window", "broken"), [(7, set()), (64, {WINDOW_OF_THE_SENDER})])
def test_packet_of_the_peer_is_judged_with_its_earlier_packets(
    mirror: PeerPacketJudge, recorder: Recorder, window: int, broken: set[str]
) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    recorder.record_sent(connection, bytes(establish_connection()))
    recorder.record_received(connection, bytes(establish_connection()))
    recorder.record_sent(connection, bytes(connection_parameters(WindowSize=7)))
    recorder.record_received(connection, bytes(connection_parameters(WindowSize=99)))
    recorder.record_sent(connection, bytes(session_ack(WindowSize=window)))
    assert mirror.take().keys() & {WINDOW_OF_THE_SENDER} == broken


@pytest.mark.parametrize("cut", [5, 20, 100])
def test_packet_sent_in_pieces_by_the_peer_counts_as_one(mirror: PeerPacketJudge, recorder: Recorder, cut: int) -> None:
    whole = bytes(user_message(body=bytes(200)))
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    for piece in (whole[:cut], whole[cut : cut + 30], whole[cut + 30 :], whole):
        recorder.record_sent(connection, piece)
    assert mirror.take() == {}


def test_bytes_of_the_peer_that_start_no_packet_break_a_rule(mirror: PeerPacketJudge, recorder: Recorder) -> None:
    connection = recorder.record_opening(PEER, SUT, by_peer=True)
    recorder.record_sent(connection, b"\x11" + bytes(session_ack())[1:])
    assert VERSION in mirror.take()


@pytest.mark.parametrize("make", [user_message, session_ack, establish_connection, connection_parameters])
def test_conforming_packet_of_the_peer_gives_no_finding(
    mirror: PeerPacketJudge, recorder: Recorder, make: Callable[[], object]
) -> None:
    recorder.record_sent(recorder.record_opening(PEER, SUT, by_peer=True), bytes(make()))  # type: ignore[call-overload]
    assert mirror.take() == {}
