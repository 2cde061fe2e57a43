"""MS-MQQP 3.1.4.11: reads by LookupId of a client that has opened the queue only to peek."""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader

PEEKED_LOOKUP_IDS = (0x8000_0000_0000_0001, 0x1_0000_0000, 7)
"""Identifiers of messages: one with the highest bit, one whose lower half is zero, and a small one."""


@needs("remote_read")
@covers("MQQP-3.1.4.11-09")
def test_client_that_peeks_by_lookup_id_names_the_message(peer, sut, judge):
    """The SUT opens a queue of the peer to peek, and peeks at messages by their LookupIdentifiers. LookupId in each
    call is not 0.
    """
    reader = Reader(peer, sut)
    remote = reader.open(access="peek")
    for lookup_id in PEEKED_LOOKUP_IDS:
        reader.begin("remote_peek_by_lookup_id", remote=remote, lookup_id=lookup_id, seek="current").outcome()
    calls = [
        call
        for call in reader.server.list_calls_of(Method.START_RECEIVE_BY_LOOKUP_ID)
        if call.decoded_request is not None
    ]
    if not calls:
        reason = f"the SUT does not call {Method.START_RECEIVE_BY_LOOKUP_ID}"
        judge.mark_not_exercised("MQQP-3.1.4.11-09", reason=reason)
        return
    judge(
        "MQQP-3.1.4.11-09",
        expected=each(True, "nonzero LookupId"),
        observed=[call.decoded_request.LookupId != 0 for call in calls],
        evidence=calls,
    )
