"""MS-MQSO 3.3.4.5 Transfer Message: transfers from the sender through a router to the receiver."""

from __future__ import annotations

import pytest

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.topology.topology_file import RECEIVER_ROLE, ROUTER_ROLE, SENDER_ROLE
from suites.mqso.steps.routed import DELIVERY_MODES, RoutedMessages

APPLICATION_TAGS_OF_SENT_MESSAGES = (0x51, 0x52, 0x53)
ROUTING_RULES = ("MQSO-5.1.1.3-D03", "MQSO-5.1.2-01")
"""The rules about a message that is sent to the next hop according to the directory."""


@needs("topology")
@pytest.mark.parametrize("delivery", DELIVERY_MODES)
@covers("MQSO-3.3.4.5-01", "MQSO-3.3.4.5-D03", *ROUTING_RULES)
def test_messages_to_other_site_pass_router(topology, judge, delivery):
    """The sender sends three messages for a queue in another site to the router. The router acknowledges them and
    forwards them to the receiver, which also acknowledges them.
    """
    routed = RoutedMessages(topology, delivery)
    routed.send(*APPLICATION_TAGS_OF_SENT_MESSAGES)
    frames = routed.await_arrival(*APPLICATION_TAGS_OF_SENT_MESSAGES)
    expected = {
        f"{SENDER_ROLE} to {ROUTER_ROLE}": set(APPLICATION_TAGS_OF_SENT_MESSAGES),
        f"{ROUTER_ROLE} to {RECEIVER_ROLE}": set(APPLICATION_TAGS_OF_SENT_MESSAGES),
    }
    judge(
        "MQSO-3.3.4.5-01",
        *ROUTING_RULES,
        expected=expected,
        observed=routed.list_tags_by_hop(*APPLICATION_TAGS_OF_SENT_MESSAGES),
        evidence=frames,
    )
    for by, to in ((ROUTER_ROLE, SENDER_ROLE), (RECEIVER_ROLE, ROUTER_ROLE)):
        observed = topology.wait_for(
            "SessionAck", by=by, to=to, within_ms=routed.compute_longest_acknowledgment_time_ms
        )
        judge(
            "MQSO-3.3.4.5-D03",
            expected=holds(f"the {by} acknowledges the messages", otherwise=f"no acknowledgment by the {by}"),
            observed=bool(observed),
            evidence=observed or frames,
        )


@needs("topology")
@pytest.mark.parametrize("delivery", [each for each in DELIVERY_MODES if each != "express"])
@covers("MQSO-3.3.4.5-D04", "MQSO-5.5.2-D01", *ROUTING_RULES)
def test_messages_are_transferred_once_after_network_outage(topology, judge, delivery):
    """A message that is sent while the router or the receiver cannot be reached is received exactly once after the
    outage.
    """
    routed = RoutedMessages(topology, delivery)
    for role, tag in zip((ROUTER_ROLE, RECEIVER_ROLE), APPLICATION_TAGS_OF_SENT_MESSAGES[:2], strict=True):
        topology.cut(role)
        routed.send(tag)
        topology.pass_time(topology.sender.quiet_ms)
        topology.restore_connections(role)
        frames = routed.await_arrival(tag)
        arrival = f"{hex(tag)} comes after the {role} was out of reach"
        received = routed.receive_application_tags()
        judge(
            *ROUTING_RULES,
            expected={f"{SENDER_ROLE} to {ROUTER_ROLE}": {tag}, f"{ROUTER_ROLE} to {RECEIVER_ROLE}": {tag}},
            observed=routed.list_tags_by_hop(tag),
            evidence=frames,
            case=f"hops of the message after an outage of the {role}",
        )
        judge(
            "MQSO-3.3.4.5-D04",
            "MQSO-5.5.2-D01",
            expected=[tag],
            observed=received,
            evidence=frames,
            note=arrival,
            case="ApplicationTags of the received messages",
        )
