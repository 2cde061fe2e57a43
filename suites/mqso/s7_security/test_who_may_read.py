"""MS-MQSO 7.3: the security descriptor of a queue, and remote readers' rights (MS-MQMQ 2.2.24)."""

from __future__ import annotations

import base64
from typing import Any

from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.wire.rpc_qmcomm import DIRECT, JOURNAL, PEEK_ACCESS, RECEIVE_ACCESS, SYSTEM_QUEUE_SUFFIX, queue_format
from suites.mqdmpr.steps import descriptors, openings

RECEIVE_RIGHT_MASK, PEEK_RIGHT_MASK, RECEIVE_JOURNAL_RIGHT_MASK, ALL_QUEUE_RIGHTS = 0x03, 0x02, 0x0A, 0x000F_003F
"""MQSEC_RECEIVE_MESSAGE, MQSEC_PEEK_MESSAGE, MQSEC_RECEIVE_JOURNAL_MESSAGE and MQSEC_QUEUE_GENERIC_ALL."""
SUBQUEUE_NAME = "mqc-sub"
OPEN_ARGUMENTS_AND_ACCESS_BY_READ_KIND: dict[str, tuple[tuple[Any, ...], int]] = {
    "receive": (("",), RECEIVE_ACCESS),
    "peek": (("",), PEEK_ACCESS),
    "receive from the journal": ((";JOURNAL", SYSTEM_QUEUE_SUFFIX | JOURNAL), RECEIVE_ACCESS),
}
ALLOWED_READS_BY_GRANT = {
    "to receive": (RECEIVE_RIGHT_MASK, 0, ("receive", "peek")),
    "to peek": (PEEK_RIGHT_MASK, 0, ("peek",)),
    "to receive from the journal": (RECEIVE_JOURNAL_RIGHT_MASK, 0, ("peek", "receive from the journal")),
    "to do everything, granted by an entry with INHERIT_ONLY": (ALL_QUEUE_RIGHTS, descriptors.INHERIT_ONLY_FLAG, ()),
    "to do everything": (ALL_QUEUE_RIGHTS, 0, tuple(OPEN_ARGUMENTS_AND_ACCESS_BY_READ_KIND)),
}
"""For each right that is granted to everyone: the access mask, the flags of the entry, and the ways in which a queue
can be opened.
"""


@needs("qm2qm", "queue_control")
@covers("MQSO-7.3-01")
def test_remote_reader_opens_queue_only_as_granted(remote, sut, judge):
    """A remote reader can open a queue for receiving, for peeking, or for receiving from its journal only if the
    queue's security descriptor grants that right. The check runs for five security descriptors.
    """
    association = remote.associate()
    for name, (mask, flags, allowed) in ALLOWED_READS_BY_GRANT.items():
        descriptor = descriptors.build_security_descriptor(granted=((descriptors.EVERYONE_SID, mask),), flags=flags)
        queue = _create_restricted_queue(sut, judge, descriptor)
        if queue is None:
            return
        path = rf"TCP:{sut.address}\{queue}"
        calls = {
            way: openings.open_and_close_queue(
                remote, association, form=queue_format(DIRECT, f"{path}{suffix}", *flag), access=access
            )
            for way, ((suffix, *flag), access) in OPEN_ARGUMENTS_AND_ACCESS_BY_READ_KIND.items()
        }
        observed = {way: openings.get_opening_outcome(call) for way, call in calls.items()}
        expected = {
            way: openings.OPENED_OUTCOME if way in allowed else Outcome.REFUSED
            for way in OPEN_ARGUMENTS_AND_ACCESS_BY_READ_KIND
        }
        judge.all(
            expected=expected, observed=observed, case=f"reader with the right {name}", evidence=list(calls.values())
        )


@needs("qm2qm", "queue_control", "subqueues")
@covers("MQSO-7.3-01")
def test_remote_reader_opens_subqueue_only_as_its_queue_grants(remote, sut, judge):
    """A queue with a subqueue grants everyone only the right to peek. A remote reader can open the subqueue for
    peeking, but not for receiving.
    """
    queue = _create_restricted_queue(
        sut, judge, descriptors.build_security_descriptor(granted=((descriptors.EVERYONE_SID, PEEK_RIGHT_MASK),))
    )
    if queue is None:
        return
    sut.create_queue(f"{queue};{SUBQUEUE_NAME}")
    form = queue_format(DIRECT, rf"TCP:{sut.address}\{queue};{SUBQUEUE_NAME}")
    association = remote.associate()
    calls = {
        way: openings.open_and_close_queue(
            remote, association, form=form, access=OPEN_ARGUMENTS_AND_ACCESS_BY_READ_KIND[way][1]
        )
        for way in ("receive", "peek")
    }
    observed = {way: openings.get_opening_outcome(call) for way, call in calls.items()}
    if observed["peek"] != openings.OPENED_OUTCOME:
        judge.mark_not_exercised("MQSO-7.3-01", reason="the SUT lets no remote reader open a subqueue")
        return
    judge.all(expected=Outcome.REFUSED, observed=observed["receive"], case="receive", evidence=list(calls.values()))


@needs("qm2qm", "queue_control", "restart")
@covers("MQSO-7.3-01")
def test_remote_reader_opens_queue_only_as_granted_after_restart(remote, sut, judge):
    """A queue grants everyone only the right to peek. Before and after a restart of the SUT, a remote reader can open
    the queue for peeking, but not for receiving.
    """
    queue = _create_restricted_queue(
        sut, judge, descriptors.build_security_descriptor(granted=((descriptors.EVERYONE_SID, PEEK_RIGHT_MASK),))
    )
    if queue is None:
        return
    form = queue_format(DIRECT, rf"TCP:{sut.address}\{queue}")
    expected = {"receive": Outcome.REFUSED, "peek": openings.OPENED_OUTCOME}
    for when in ("before the restart", "after the restart"):
        association = remote.associate()
        calls = {
            way: openings.open_and_close_queue(
                remote, association, form=form, access=OPEN_ARGUMENTS_AND_ACCESS_BY_READ_KIND[way][1]
            )
            for way in expected
        }
        observed = {way: openings.get_opening_outcome(call) for way, call in calls.items()}
        judge.all(expected=expected, observed=observed, case=when, evidence=list(calls.values()))
        if when == "before the restart":
            sut.restart()


def _create_restricted_queue(sut, judge, descriptor):
    """Create a queue with a security descriptor; return its path name, or None if the queue cannot be created."""
    try:
        return sut.new_queue("restricted", security_base64=base64.b64encode(descriptor).decode())
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot create a queue with a security descriptor: {refused}")
        return None
