"""MS-MQMQ 2.1.2, MS-MQDMPR 3.1.7.1.5: the names that a queue manager accepts as its own, when it sends and when it
receives.
"""

from __future__ import annotations

import pytest
from core_network import PLAIN, Network
from core_raw import Raw, user_message

from reference_qm.codec import DirectQueueFormatName, parse_format_name

OWN = {
    "host name": "OS:sales.example",
    "host name in another case": "OS:SALES.Example",
    "short name": "OS:sales",
    "dot": "OS:.",
    "localhost": "OS:LocalHost",
    "address of a name": "OS:10.0.0.1",
    "address": "TCP:10.0.0.1",
    "second address": "TCP:10.0.1.1",
}
FOREIGN = {
    "name": "OS:balanced.example",
    "short name of another domain": "OS:sales.elsewhere",
    "longer name": "OS:sales.example.net",
    "address": "TCP:10.0.0.9",
    "name where addresses stand": "OS:10.0.0.9",
}


def direct(host: str, queue: str = PLAIN) -> str:
    return f"DIRECT={host}\\{queue}"


@pytest.fixture
def network():
    return Network()


@pytest.fixture
def host(network):
    return named_host(network)


def named_host(network, **config):
    return network.host(1, host_name="sales.example", addresses=("10.0.0.1", "10.0.1.1"), **config)


@pytest.mark.parametrize("name", FOREIGN)
def test_message_for_foreign_host_name_waits_in_an_outgoing_queue(host, name):
    host.send(direct(FOREIGN[name]), b"there")
    assert host.bodies() == []
    assert [one["DestinationFormatName"] for one in host.adm()["OutgoingQueues"]] == [direct(FOREIGN[name])]


@pytest.mark.parametrize(
    ("address", "own"),
    [("//SALES/msmq", True), ("//sales.example:80/msmq", True), ("//10.0.1.1/msmq", True), ("//other/msmq", False)],
)
@pytest.mark.parametrize("protocol", ["HTTP", "HTTPS"])
def test_host_of_own_url_counts_as_own_name(host, protocol, address, own):
    name = parse_format_name(f"DIRECT={protocol}:{address}\\{PLAIN}")
    assert host.core.queue_names.is_direct_name_of_own_host(name) is own


# -- receiving --------------------------------------------------------------------------------------------------------


def received(network, host_of_name, **config):
    """Send a message with the given host name to a host on a connection of the test; return the connection."""
    raw = Raw.open(named_host(network, **config))
    name = DirectQueueFormatName(f"{host_of_name}\\{PLAIN}")
    raw.feed(user_message(1, recoverable=True, DestinationQueue=name))
    return raw


@pytest.mark.parametrize("name", OWN)
def test_message_for_own_host_name_is_stored_with_name_validation(network, name):
    assert received(network, OWN[name], validate_host_names=True).host.bodies() == ["body"]


@pytest.mark.parametrize("name", FOREIGN)
def test_message_for_foreign_host_name_is_dropped_and_counted_with_name_validation(network, name):
    raw = received(network, FOREIGN[name], validate_host_names=True)
    network.advance(600)
    assert raw.host.bodies() == []
    assert [ack.RecoverableMsgAckFlags for ack in raw.acks] == [1]
    assert raw.session["MessageReceivedCount"] == 1
