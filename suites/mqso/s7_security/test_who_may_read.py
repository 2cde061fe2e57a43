"""MS-MQSO 7.3: the security descriptor of a queue, and remote readers' rights (MS-MQMQ 2.2.24)."""

from __future__ import annotations

import base64
from typing import Any

from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import DIRECT, JOURNAL, PEEK_ACCESS, RECEIVE_ACCESS, SYSTEM, queue_format
from suites.mqdmpr.steps import descriptors, openings

RECEIVE, PEEK, RECEIVE_JOURNAL, ALL = 0x03, 0x02, 0x0A, 0x000F_003F
"""MQSEC_RECEIVE_MESSAGE, MQSEC_PEEK_MESSAGE, MQSEC_RECEIVE_JOURNAL_MESSAGE, MQSEC_QUEUE_GENERIC_ALL."""
WAYS: dict[str, tuple[tuple[Any, ...], int]] = {
    "receive": (("",), RECEIVE_ACCESS),
    "peek": (("",), PEEK_ACCESS),
    "receive from the journal": ((";JOURNAL", SYSTEM | JOURNAL), RECEIVE_ACCESS),
}
GRANTED = {
    "to receive": (RECEIVE, 0, ("receive", "peek")),
    "to peek": (PEEK, 0, ("peek",)),
    "to receive from the journal": (RECEIVE_JOURNAL, 0, ("peek", "receive from the journal")),
    "everything, to what inherits": (ALL, descriptors.INHERIT_ONLY, ()),
    "everything": (ALL, 0, tuple(WAYS)),
}
"""By what everybody is granted: the mask, the flags of the entry, and the ways that lead in."""


@needs("qm2qm", "queue_control")
@covers("MQSO-7.3-01")
def test_remote_reader_opens_queue_only_as_granted(remote, sut, judge):
    """For each of five security descriptors a remote reader can open the queue to receive, to peek, or to receive
    from the journal only as the descriptor grants.
    """
    association = remote.associate()
    for name, (mask, flags, allowed) in GRANTED.items():
        descriptor = descriptors.build_descriptor(granted=((descriptors.EVERYONE, mask),), flags=flags)
        try:
            queue = sut.new_queue("restricted", security_base64=base64.b64encode(descriptor).decode())
        except ControlRefused as refused:
            judge.end_unobservable(f"the SUT's control channel gives a new queue no security descriptor: {refused}")
            return
        path = rf"TCP:{sut.address}\{queue}"
        calls = {
            way: openings.open_and_close(
                remote, association, form=queue_format(DIRECT, f"{path}{suffix}", *flag), access=access
            )
            for way, ((suffix, *flag), access) in WAYS.items()
        }
        observed = {way: openings.outcome(call) for way, call in calls.items()}
        expected = {way: openings.OPENED if way in allowed else Outcome.REFUSED for way in WAYS}
        judge.all(expected=expected, observed=observed, case=f"granted {name}", evidence=list(calls.values()))
