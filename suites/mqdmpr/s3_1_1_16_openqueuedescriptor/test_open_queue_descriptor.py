"""MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""

from __future__ import annotations

from typing import Any

import pytest

from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import PEEK_ACCESS, RECEIVE_ACCESS
from suites.mqdmpr.steps.shown import descriptors
from suites.mqqb.steps.pinging import element

OPENINGS = 4


@needs("qm2qm")
@covers("MQDMPR-3.1.1.16-02", "MQDMPR-3.1.1.16-03")
def test_each_opening_has_a_handle_and_a_context_of_its_own(remote, judge):
    """A queue is opened twice by one client and once by another, and another queue; one that was closed is opened
    again: handles and contexts of what is open at a time are all different.
    """
    associations = [remote.associate(), remote.associate()]
    calls = [
        remote.open_remote(association, queue).settled()
        for association, queue in (
            (associations[0], "plain"),
            (associations[0], "plain"),
            (associations[1], "plain"),
            (associations[0], "admin"),
        )
    ]
    for rule, values in (
        ("MQDMPR-3.1.1.16-02", [int(call.out.phQueue) for call in calls]),
        ("MQDMPR-3.1.1.16-03", [int(call.out.dwpQueue) for call in calls]),
    ):
        observed = f"{len(set(values))} values, {'no' if all(values) else 'a'} 0 among them"
        judge(rule, expected=f"{OPENINGS} values, no 0 among them", observed=observed, evidence=calls)


@needs("qm2qm", "inspect", "queue_control")
@covers("MQDMPR-3.1.1.16-04", "MQDMPR-3.1.1.16-05", "MQDMPR-3.1.1.16-12", "MQDMPR-3.1.1.16-14")
@pytest.mark.parametrize(("access", "shown_as"), [(RECEIVE_ACCESS, "ReceiveAccess"), (PEEK_ACCESS, "PeekAccess")])
def test_what_a_remote_reader_has_open(remote, sut, judge, access, shown_as):
    """A queue that a client opens is Opened; when it reads through it, it is ReadyForRead."""
    queue = sut.queue()
    association = remote.associate()
    call = remote.open_remote(association, access=access).settled()
    opened = _described(sut, queue)
    reading = remote.open(association=association, access=access)
    both = _described(sut, queue)
    evidence = [*call.evidence, *reading.session.evidence]
    judge(
        "MQDMPR-3.1.1.16-12",
        expected=["Opened"],
        observed=[one["RemoteReadState"] for one in opened],
        evidence=evidence,
    )
    states = sorted(one["RemoteReadState"] for one in both)
    judge("MQDMPR-3.1.1.16-14", expected=["Opened", "ReadyForRead"], observed=states, evidence=evidence)
    judge(
        "MQDMPR-3.1.1.16-04", expected=[shown_as] * 2, observed=[one["AccessType"] for one in both], evidence=evidence
    )
    multiple = [(one["Multiple"], one["OpenQueueDescriptorCollection"]) for one in both]
    judge("MQDMPR-3.1.1.16-05", expected=[(False, [])] * 2, observed=multiple, evidence=evidence)


def _described(sut: Any, queue: str) -> list[dict[str, Any]]:
    names = ("AccessType", "RemoteReadState", "Multiple", "OpenQueueDescriptorCollection")
    return [{name: element(one, name) for name in names} for one in descriptors(sut, queue)]


@needs("inspect", "open_to_send", "several_queues")
@covers("MQDMPR-3.1.1.16-06", "MQDMPR-3.1.1.16-07", "MQDMPR-3.1.1.16-08")
def test_what_is_open_as_several_queues(peer, sut, judge):
    """Two queues are opened at once to send to them: that opening is for sending, and refers to no queue itself."""
    to = ",".join(peer.direct_name(name) for name in ("mqc-several-1", "mqc-several-2"))
    handle = sut.control.call("open_to_send", to=to)["handle"]
    known = {one["Handle"]: one for one in element(sut.inspect(), "OpenQueueDescriptors")}
    sut.control.call("close_queue", handle=handle)
    several = known.get(handle, {})
    judge("MQDMPR-3.1.1.16-06", expected="SendAccess", observed=element(several, "AccessType"))
    judge("MQDMPR-3.1.1.16-07", expected="None", observed=element(several, "RemoteReadState"))
    judge("MQDMPR-3.1.1.16-08", expected=None, observed=element(several, "QueueReference"))
