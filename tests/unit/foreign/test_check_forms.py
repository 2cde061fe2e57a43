"""A conversation has the same verdicts in every file format and link type, if the capture lacks no bytes."""

from __future__ import annotations

import pytest
import wrapped_captures as made

from harness.foreign.check import check_capture
from harness.foreign.systems import RequestedSystem
from harness.judging.captured import judge_capture
from harness.judging.verdicts import Verdict
from harness.rules.catalogue import load_catalogue

CATALOGUE = load_catalogue()


def verdicts(entries):
    """Return the standing verdict of each rule, with the deciding bytes but without the frames, whose numbers depend on
    the format.
    """
    return sorted(
        (one.rule, one.verdict, one.observed, tuple((each.first, each.last) for each in one.evidence))
        for one in entries
    )


def checked(path, **how):
    return check_capture(path, CATALOGUE, RequestedSystem.parse("10.0.0.2"), **how)


def entries_of(path, **how):
    (system,) = checked(path, **how).traffic.systems.system_by_name.values()
    return system.remove_and_return_verdicts()


def wrong_version(data):
    """Set a reserved bit of the BaseHeader in each packet that has the signature, so that a rule is broken."""
    return data[:2] + bytes([data[2] | 0x40]) + data[3:] if data[4:8] == b"LIOR" else data


@pytest.fixture(params=[bytes, wrong_version], ids=["sound", "broken"])
def own(request, tmp_path):
    """Return the packets of a capture in the harness's own format, and the verdicts of this capture."""
    path = tmp_path / "own.pcapng"
    packets = made.converse(path, change=request.param)
    return packets, verdicts(judge_capture(path, "own", CATALOGUE).entries)


@pytest.mark.parametrize("link", made.LINKS, ids=lambda link: link.__name__)
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_capture_in_any_link_type_and_byte_order_has_equal_verdicts(own, tmp_path, link, order):
    packets, wanted = own
    frames = made.framed(made.cut_segments(packets), link)
    assert len(frames) > len(packets)
    assert verdicts(entries_of(made.pcapng(tmp_path / "x.pcapng", frames, order))) == wanted
    assert verdicts(entries_of(made.pcap(tmp_path / "x.pcap", frames, order))) == wanted
    assert verdicts(entries_of(made.gzipped(made.pcap(tmp_path / "nano", frames, order, nano=True)))) == wanted


def test_judged_frames_keep_their_numbers_in_the_capture_file(tmp_path):
    packets = made.converse(tmp_path / "own.pcapng", change=wrong_version)
    cut = made.cut_segments(packets)
    entries = entries_of(made.pcap(tmp_path / "x.pcap", made.framed(cut)))
    broken = next(one for one in entries if one.rule == "MQMQ-2.2.19.1-10")
    first = 1 + next(
        at for at, packet in enumerate(cut) if packet[20:22] == (1801).to_bytes(2, "big") and len(packet) > 60
    )
    assert [each.frame for each in broken.evidence] == [first]


def test_ip_fragments_are_reassembled_in_any_order(own, tmp_path):
    packets, wanted = own
    fragments = [part for packet in packets for part in reversed(made.fragments_of(packet))]
    assert len(fragments) > len(packets)
    assert verdicts(entries_of(made.pcapng(tmp_path / "x.pcapng", made.framed(fragments)))) == wanted


def test_capture_file_may_have_frames_of_several_link_types(own, tmp_path):
    packets, wanted = own
    frames = [made.framed([packet], made.LINKS[number % len(made.LINKS)])[0] for number, packet in enumerate(packets)]
    assert verdicts(entries_of(made.pcapng(tmp_path / "x.pcapng", frames))) == wanted


def test_retransmitted_and_swapped_segments_count_once(own, tmp_path):
    packets, wanted = own
    cut = made.cut_segments(packets)
    shuffled = []
    for number, packet in enumerate(cut):
        shuffled.append(packet)
        if number % 5 == 4:
            shuffled[-2:] = [shuffled[-1], shuffled[-2], shuffled[-1]]
    assert verdicts(entries_of(made.pcap(tmp_path / "x.pcap", made.framed(shuffled)))) == wanted


def test_ipv6_capture_has_the_verdicts_of_the_ipv4_capture(tmp_path):
    wanted = verdicts(judge_capture(*_own(tmp_path), CATALOGUE).entries)
    packets = made.converse(tmp_path / "six.pcapng", made.SUT_6, made.PEER_6)
    hop_by_hop = bytes([0, 0, 1, 4, 0, 0, 0, 0])
    extended = [
        packet[:4]
        + (len(packet) - 32).to_bytes(2, "big")
        + b"\0"
        + packet[7:40]
        + packet[6:7]
        + hop_by_hop[1:]
        + packet[40:]
        for packet in packets
    ]
    for number, form in enumerate((packets, extended)):
        path = made.pcap(tmp_path / f"{number}.pcap", made.framed(form))
        systems = check_capture(path, CATALOGUE, RequestedSystem.parse("fd00::2")).traffic.systems.system_by_name
        assert verdicts(systems["fd00::2"].remove_and_return_verdicts()) == wanted


def _own(tmp_path):
    path = tmp_path / "four.pcapng"
    made.converse(path)
    return path, "own"


def test_both_ends_of_a_capture_are_judged_without_given_system(tmp_path):
    packets = made.converse(tmp_path / "own.pcapng")
    found = check_capture(made.pcap(tmp_path / "x.pcap", made.framed(packets)), CATALOGUE)
    systems = found.traffic.systems.system_by_name
    assert systems.keys() == {"10.0.0.1", "10.0.0.2"}
    assert systems["10.0.0.2"].roles == {"acceptor": 1}
    assert systems["10.0.0.1"].kinds == systems["10.0.0.2"].kinds
    assert not [
        one for system in systems.values() for one in system.remove_and_return_verdicts() if one.verdict is Verdict.FAIL
    ]


def test_packets_with_a_wrong_checksum_are_skipped_on_request(own, tmp_path):
    packets, wanted = own
    longest = max(packets, key=len)
    damaged = longest[:-1] + bytes([longest[-1] ^ 1])
    frames = [frame for each in packets for frame in made.framed([damaged, each] if each is longest else [each])]
    path = made.pcap(tmp_path / "x.pcap", frames)
    found = checked(path, checksums=True).traffic
    assert found.unread_frame_count_by_reason["packets with a wrong checksum"] == 1
    assert verdicts(entries_of(path, checksums=True)) == wanted
    assert not checked(path).traffic.unread_frame_count_by_reason
