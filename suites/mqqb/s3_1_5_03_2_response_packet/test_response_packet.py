"""MS-MQQB 3.1.5.3.2 Response Packet: an initiator's answer to an EstablishConnection response."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import between, closed_unanswered, packet
from harness.peer.handshake import NULL_GUID
from harness.peer.inbox import agreement, response
from harness.peer.peer import Peer
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    accepted,
    called,
    exclude_echo,
    listen,
    private_name,
    read_internal_bits,
    respond,
)

SHORTEST_MS, LONGEST_MS = 0x000001F4, 0x0001D4C0
TRIPS = 8
DELAY_MS = 600
"""A real delay of the response: the clock of TimeStamp is no protocol timer, so set_timers does not speed it up."""
CLOCK_MS = 50
"""How coarse the SUT's clock may be, and the network."""


@covers(
    "MQQB-3.1.5.3.2-D01",
    "MQQB-3.1.5.3.2-D02",
    "MQQB-3.1.5.2.3-13",
    "MQQB-3.1.5.3.2-07",
    "MQQB-3.1.5.3.2-08",
    "MQQB-3.1.5.3.2-09",
    "MQQB-3.1.5.3.2-13",
    "MQQB-3.1.5.3.2-14",
)
def test_a_valid_response_is_answered_by_parameters(peer, sut, judge):
    """A valid response is answered by ConnectionParameters, and those of the acceptor open the session."""
    connection, asked = called(peer, sut)
    sent = connection.send(response(peer, asked))
    came = connection.poll_next_packet()
    answer = exclude_echo(sent, came)
    bits = read_internal_bits(answer)
    evidence = [asked, sent, came]
    judge(
        "MQQB-3.1.5.3.2-07", "MQQB-3.1.5.3.2-D02", expected=packet(), observed=answer or connection, evidence=evidence
    )
    judge.conclude("MQQB-3.1.5.3.2-07", "MQQB-3.1.5.3.2-D02")
    if answer is None:
        raise ConformanceFailure("the SUT sent nothing after a valid response")
    judge("MQQB-3.1.5.3.2-08", expected=1, observed=bits["IN"], evidence=evidence)
    judge("MQQB-3.1.5.3.2-09", expected=3, observed=bits["PT"], evidence=evidence)
    judge.conclude("MQQB-3.1.5.3.2-08", "MQQB-3.1.5.3.2-09")
    if answer.kind not in ("ConnectionParameters", "EstablishConnection"):
        raise ConformanceFailure(f"the SUT's answer to a response is {answer.kind}")
    judge(
        "MQQB-3.1.5.2.3-13",
        "MQQB-3.1.5.3.2-D01",
        expected=packet("ConnectionParameters"),
        observed=answer,
        evidence=evidence,
    )
    judge.conclude("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-D01")
    if answer.kind != "ConnectionParameters":
        raise ConformanceFailure("the SUT sent no ConnectionParameters to go on from")
    agreed = connection.send(agreement(answer))
    message = connection.poll("UserMessage")
    judge("MQQB-3.1.5.3.2-14", expected=packet("UserMessage"), observed=message, evidence=[agreed, message])
    judge.conclude("MQQB-3.1.5.3.2-14")
    acknowledged = connection.acknowledgment()
    if acknowledged is None:
        raise ConformanceFailure("the SUT acknowledged no message, which would have shown its WindowSize")
    judge(
        "MQQB-3.1.5.3.2-13",
        expected=acknowledged["SessionHeader"].WindowSize,
        observed=answer["ConnectionParametersHeader"].WindowSize,
        evidence=[answer, acknowledged],
    )


@malforms("MQQB-3.1.5.3.1-08")
@sut_survives()
@covers("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02")
@pytest.mark.parametrize(
    "flaw",
    [{"ClientGuid": OTHER_GUID}, {"ClientGuid": NULL_GUID}, {"internal": {"CS": 1}}],
    ids=["another ClientGuid", "no ClientGuid", "CS set"],
)
def test_an_invalid_response_closes_the_session(peer, sut, judge, flaw):
    """A response to somebody else, or a refusal, closes; the same response without the flaw is answered."""
    listener = listen(peer, sut)
    connection, asked = accepted(listener)
    sent = connection.send(response(peer, asked, **flaw))
    answer = connection.poll_next_packet()
    judge.all(expected=closed_unanswered(1), observed=connection, evidence=[sent, answer])
    respond(*accepted(listener))


