"""MS-MQQB 2.2.7 Ping Packet, as the acceptor sends and takes it."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import fields, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs, sut_survives
from harness.wire import ping_request
from suites.mqqb.steps.pinging import (
    answered,
    answers,
    ask,
    read,
    response,
    seen,
    session_outcome,
)

UNUSED_BITS = {
    2: "MQQB-2.2.7-06",
    3: "MQQB-2.2.7-07",
    4: "MQQB-2.2.7-08",
    5: "MQQB-2.2.7-09",
    6: "MQQB-2.2.7-10",
    7: "MQQB-2.2.7-11",
    8: "MQQB-2.2.7-12",
    9: "MQQB-2.2.7-13",
    10: "MQQB-2.2.7-14",
    11: "MQQB-2.2.7-15",
    12: "MQQB-2.2.7-16",
    13: "MQQB-2.2.7-17",
    14: "MQQB-2.2.7-18",
    15: "MQQB-2.2.7-19",
}
"""Rules, by unused bit of Flags."""
CLIENT = "6d71636f-6e66-4f72-8d01-{:012x}"
MORE_THAN_A_CLIENT_TAKES = 12
"""Sessions of different initiators; Windows client releases accept ten (notes <12>, <70>)."""


KNOWN = ("RC", "RF", "Signature", "Cookie", "QMGuid")
"""All fields of a response that are not free to differ."""


@sut_survives()
@needs("ping")
@covers("MQQB-2.2.7-01", *UNUSED_BITS.values())
def test_unused_flags_of_a_request_make_no_difference(peer, judge):
    """A Ping Request with one unused bit set, or with all, is answered like one without them."""
    expected = seen(answered(peer), *KNOWN)
    for bit, rule in UNUSED_BITS.items():
        sent, got = ask(peer, Flags=1 << bit)
        judge(rule, expected=expected, observed=seen(got, *KNOWN), evidence=[sent, got])
    sent, got = ask(peer, Flags=sum(1 << bit for bit in UNUSED_BITS))
    judge("MQQB-2.2.7-01", expected=expected, observed=seen(got, *KNOWN), evidence=[sent, got])


@needs("ping")
@covers("MQQB-2.2.7-04", "MQQB-3.1.7.7-05")
def test_response_foretells_what_happens_to_a_session(peer, judge):
    """RF is clear before a session that is accepted and set before one that is refused, while sessions add up."""
    for number in range(MORE_THAN_A_CLIENT_TAKES):
        client = UUID(CLIENT.format(number))
        sent, got = ask(peer, QMGuid=client)
        outcome, connection = session_outcome(peer, client)
        ping = read(got)
        foretold = seen(got) if ping is None else ("refused" if ping.RF else "accepted")
        evidence = [sent, got, *connection.received[:1]]
        judge.all(expected=outcome, observed=foretold, case=f"session {number + 1}", evidence=evidence)
        if outcome != "accepted":
            return


@needs("ping", "configure")
@covers("MQQB-2.2.7-04", "MQQB-3.1.7.7-05")
def test_what_is_foretold_changes_when_there_is_room_again(peer, sut, judge):
    """While no session more is accepted RF is set; once one is, RF is clear."""
    usual = sut.control.call("configure").get("max_sessions")
    if usual is None:
        judge.give_up(Verdict.NOT_EXERCISED, "it cannot be told how many sessions it accepts")
        return
    opened = [session_outcome(peer, peer.identifier)[1]]
    for limit in (1, usual):
        sut.configure(max_sessions=limit)
        sent, got = ask(peer)
        outcome, connection = session_outcome(peer, peer.identifier)
        opened.append(connection)
        ping = read(got)
        foretold = seen(got) if ping is None else ("refused" if ping.RF else "accepted")
        judge.all(expected=outcome, observed=foretold, case=f"at {limit}", evidence=[sent, got])


@needs("ping")
@covers("MQQB-3.1.7.7-01")
def test_the_same_request_is_answered_again(peer, judge):
    """A Ping Request that comes four times from one port is answered each time; on a network two may be lost."""
    end = peer.udp()
    packet = ping_request(QMGuid=peer.identifier, Cookie=0x1234)
    frames = []
    for _ in range(4):
        sent = end.send(packet)
        frames += [sent, response(end, sent)]
    came = sum(answers(got, sent) for sent, got in batched(frames))
    judge(
        "MQQB-3.1.7.7-01",
        expected=holds("2 answers or more", otherwise=f"{came} answers"),
        observed=came >= 2,
        evidence=frames,
    )


def batched(frames):
    """Return requests with what came back, pair by pair."""
    return list(zip(frames[::2], frames[1::2], strict=True))


@needs("ping")
@covers("MQQB-2.2.7-21", "MQQB-3.1.7.7-03")
@pytest.mark.parametrize("signature", [0x0000, 0x5549, 0x4855, 0xFFFF])
def test_request_with_another_signature_is_not_answered(peer, judge, signature):
    """A request that differs from an answered one in its Signature alone gets nothing; the next right one does."""
    answered(peer)
    end = peer.udp()
    request = {"QMGuid": peer.identifier, "Cookie": 0x1234}
    wrong = end.send(ping_request(**request, Signature=signature))
    ignored = end.quiet()
    right = end.send(ping_request(**request))
    got = end.poll()
    observed = {"ignored": ignored, "right one answered": got is not None}
    expected = fields({"ignored": True, "right one answered": True})
    judge.all(expected=expected, observed=observed, evidence=[wrong, right, got])


@needs("ping")
@covers("MQQB-2.2.7-D01")
@pytest.mark.parametrize("RC", [0, 1])
def test_a_response_has_its_fields_in_their_places(peer, sut, judge, RC):
    """A response to a request whose fields all differ, byte by byte; RF may be set or not."""
    sent, got = ask(peer, RC=RC, Cookie=0x8765_4321)
    observed = "nothing" if got is None else bytes([got.data[0] & ~2]) + got.data[1:]
    expected = bytes([RC, 0]) + b"HU" + bytes.fromhex("21436587") + sut.guid.bytes_le
    judge("MQQB-2.2.7-D01", expected=expected, observed=observed, evidence=[sent, got])
