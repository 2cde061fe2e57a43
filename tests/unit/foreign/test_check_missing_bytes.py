"""A capture that lacks bytes is judged as far as possible: the report names the missing bytes, and they never make a
rule fail.
"""

from __future__ import annotations

import itertools

import pytest
import wrapped_captures as made

from harness.foreign.check import check_capture
from harness.foreign.findings import build_findings
from harness.judging.verdicts import Verdict
from harness.rules.catalogue import load_catalogue

CATALOGUE = load_catalogue()
KEPT = (Verdict.PASS, Verdict.NOT_EXERCISED)


@pytest.fixture
def segments(tmp_path):
    """Return the segments of a correct session with messages of several segments in both directions."""
    return made.cut_segments(made.converse(tmp_path / "own.pcapng"))


def checked(tmp_path, frames):
    return check_capture(made.pcap(tmp_path / "x.pcap", frames), CATALOGUE)


def broken(found):
    """Return the rules that are broken, each with the system that breaks it."""
    return {
        (system.name, one.rule) for system in build_findings(found) for one in system.rules if one.verdict not in KEPT
    }


def states(found):
    return dict(found.traffic.totals.conversation_count_by_state)


def test_single_lost_frame_in_capture_fails_no_rule_and_is_named(segments, tmp_path):
    frames = made.framed(segments)
    for lost in range(2, len(frames)):
        found = checked(tmp_path, frames[:lost] + frames[lost + 1 :])
        assert broken(found) == set(), f"without frame {lost + 1}"
        data = segments[lost][40:]
        opening = lost < 5
        if data and not opening:
            (conversation,) = found.traffic.totals.listed_conversations
            assert conversation.state == "with gaps", f"without frame {lost + 1}"
            assert f"{len(data)} bytes from" in conversation.gaps[0]


@pytest.mark.parametrize("seed", range(20))
def test_several_lost_frames_in_capture_fail_no_rule(segments, tmp_path, seed):
    frames = [frame for number, frame in enumerate(made.framed(segments)) if (number * 7919 + seed * 104729) % 20 > 2]
    assert broken(checked(tmp_path, frames)) == set()


def test_packets_after_a_gap_are_judged(segments, tmp_path):
    frames = made.framed(segments)
    whole = checked(tmp_path, frames)
    lost = next(number for number, packet in enumerate(segments) if len(packet) > 1000)  # of the first message
    found = checked(tmp_path, frames[:lost] + frames[lost + 1 :])
    kinds = {name: system.kinds for name, system in found.traffic.systems.system_by_name.items()}
    wanted = {name: system.kinds.copy() for name, system in whole.traffic.systems.system_by_name.items()}
    wanted["10.0.0.1"]["UserMessage"] -= 1
    assert (kinds, found.traffic.totals.incomplete_packet_count) == (wanted, 1)


def test_rules_that_need_lost_bytes_are_counted_with_the_reason(segments, tmp_path):
    frames = made.framed(segments)
    lost = next(number for number, packet in enumerate(segments) if len(packet) > 1000)
    system = next(
        one for one in build_findings(checked(tmp_path, frames[:lost] + frames[lost + 1 :])) if one.name == "10.0.0.2"
    )
    (reason,) = system.unjudged_packet_count_by_reason
    assert reason == f"1448 bytes from 10.0.0.1 before frame {lost + 1} are missing in the capture"
    counts = next(one for one in system.rules if one.rule == "MQQB-3.1.6.4-06")
    assert (counts.verdict, counts.reason) == (Verdict.NOT_EXERCISED, reason)


@pytest.mark.parametrize("first", range(5, 30, 3))
def test_a_connection_without_its_beginning_is_judged_from_its_next_packet_on(segments, tmp_path, first):
    found = checked(tmp_path, made.framed(segments[first:]))
    assert broken(found) == set()
    assert states(found) == {"joined late": 1}
    assert all(system.kinds.total() for system in found.traffic.systems.system_by_name.values())


@pytest.mark.parametrize("length", [54, 66, 96, 128, 200, 1000])
def test_truncated_frames_in_capture_fail_no_rule(segments, tmp_path, length):
    frames = made.snapped(made.framed(segments), length)
    found = checked(tmp_path, frames)
    assert broken(found) == set()
    assert found.traffic.totals.incomplete_packet_count or states(found) == {"with gaps": 1}


def test_internal_packets_are_judged_between_cut_messages(segments, tmp_path):
    found = checked(tmp_path, made.snapped(made.framed(segments), 96))
    kinds = found.traffic.systems.system_by_name["10.0.0.2"].kinds
    assert (kinds["SessionAck"], kinds["ConnectionParameters"], kinds["UserMessage"]) == (1, 1, 0)


def test_a_hundred_simultaneous_conversations_in_capture_are_separated(tmp_path):
    each = []
    for number in range(100):
        peer = made.PEER._replace(host=f"10.0.1.{number + 1}", port=50_000 + number % 3)
        each.append(made.cut_segments(made.converse(tmp_path / "own.pcapng", peer=peer, body=500)))
    mixed = [packet for row in itertools.zip_longest(*each) for packet in row if packet is not None]
    found = checked(tmp_path, made.framed(mixed))
    assert states(found) == {"whole": 100}
    assert len(found.traffic.systems.system_by_name) == 101
    assert broken(found) == set()
    assert found.traffic.systems.system_by_name["10.0.0.2"].kinds["UserMessage"] == 500


def test_two_ports_of_one_computer_count_as_two_systems(tmp_path):
    here = made.converse(
        tmp_path / "own.pcapng", made.SUT._replace(host="127.0.0.1"), made.PEER._replace(host="127.0.0.1")
    )
    found = checked(tmp_path, made.framed(here))
    assert {name: dict(one.roles) for name, one in found.traffic.systems.system_by_name.items() if one.roles} == {
        "127.0.0.1:1801": {"acceptor": 1},
        "the client of 127.0.0.1:1801": {"initiator": 1},
    }
    assert broken(found) == set()