@sut_survives()
@needs("send", "private_names")
@covers("MQQB-3.1.5.3.2-01", "MQQB-3.1.5.3.2-D02")
def test_a_response_of_another_queue_manager_closes_the_session(peer, sut, judge):
    """A response whose ServerGuid is not the one asked for closes, at the first attempt and at the next; the same
    response without the flaw is answered.
    """
    listener = listen(peer, sut, private_name(peer.identifier))
    for _ in range(2):
        connection, asked = accepted(listener)
        sent = connection.send(response(peer, asked, ServerGuid=OTHER_GUID))
        answer = connection.poll_next_packet()
        judge.all(expected=closed_unanswered(1), observed=connection, evidence=[sent, answer])
    respond(*accepted(listener))


def recoverable_ack_timeout(peer: Peer, sut: Sut, earlier_ms: int, delay_ms: int = 0) -> tuple[int, int, list[Frame]]:
    """Respond as if the request had been sent earlier; give RecoverableAckTimeout and how long the rest took at most.

    That counts from before the SUT was made to send: the packet's time is when the tester got round to reading it.
    """
    began_ms = peer.recorder.elapsed_ms()
    connection, asked = called(peer, sut)
    peer.pass_time(delay_ms)
    earlier = asked["EstablishConnectionHeader"].TimeStamp - earlier_ms & 0xFFFF_FFFF
    sent = connection.send(response(peer, asked, TimeStamp=earlier))
    answer = connection.expect("ConnectionParameters")
    took = peer.took(began_ms, answer)  # with every stall: the SUT cannot have measured more
    return answer["ConnectionParametersHeader"].RecoverableAckTimeout, took.ms + CLOCK_MS, [asked, sent, answer]


@malforms("MQQB-3.1.5.3.1-10")
@covers("MQQB-3.1.5.3.2-04", "MQQB-3.1.5.3.2-05", "MQQB-3.1.5.3.2-11")
@pytest.mark.parametrize("earlier_ms", [700, 5_000, 14_900])
def test_recoverable_ack_timeout_is_eight_round_trips(peer, sut, judge, earlier_ms):
    """RecoverableAckTimeout is eight times what passed since the TimeStamp in the response."""
    value, took_ms, evidence = recoverable_ack_timeout(peer, sut, earlier_ms)
    expected = between(TRIPS * earlier_ms, min(LONGEST_MS, TRIPS * (earlier_ms + took_ms)))
    judge.all(expected=expected, observed=value, evidence=evidence)


@covers("MQQB-3.1.5.3.2-03")
def test_a_late_response_lengthens_the_round_trip(peer, sut, judge):
    """The time until the response is processed counts."""
    value, took_ms, evidence = recoverable_ack_timeout(peer, sut, 0, DELAY_MS)
    expected = between(TRIPS * (DELAY_MS - CLOCK_MS), TRIPS * took_ms)
    judge("MQQB-3.1.5.3.2-03", expected=expected, observed=value, evidence=evidence)


@malforms("MQQB-3.1.5.3.1-10")
@covers("MQQB-3.1.5.3.2-06")
@pytest.mark.parametrize("earlier_ms", [0, 100_000], ids=["shortest", "longest"])
def test_recoverable_ack_timeout_stays_in_its_range(peer, sut, judge, earlier_ms):
    """Eight round trips that are out of the range give the closest limit."""
    value, _, evidence = recoverable_ack_timeout(peer, sut, earlier_ms)
    expected = LONGEST_MS if earlier_ms else between(SHORTEST_MS, LONGEST_MS)
    judge("MQQB-3.1.5.3.2-06", expected=expected, observed=value, evidence=evidence)


@needs("set_timers")
@covers("MQQB-3.1.5.3.2-12")
def test_ack_timeout_is_the_configured_one(peer, sut, judge):
    """AckTimeout of the request is AckWaitTimeout."""
    sut.set_timers(ack_wait_timeout_ms=30_000)
    wanted = respond(*called(peer, sut))
    observed = wanted["ConnectionParametersHeader"].AckTimeout
    judge("MQQB-3.1.5.3.2-12", expected=30_000, observed=observed, evidence=wanted)
