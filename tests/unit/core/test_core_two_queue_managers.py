"""MS-MQQP 3.1.4.1 to 3.1.4.11, 3.1.6, 3.2.4.1 to 3.2.4.9: one queue manager reads the queues of another."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct

from reference_qm.rpc import QM2QM
from reference_qm.rpc.syntaxes import NDR
from reference_qm.surface.remote_commands import (
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


def test_a_read_that_waits_in_vain_ends_in_time(network, hosts):
    near, _far = hosts
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    token = near.begin(RemoteReceive(remote, timeout_ms=5_000))
    network.advance(4_999)
    assert token not in near.answers
    network.advance(2)
    assert body(near.answers[token].result.values) is None


def test_a_server_that_speaks_ndr_only(hosts):
    near, far = hosts
    far.core.remote.associations.server.preferred = NDR
    filled(far, "one")
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    (binding,) = near.core.remote_client.bindings.values()
    assert binding.association._contexts[QM2QM.name] == (0, False)
    assert body(near.ask(RemoteReceive(remote))) == "one"
