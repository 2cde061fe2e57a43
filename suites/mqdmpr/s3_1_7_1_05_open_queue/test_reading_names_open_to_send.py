"""MS-MQDMPR 3.1.7.1.5 Open Queue: multicast and HTTP names that are open for sending cannot be opened for reading."""

from __future__ import annotations

import pytest

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import (
    DENY_NONE,
    DENY_RECEIVE,
    DIRECT,
    MULTICAST,
    PEEK_ACCESS,
    RECEIVE_ACCESS,
    queue_format,
)
from suites.applications import PendingRequest
from suites.mqdmpr.steps import openings

pytestmark = needs("qm2qm", "open_to_send")

MULTICAST_ADDRESS, MULTICAST_PORT = (234, 1, 1, 1), 8001
MULTICAST_IDENTIFIER = bytes(MULTICAST_ADDRESS) + MULTICAST_PORT.to_bytes(4, "little")
"""The MULTICAST_ID of the address and port. Spec: MS-MQMQ 2.2.10."""


def _judge_requests_to_read_name_open_to_send(peer, remote, judge, rule, format_name, form, access):
    """Open a format name for sending at the SUT, and judge that the SUT refuses each request of a remote reader to open
    the name: before and after the application closes it.
    """
    sender = PendingRequest(peer, "open_to_send", to=format_name)
    if sender.await_outcome() != Outcome.DONE or sender.answer is None:
        judge.mark_not_exercised(rule, reason=f"the SUT does not open {format_name} for sending")
        return
    association = remote.associate()

    def request_to_read():
        return [
            openings.open_and_close_queue(remote, association, form=form, access=access, share=share)
            for share in (DENY_NONE, DENY_RECEIVE)
        ]

    calls = request_to_read()
    peer.sut.control.call("close_queue", handle=sender.answer["handle"])
    calls += request_to_read()
    judge(
        rule,
        expected=each(Outcome.REFUSED),
        observed=[openings.get_opening_outcome(call) for call in calls],
        evidence=calls,
        case=f"requests to open {format_name} for reading",
    )


@covers("MQDMPR-3.1.7.1.5-46")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
def test_multicast_name_that_is_open_to_send_cannot_be_read(peer, remote, judge, access):
    """An application of the SUT opens a multicast format name for sending. The SUT refuses each request of a remote
    reader to open this name, before and after the application closes it.
    """
    name = f"MULTICAST={'.'.join(map(str, MULTICAST_ADDRESS))}:{MULTICAST_PORT}"
    form = queue_format(MULTICAST, MULTICAST_IDENTIFIER)
    _judge_requests_to_read_name_open_to_send(peer, remote, judge, "MQDMPR-3.1.7.1.5-46", name, form, access)


@covers("MQDMPR-3.1.7.1.5-38")
@pytest.mark.parametrize("access", [RECEIVE_ACCESS, PEEK_ACCESS], ids=["receive", "peek"])
@pytest.mark.parametrize("scheme", ["HTTP", "HTTPS"])
def test_http_name_that_is_open_to_send_cannot_be_read(peer, remote, judge, access, scheme):
    """An application of the SUT opens an HTTP or HTTPS name of a queue of the peer for sending. The SUT refuses each
    request of a remote reader to open this name, before and after the application closes it.
    """
    name = rf"{scheme}://{peer.address}/msmq\private$\mqc-read"
    form = queue_format(DIRECT, name)
    _judge_requests_to_read_name_open_to_send(
        peer, remote, judge, "MQDMPR-3.1.7.1.5-38", f"DIRECT={name}", form, access
    )
