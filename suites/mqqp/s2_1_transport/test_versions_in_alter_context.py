"""MS-MQQP 1.9 Standards Assignments: versions of qm2qm that a client proposes on a connection that is already bound."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc import QM2QM

pytestmark = needs("qm2qm")


@covers("MQQP-1.9-D01")
@pytest.mark.parametrize(
    "change", [{"minor_version": 1}, {"major_version": 2}, {"major_version": 0}], ids=["1.1", "2.0", "0.0"]
)
@sut_survives()
def test_other_version_is_refused_in_alter_context(remote, judge, change):
    """A client that is bound to qm2qm version 1.0 proposes version 0.0, 1.1 or 2.0 in an alter_context. The SUT does
    not accept this version. If the connection is still open, a call of version 1.0 then succeeds.
    """
    association = remote.connect(remote.get_read_port())
    association.bind(QM2QM)
    before = association.call("RemoteQmGetVersion")
    other = QM2QM._replace(**change)
    refused, _ = association.bind_and_list_rejected_interfaces(other, kind="alter_context", group=association.group)
    closed = association.over
    after = before if closed else association.call("RemoteQmGetVersion")
    observed = {
        "call_before": before.outcome,
        "the_other_version_is_refused": bool(refused),
        "call_after": after.outcome,
    }
    expected = facts(call_before="returned", the_other_version_is_refused=True, call_after="returned")
    evidence = [*association.record.frames[:4], before, after]
    judge("MQQP-1.9-D01", expected=expected, observed=observed, evidence=evidence)
