"""MS-MQQP 2.2.2.1 REMOTEREADDESC: what is ignored, what the server sets."""

from __future__ import annotations

import pytest

from harness.peer.remote import START, START2, described, packet_of
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import INFINITE, PEEK_CURRENT, RECEIVE
from suites.mqqb.steps.opening import Between
from suites.mqqp.steps.reading import FIRST, WAITING, brought, deliver, filled, sizes, waiting

pytestmark = needs("qm2qm")

HOUR_MS = 3_600_000
ODD = 0xA5A5_A5A5
CLOCKS_S = 120
"""How far the clock of a real SUT may be from ours."""


@goes_on()
@covers("MQQP-2.2.2.1-03", "MQQP-2.2.2.1-06", "MQQP-2.2.2.1-09", "MQQP-2.2.2.1-10")
@pytest.mark.parametrize("by", [START, START2])
def test_what_is_reserved_makes_no_difference_and_what_the_server_sets_is_set(remote, judge, by):
    """Any Reserved and eAckNack are taken; dwSize 0 and lpBuffer NULL go, the packet and its size come."""
    queue = filled(remote, FIRST)
    plain = queue.read(PEEK_CURRENT, by=by)
    odd = queue.read(PEEK_CURRENT, by=by, Reserved=ODD)
    acknowledged = [queue.read(PEEK_CURRENT, by=by, eAckNack=value) for value in (1, 2)]
    judge("MQQP-2.2.2.1-06", expected=brought(plain), observed=brought(odd), evidence=[*plain.evidence, *odd.evidence])
    seen = [brought(read) for read in acknowledged]
    judge("MQQP-2.2.2.1-09", expected=[brought(plain)] * 2, observed=seen, evidence=acknowledged[0].evidence)
    size, packet_size = sizes(plain)
    judge("MQQP-2.2.2.1-03", expected=packet_size or "that of a packet", observed=size, evidence=plain.evidence)
    found = "a packet" if packet_of(plain) is not None else "no packet"
    judge("MQQP-2.2.2.1-10", expected="a packet", observed=found, evidence=plain.evidence)


@covers("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08")
def test_the_arrival_time_is_that_of_the_message_in_seconds(remote, judge):
    """Each dwArriveTime lies between sending and acknowledgment of its message, also when it is read later."""
    before = remote.peer.environment.now().utc_s
    queue = filled(remote, FIRST)
    after = remote.peer.environment.now().utc_s
    remote.peer.environment.run_until(lambda: False, 1_100)
    reads = [queue.read(PEEK_CURRENT), queue.read(RECEIVE)]
    slack_s = 0 if remote.sut.environment.virtual else CLOCKS_S
    for rule in ("MQQP-2.2.2.1-07", "MQQP-2.2.2.1-08"):
        for read in reads:
            description = described(read)
            observed = description.dwArriveTime if description is not None else brought(read)
            expected = Between(before - slack_s, after + slack_s)
            judge(rule, expected=expected, observed=observed, evidence=read.evidence)


@covers("MQQP-2.2.2.1-02")
def test_an_infinite_time_out_waits_for_a_message(remote, judge):
    """0xFFFFFFFF is no time at all: the read waits until there is something, for an hour where time costs nothing."""
    queue = filled(remote)
    read = queue.begin(RECEIVE, ulTimeout=INFINITE)
    waits = waiting(read)
    if remote.sut.environment.virtual:
        remote.sut.environment.run_until(lambda: read.answered, HOUR_MS)
        waits = waiting(read)
    deliver(remote, [FIRST])
    read.wait()
    judge("MQQP-2.2.2.1-02", expected=[WAITING, FIRST], observed=[waits, brought(read)], evidence=read.evidence)
