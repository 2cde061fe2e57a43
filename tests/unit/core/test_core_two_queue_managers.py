"""MS-MQQP 3.1.4.1 to 3.1.4.11, 3.1.6, 3.2.4.1 to 3.2.4.9: one queue manager reads the queues of another."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid, private

from reference_qm.rpc import QM2QM
from reference_qm.rpc.syntaxes import NDR
from reference_qm.surface.commands import OpenQueue
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteOpen,
    RemoteReceive,
)


@pytest.fixture
def network():
    return Network()


@pytest.fixture
def hosts(network):
    return network.pair()


def filled(host, *bodies, queue=PLAIN, number=2):
    for body in bodies:
        host.send(direct(number, queue), body.encode(), transactional=queue == TRANSACTIONAL)


def body(reply):
    return None if reply["message"] is None else reply["message"]["body"]


def test_a_private_name_is_routed_to_its_queue_manager(network):
    near, far = network.host(1, routes={guid(2): "10.0.0.2"}), network.host(2)
    filled(far, "one")
    assert body(near.ask(RemoteReceive(near.ask(RemoteOpen(private(2)))["remote"]))) == "one"


def test_who_denies_others_gets_the_queue_alone(hosts):
    near, far = hosts
    remote = near.ask(RemoteOpen(direct(2), deny_receive=True))["remote"]
    assert "VIOLATION" in near.refusal(RemoteOpen(direct(2)))
    assert "VIOLATION" in far.refusal(OpenQueue(PLAIN))
    near.ask(RemoteClose(remote))
    assert near.ask(RemoteOpen(direct(2)))


def test_a_server_that_speaks_ndr_only(hosts):
    near, far = hosts
    far.core.remote.associations.server.preferred = NDR
    filled(far, "one")
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    (binding,) = near.core.remote_client.bindings.values()
    assert binding.association._contexts[QM2QM.name] == (0, False)
    assert body(near.ask(RemoteReceive(remote))) == "one"
