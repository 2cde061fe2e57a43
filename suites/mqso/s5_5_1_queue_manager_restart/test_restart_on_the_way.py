"""MS-MQSO 5.5.1 Queue Manager Restart: messages in transit while the sender or the router restarts."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.topology.topology_file import RECEIVER_ROLE, ROUTER_ROLE, SENDER_ROLE
from suites.mqso.steps.routed import RoutedMessages

NEXT_ROLE_ON_ROUTE = {SENDER_ROLE: ROUTER_ROLE, ROUTER_ROLE: RECEIVER_ROLE}
APPLICATION_TAGS_OF_MESSAGES = (0x61, 0x62)


@needs("topology", "restart")
@pytest.mark.parametrize("role", NEXT_ROLE_ON_ROUTE)
@pytest.mark.parametrize(
    ("delivery", "rule"),
    [
        pytest.param("transactional", "MQSO-5.5.1-02", marks=covers("MQSO-5.5.1-02", "MQSO-5.5.1-D01")),
        pytest.param("recoverable", "MQSO-5.5.1-04", marks=covers("MQSO-5.5.1-04", "MQSO-5.5.1-D01")),
    ],
)
def test_messages_in_transit_survive_restart_of_sender_or_router(topology, judge, role, delivery, rule):
    """Two recoverable or transactional messages wait at the sender or at the router. After that system has restarted,
    each message arrives once.
    """
    routed = RoutedMessages(topology, delivery)
    topology.cut(NEXT_ROLE_ON_ROUTE[role])
    routed.send(*APPLICATION_TAGS_OF_MESSAGES)
    if role == ROUTER_ROLE:
        routed.await_acknowledgment(SENDER_ROLE, ROUTER_ROLE)
    topology.systems[role].sut.restart()
    topology.restore_connections(NEXT_ROLE_ON_ROUTE[role])
    frames = routed.await_arrival(*APPLICATION_TAGS_OF_MESSAGES)
    received = routed.receive_application_tags()
    judge(
        rule,
        "MQSO-5.5.1-D01",
        expected=list(APPLICATION_TAGS_OF_MESSAGES),
        observed=received,
        evidence=frames,
        note=f"after a restart of the {role}",
        case="ApplicationTags of the received messages",
    )
