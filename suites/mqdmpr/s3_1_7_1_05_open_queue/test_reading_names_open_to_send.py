"""MS-MQDMPR 3.1.7.1.5 Open Queue: a multicast format name that is open for sending cannot be opened for reading."""

from __future__ import annotations

import pytest

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import DENY_NONE, DENY_RECEIVE, MULTICAST, PEEK_ACCESS, RECEIVE_ACCESS, queue_format
from suites.applications import PendingRequest
from suites.mqdmpr.steps import openings

MULTICAST_ADDRESS, MULTICAST_PORT = (234, 1, 1, 1), 8001
MULTICAST_FORMAT_NAME = f"MULTICAST={'.'.join(map(str, MULTICAST_ADDRESS))}:{MULTICAST_PORT}"
MULTICAST_IDENTIFIER = bytes(MULTICAST_ADDRESS) + MULTICAST_PORT.to_bytes(4, "little")
"""The MULTICAST_ID of the address and port. Spec: MS-MQMQ 2.2.10."""


@needs("qm2qm", "open_to_send")
@covers("MQDMPR-3.1.7.1.5-46")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
def test_multicast_name_that_is_open_to_send_cannot_be_read(peer, remote, sut, judge, access):
    """An application of the SUT opens a multicast format name for sending. The SUT refuses each request of a remote
    reader to open this name, before and after the application closes it.
    """
    sender = PendingRequest(peer, "open_to_send", to=MULTICAST_FORMAT_NAME)
    if sender.await_outcome() != Outcome.DONE or sender.answer is None:
        judge.mark_not_exercised("MQDMPR-3.1.7.1.5-46", reason="the SUT does not open multicast format names")
        return
    association = remote.associate()

    def request_to_read():
        return [
            openings.open_and_close_queue(
                remote, association, form=queue_format(MULTICAST, MULTICAST_IDENTIFIER), access=access, share=share
            )
            for share in (DENY_NONE, DENY_RECEIVE)
        ]

    calls = request_to_read()
    sut.control.call("close_queue", handle=sender.answer["handle"])
    calls += request_to_read()
    judge.all(
        expected=each(Outcome.REFUSED),
        observed=[openings.get_opening_outcome(call) for call in calls],
        evidence=calls,
        case="requests to open a multicast format name for reading",
    )
