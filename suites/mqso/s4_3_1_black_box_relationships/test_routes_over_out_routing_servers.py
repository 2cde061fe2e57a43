"""MS-MQSO 4.3.1.3: the route to a queue manager of the sender's own site, over the out-routing server of the sender."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.topology.topology_file import GUID_OF_QUEUE_MANAGER_NEAR_SENDER, RECEIVER_ROLE, ROUTER_ROLE, SENDER_ROLE
from suites.mqqb.steps.provoking import read_application_tag
from suites.mqso.steps.routed import DELIVERY_MODES

LIFETIME_S = 60
"""The time in seconds after which the messages expire, because their destination has no machine."""
APPLICATION_TAGS_OF_ROUTED_MESSAGES = (0x61, 0x62)


@needs("topology", "send")
@covers("MQSO-4.3.1.3-03")
@pytest.mark.parametrize("delivery", DELIVERY_MODES)
def test_messages_to_own_site_are_sent_to_out_routing_server(topology, judge, delivery):
    """The directory lists a queue manager in the site of the sender, and the router as the out-routing server of the
    sender. The sender sends two messages for a queue of this queue manager to the router.
    """
    sender = topology.sender
    if sender.read_directory_object(queue_manager=str(GUID_OF_QUEUE_MANAGER_NEAR_SENDER)) is None:
        judge.mark_not_exercised(
            "MQSO-4.3.1.3-03", reason=f"the directory has no queue manager {GUID_OF_QUEUE_MANAGER_NEAR_SENDER}"
        )
        return
    for tag in APPLICATION_TAGS_OF_ROUTED_MESSAGES:
        sender.send(
            rf"PRIVATE={GUID_OF_QUEUE_MANAGER_NEAR_SENDER}\00000007",
            body=f"message {tag}",
            application_tag=tag,
            delivery=delivery,
            time_to_reach_queue_s=LIFETIME_S,
        )
    frames = topology.wait_for(
        "UserMessage",
        by=SENDER_ROLE,
        to=ROUTER_ROLE,
        count=len(APPLICATION_TAGS_OF_ROUTED_MESSAGES),
        within_ms=sender.connect_timeout_ms,
    )
    elsewhere = topology.traffic.list_packets_from_system("UserMessage", by=SENDER_ROLE, to=RECEIVER_ROLE)
    judge(
        "MQSO-4.3.1.3-03",
        expected={ROUTER_ROLE: set(APPLICATION_TAGS_OF_ROUTED_MESSAGES), RECEIVER_ROLE: set()},
        observed={
            ROUTER_ROLE: {read_application_tag(frame) for frame in frames},
            RECEIVER_ROLE: {read_application_tag(frame) for frame in elsewhere},
        },
        evidence=[*frames, *elsewhere],
        case="ApplicationTags of the messages that the sender sends to each system",
    )
