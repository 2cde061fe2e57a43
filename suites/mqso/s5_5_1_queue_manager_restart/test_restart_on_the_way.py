"""MS-MQSO 5.5.1 Queue Manager Restart, of one that has messages for another: at the sender, and at a router."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.topology.topology_file import RECEIVER, ROUTER, SENDER
from suites.mqso.steps.routed import Routed

NEXT = {SENDER: ROUTER, ROUTER: RECEIVER}
TAGS = (0x61, 0x62)


@needs("topology", "restart")
@pytest.mark.parametrize("role", NEXT)
@pytest.mark.parametrize(
    ("delivery", "rule"),
    [
        pytest.param("transactional", "MQSO-5.5.1-02", marks=covers("MQSO-5.5.1-02", "MQSO-5.5.1-D01")),
        pytest.param("recoverable", "MQSO-5.5.1-04", marks=covers("MQSO-5.5.1-04", "MQSO-5.5.1-D01")),
    ],
)
def test_messages_on_their_way_outlive_a_restart(topology, judge, role, delivery, rule):
    """A queue manager that restarts while it holds a recoverable or transactional message transfers it once."""
    routed = Routed(topology, delivery)
    topology.cut(NEXT[role])
    routed.send(*TAGS)
    if role == ROUTER:
        routed.await_acknowledgment(SENDER, ROUTER)
    topology.systems[role].sut.restart()
    topology.mend(NEXT[role])
    frames = routed.await_arrival(*TAGS)
    received = routed.receive_tags()
    judge(
        rule,
        "MQSO-5.5.1-D01",
        expected=list(TAGS),
        observed=received,
        evidence=frames,
        note=f"after a restart of the {role}",
    )
