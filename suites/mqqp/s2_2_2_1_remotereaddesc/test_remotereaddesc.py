"""MS-MQQP 2.2.2.1 REMOTEREADDESC, 2.2.1.2 PCTX_REMOTEREAD_HANDLE_TYPE: what is ignored, what the server sets."""

from __future__ import annotations

import pytest

from harness.peer.remote import LOOKUP, START, START2, described, no_handle, packet_of
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import FIRST_ID, INFINITE, LOOKUP_RECEIVE_NEXT, PEEK_CURRENT, RECEIVE, RR_ACK
from suites.mqqb.steps.opening import Between
from suites.mqqp.steps.reading import FIRST, SECOND, THIRD, WAITING, deliver, filled, sizes, told, waiting

pytestmark = needs("qm2qm")

RULE = "MQQP-2.2.2.1-"
HOUR_MS = 3_600_000
ODD = 0xA5A5_A5A5
CLOCKS_S = 120
"""How far the clock of a real SUT may be from ours."""


@covers(*(f"{RULE}{number}" for number in ("03", "06", "09", "10")))
@pytest.mark.parametrize("by", [START, START2])
def test_what_is_reserved_makes_no_difference_and_what_the_server_sets_is_set(remote, judge, by):
    """Any Reserved and eAckNack are taken; dwSize 0 and lpBuffer NULL go, the packet and its size come."""
    queue = filled(remote, FIRST)
    plain = queue.read(PEEK_CURRENT, by=by)
    odd = queue.read(PEEK_CURRENT, by=by, Reserved=ODD)
    acknowledged = [queue.read(PEEK_CURRENT, by=by, eAckNack=value) for value in (1, 2)]
    judge(f"{RULE}06", expected=told(plain), observed=told(odd), evidence=[*plain.evidence, *odd.evidence])
    seen = [told(read) for read in acknowledged]
    judge(f"{RULE}09", expected=[told(plain)] * 2, observed=seen, evidence=acknowledged[0].evidence)
    size, packet_size = sizes(plain)
    judge(f"{RULE}03", expected=packet_size or "that of a packet", observed=size, evidence=plain.evidence)
    brought = "a packet" if packet_of(plain) is not None else "no packet"
    judge(f"{RULE}10", expected="a packet", observed=brought, evidence=plain.evidence)


@covers(f"{RULE}07", f"{RULE}08")
def test_the_arrival_time_is_that_of_the_message_in_seconds(remote, judge):
    """Each dwArriveTime lies between sending and acknowledgment of its message, also when it is read later."""
    before = remote.peer.environment.now().utc_s
    queue = filled(remote, FIRST)
    after = remote.peer.environment.now().utc_s
    remote.peer.environment.run_until(lambda: False, 1_100)
    reads = [queue.read(PEEK_CURRENT), queue.read(RECEIVE)]
    slack_s = 0 if remote.sut.environment.virtual else CLOCKS_S
    for number in ("07", "08"):
        for read in reads:
            description = described(read)
            observed = description.dwArriveTime if description is not None else told(read)
            expected = Between(before - slack_s, after + slack_s)
            judge(f"{RULE}{number}", expected=expected, observed=observed, evidence=read.evidence)


@covers(f"{RULE}02")
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
    judge(f"{RULE}02", expected=[WAITING, FIRST], observed=[waits, told(read)], evidence=read.evidence)


@covers("MQQP-2.2.1.2-01")
def test_each_way_to_receive_makes_a_handle_that_ends_with_it(remote, judge):
    """Three receives by three methods bring three handles; each can be ended, once."""
    queue = filled(remote, FIRST, SECOND, THIRD)
    reads = [
        queue.read(RECEIVE, by=START),
        queue.read(RECEIVE, by=START2),
        queue.read(LOOKUP_RECEIVE_NEXT, by=LOOKUP, lookup_id=FIRST_ID),
    ]
    handles = {bytes(read.out.pphContext) for read in reads if read.out is not None and not no_handle(read)}
    ends = [queue.end(read, RR_ACK).outcome for read in reads if read.out is not None]
    again = [queue.end(read, RR_ACK).outcome for read in reads if read.out is not None]
    expected = [3, *["MQ_OK"] * 3, *["fault nca_s_fault_context_mismatch"] * 3]
    evidence = [frame for read in reads for frame in read.evidence]
    judge("MQQP-2.2.1.2-01", expected=expected, observed=[len(handles), *ends, *again], evidence=evidence)
