"""MS-MQQB 3.1.7.4, 3.1.7.5, 3.1.5.2.1: destination info, next hops and host addresses in a system with a directory."""

from __future__ import annotations

import pytest
from core_enterprise import (
    NORTH,
    NORTH_GATE,
    PUBLIC,
    PUBLIC_NAME,
    RECEIVER,
    SENDER,
    SOUTH,
    SOUTH_GATE,
    Enterprise,
    machine,
    two_sites,
)
from core_network import Network, guid, private

from harness.faults.parts import override_method
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.directory import Queue, QueueManager


def destination(enterprise: Enterprise, name: str):
    core = enterprise[SENDER].core
    found = core.next_hops.get_destination_info(name)
    return None if found is None else (found.HostName, found.QueueManagerGuid)


def test_public_format_name_gives_the_queue_manager_that_hosts_the_queue():
    assert destination(Enterprise(), PUBLIC_NAME) == ("host4", guid(RECEIVER))


def test_public_format_name_unknown_to_directory_gives_no_next_hop():
    assert destination(Enterprise(), f"PUBLIC={guid(77)}") is None


def test_public_queue_of_an_unknown_computer_gives_no_next_hop():
    orphan = Queue(Identifier=guid(78), Pathname="nobody\\orders")
    assert destination(Enterprise([*two_sites(), orphan]), f"PUBLIC={guid(78)}") is None


def test_private_format_name_gives_queue_manager_without_host():
    assert destination(Enterprise(), private(RECEIVER)) == ("", guid(RECEIVER))


@pytest.mark.parametrize(
    ("source", "to", "hops"),
    [
        (SENDER, NORTH_GATE, [NORTH_GATE]),
        (SENDER, RECEIVER, [NORTH_GATE]),
        (NORTH_GATE, RECEIVER, [SOUTH_GATE]),
        (SOUTH_GATE, RECEIVER, [RECEIVER]),
        (RECEIVER, SENDER, [SOUTH_GATE]),
        (SENDER, 9, []),
    ],
)
def test_next_hops_are_those_of_the_routing_algorithm(source, to, hops):
    assert Enterprise().hops(source, to) == hops


def test_routing_servers_of_source_and_destination_are_next_hops():
    enterprise = Enterprise()
    enterprise.update(QueueManager(Identifier=guid(RECEIVER), InRoutingServerIdentifierList=(guid(SOUTH_GATE),)))
    assert enterprise.hops(SOUTH_GATE, RECEIVER) == [RECEIVER]
    enterprise.update(QueueManager(Identifier=guid(SENDER), OutRoutingServerIdentifierList=(guid(NORTH_GATE),)))
    assert enterprise.hops(SENDER, NORTH_GATE) == [NORTH_GATE]


def test_a_next_hop_that_the_directory_lost_is_left_out():
    enterprise = Enterprise()
    core = enterprise[SENDER].core
    replace_part_by_subclass(
        core,
        override_method(
            NextHops.get_next_hop_identifiers, lambda original: lambda qm, to: (guid(50), guid(NORTH_GATE))
        ),
    )
    assert enterprise.hops(SENDER, RECEIVER) == [NORTH_GATE]


def test_every_address_of_every_next_hop_is_tried_in_turn():
    enterprise = Enterprise()
    network, sender = enterprise.network, enterprise[SENDER]
    enterprise.update(
        QueueManager(Identifier=guid(SENDER), OutRoutingServerIdentifierList=(guid(NORTH_GATE), guid(SOUTH_GATE)))
    )
    network.names["host2"] = ("10.0.0.99", "10.0.0.98")
    sender.send(private(RECEIVER), b"by the second router")
    enterprise.settle()
    hops = sender.session("initiator")["NextHopCollection"]
    assert [(hop["Address"], hop["HostName"], hop["QMGuid"]) for hop in hops] == [
        ("10.0.0.99", "host2", str(guid(NORTH_GATE))),
        ("10.0.0.98", "host2", str(guid(NORTH_GATE))),
        ("10.0.0.3", "host3", str(guid(SOUTH_GATE))),
    ]
    assert [connect.remote.host for connect in sender.connects] == ["10.0.0.99", "10.0.0.98", "10.0.0.3"]
    assert enterprise[RECEIVER].bodies() == ["by the second router"]


def test_a_message_to_a_public_queue_names_its_queue_manager_and_is_received():
    enterprise = Enterprise()
    enterprise[SENDER].send(PUBLIC_NAME, b"published")
    enterprise.settle()
    assert enterprise[RECEIVER].bodies("orders") == ["published"]
    packet = next(one for one in enterprise[SENDER].packets() if isinstance(one, UserMessagePacket))
    assert packet.UserHeader.QueueManagerAddress == guid(RECEIVER)
    assert (packet.UserHeader.DQ, packet.UserHeader.DestinationQueue.PublicQueueIdentifier) == (5, PUBLIC)


def test_a_public_queue_of_this_queue_manager_is_local():
    enterprise = Enterprise()
    enterprise[RECEIVER].send(PUBLIC_NAME, b"near")
    assert enterprise[RECEIVER].bodies("orders") == ["near"]
    assert enterprise[RECEIVER].connects == []


def test_a_public_queue_that_becomes_known_later_is_sent_to():
    unpublished = [one for one in two_sites() if not isinstance(one, Queue)]
    enterprise = Enterprise(unpublished, numbers=(SENDER, NORTH_GATE, SOUTH_GATE))
    sender = enterprise[SENDER]
    sender.send(PUBLIC_NAME, b"early")
    (queue,) = sender.adm()["OutgoingQueues"]
    assert (queue["State"], queue["ConnectionHistory"][-1]["Status"]) == ("NeedValidation", "RoutingDataNotAvailable")
    enterprise.directory.provision(Queue(Identifier=PUBLIC, Pathname="host4\\orders"))
    enterprise.join(RECEIVER)
    enterprise.settle()
    assert enterprise[RECEIVER].bodies("orders") == ["early"]


def test_configured_routes_give_address_in_workgroup_mode():
    host = Network().host(1, routes={guid(9): "10.0.0.9"})
    (hop,) = host.core.next_hops.get_next_hops(guid(9))
    assert (hop.Identifier, hop.QualifiedComputerName) == (guid(9), "10.0.0.9")
    assert host.core.next_hops.get_next_hops(guid(8)) == ()


def test_in_workgroup_mode_the_configuration_names_the_queue_manager_of_a_public_queue():
    """In workgroup mode, the configuration names the queue manager of a public queue. MS-MQQB 3.1.7.4 Get Destination
    Info.
    """
    host = Network().host(1, public_queues={PUBLIC: guid(9)})
    destination = host.core.next_hops.get_destination_info(PUBLIC_NAME)
    assert destination == Destination("", guid(9))
    assert host.core.next_hops.get_destination_info(f"PUBLIC={guid(8)}") is None


def test_both_sites_of_a_gate_are_reached():
    elements = [one for one in two_sites() if getattr(one, "Identifier", None) != guid(NORTH_GATE)]
    enterprise = Enterprise([*elements, machine(NORTH_GATE, NORTH, SOUTH, RoutingServer=True)])
    assert enterprise.hops(NORTH_GATE, RECEIVER) == [RECEIVER]
