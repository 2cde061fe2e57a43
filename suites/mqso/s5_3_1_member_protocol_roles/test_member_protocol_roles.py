"""MS-MQSO 5.3.1 Member Protocol Roles."""

from __future__ import annotations

from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs
from suites.mqqp.steps.reading import deliver


@needs("qm2qm")
@covers("MQSO-5.3.1-01", "MQSO-5.3.1-02")
def test_what_one_protocol_opens_the_other_reads(remote, judge):
    """A queue opened by qmcomm (MS-MQMP) is opened for reading, and read, by qm2qm (MS-MQQP)."""
    association = remote.associate()
    remote.empty()
    opened = remote.open_remote(association)
    judge("MQSO-5.3.1-01", expected="qmcomm: MQ_OK", observed=f"qmcomm: {opened.outcome}", evidence=opened.evidence)
    deliver(remote, ["read"])
    queue = RemoteQueue(remote, association, opened.settled(), settled=False)
    for rule in ("MQSO-5.3.1-01", "MQSO-5.3.1-02"):
        observed = f"qm2qm: {queue.session.outcome}"
        judge(rule, expected="qm2qm: MQ_OK", observed=observed, evidence=queue.session.evidence)
    read = queue.receive()
    for rule in ("MQSO-5.3.1-01", "MQSO-5.3.1-02"):
        judge(rule, expected="read: MQ_OK", observed=f"read: {read.outcome}", evidence=read.evidence)
