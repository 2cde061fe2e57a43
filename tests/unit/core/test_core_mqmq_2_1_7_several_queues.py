"""Sending to a multiple-element format name. Spec: MS-MQMQ 2.1.7, 2.2.20.1, MS-MQDMPR 3.1.7.1.27."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct

from reference_qm.codec import UserMessagePacket
from reference_qm.surface.commands import PeekMessages, SendMessage


@pytest.fixture
def network():
    return Network()


def listed(host):
    """Return Destination of the MultiQueueFormatHeader of what a host sent."""
    packets = [packet for packet in host.packets() if isinstance(packet, UserMessagePacket)]
    headers = [packet.MultiQueueFormatHeader for packet in packets]
    return [
        [one.FormatName.DirectFormatName.lower() for one in header.Destination.FormatNameList] for header in headers
    ]


def test_a_copy_goes_to_every_queue(network):
    one, two, three = (network.host(number) for number in (1, 2, 3))
    one.send(f"{direct(2)},{direct(3)},{direct(1)}", b"to all")
    network.settle()
    assert [host.bodies() for host in (one, two, three)] == [["to all"]] * 3


def test_every_copy_lists_all_queues_and_has_an_identifier_of_its_own(network):
    one, two, three = (network.host(number) for number in (1, 2, 3))
    name = f"{direct(2)},{direct(3)}"
    identifier = one.send(name, recoverable=True)
    network.settle()
    got = [host.ask(PeekMessages(PLAIN))["messages"][0] for host in (two, three)]
    assert got[0]["message_id"] == identifier
    assert got[1]["message_id"] == identifier[:-1] + str(int(identifier[-1]) + 1)
    assert listed(one) == [[direct(number).removeprefix("DIRECT=").lower() for number in (2, 3)]] * 2


def test_a_name_that_lists_a_queue_twice_means_it_once(network):
    one, two = network.host(1), network.host(2)
    one.send(f"{direct(2)},{direct(2)}")
    network.settle()
    assert two.bodies() == ["body"]


@pytest.mark.parametrize(
    ("to", "fields", "why"),
    [
        (f"{direct(2)},MULTICAST=234.1.1.1:80", {}, "cannot be sent to yet"),
        (f"{direct(2)},DL=6d71636f-6e66-4f72-8d00-000000000003", {}, "cannot be expanded"),
        (f"{direct(2)},{direct(1, TRANSACTIONAL)}", {}, "is a transactional queue"),
        (f"{direct(2)},{direct(1)}", {"sender": "none", "privacy_level": "base"}, "by its own name only"),
        (f"{direct(2)},DIRECT=TCP:10.0.0.1\\private$\\nowhere", {}, "create it first"),
    ],
)
def test_when_one_queue_cannot_be_sent_to_nothing_is_sent(network, to, fields, why):
    one, two = network.host(1), network.host(2)
    assert why in one.refusal(SendMessage(to=to, **fields))
    network.settle()
    assert two.bodies() == []
