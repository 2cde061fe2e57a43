"""MS-MQQP 3.1.4.1 to 3.1.4.11, 3.1.6, 3.2.4.1 to 3.2.4.9: one queue manager reads the queues of another
queue manager.
"""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid, private

from reference_qm.rpc import QM2QM
from reference_qm.rpc.syntaxes import NDR
from reference_qm.surface.commands import OpenCursor, OpenQueue, PeekMessages, ReceiveMessage
from reference_qm.surface.effects import CommandCompleted, CommandRejected
from reference_qm.surface.remote_commands import (
    RemoteClose,
    RemoteCloseCursor,
    RemoteOpen,
    RemoteOpenCursor,
    RemotePeek,
    RemotePurge,
    RemoteReadByLookupId,
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


def test_messages_are_received_in_order_until_none_is_left(hosts):
    near, far = hosts
    filled(far, "one", "two")
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    assert [body(near.ask(RemoteReceive(remote))) for _ in range(3)] == ["one", "two", None]
    assert far.bodies() == []
    near.ask(RemoteClose(remote))
    assert near.twins == far.twins == {}
    assert len(far.core.descriptors) == 0


def test_remote_peek_leaves_message_in_queue(hosts):
    near, far = hosts
    filled(far, "one")
    remote = near.ask(RemoteOpen(direct(2), "peek"))["remote"]
    assert [body(near.ask(RemotePeek(remote))) for _ in range(2)] == ["one", "one"]
    assert far.bodies() == ["one"]


def test_remote_read_returns_all_message_properties(hosts):
    near, far = hosts
    far.send(direct(2), b"\xff" * 70_000, label="a label", priority=5, application_tag=9)
    (there,) = far.ask(PeekMessages(PLAIN))["messages"]
    here = near.ask(RemoteReceive(near.ask(RemoteOpen(direct(2)))["remote"]))["message"]
    assert here == there


def test_private_format_name_is_routed_to_its_queue_manager(network):
    near, far = network.host(1, routes={guid(2): "10.0.0.2"}), network.host(2)
    filled(far, "one")
    assert body(near.ask(RemoteReceive(near.ask(RemoteOpen(private(2)))["remote"]))) == "one"


def test_remote_queue_is_opened_by_host_name(hosts):
    near, far = hosts
    filled(far, "one")
    assert body(near.ask(RemoteReceive(near.ask(RemoteOpen(f"DIRECT=OS:host2\\{PLAIN}"))["remote"]))) == "one"


def test_remote_read_without_message_ends_after_timeout(network, hosts):
    near, _far = hosts
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    token = near.begin(RemoteReceive(remote, timeout_ms=5_000))
    network.advance(4_999)
    assert token not in near.answers
    network.advance(2)
    assert body(near.answers[token].result.values) is None


def test_several_reads_wait_at_once_and_get_a_message_each(hosts):
    near, far = hosts
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    tokens = [near.begin(RemoteReceive(remote, timeout_ms=None)) for _ in range(3)]
    filled(far, "one", "two", "three")
    far.network.settle()
    assert [body(near.answers[token].result.values) for token in tokens] == ["one", "two", "three"]


def test_remote_cursor_reads_each_message_of_the_queue(hosts):
    near, far = hosts
    filled(far, "one", "two", "three")
    cursor = near.ask(RemoteOpenCursor(near.ask(RemoteOpen(direct(2)))["remote"]))["cursor"]
    walked = [body(near.ask(RemotePeek(cursor=cursor)))]
    walked += [body(near.ask(RemotePeek(cursor=cursor, next=True))) for _ in range(2)]
    assert walked == ["one", "two", "three"]
    assert body(near.ask(RemoteReceive(cursor=cursor))) == "three"
    assert far.bodies() == ["one", "two"]
    near.ask(RemoteCloseCursor(cursor))
    assert sum(len(one.CursorCollection) for one in far.core.descriptors.values()) == 0


def test_remote_messages_are_read_by_their_lookup_identifiers(hosts):
    near, far = hosts
    filled(far, "one", "two", "three")
    remote = near.ask(RemoteOpen(direct(2)))["remote"]

    def read(seek, lookup_id=0, peek=True):
        return near.ask(RemoteReadByLookupId(remote, lookup_id, seek, peek))["message"]

    first, last = read("first"), read("last")
    assert (first["body"], last["body"]) == ("one", "three")
    assert read("next", first["lookup_id"])["body"] == "two"
    assert read("previous", last["lookup_id"])["body"] == "two"
    assert read("current", last["lookup_id"], peek=False)["body"] == "three"
    assert far.bodies() == ["one", "two"]


def test_remote_queue_is_purged(hosts):
    near, far = hosts
    filled(far, "one", "two")
    near.ask(RemotePurge(near.ask(RemoteOpen(direct(2)))["remote"]))
    assert far.bodies() == []


def test_transactional_queue_is_read_remotely(hosts):
    near, far = hosts
    filled(far, "one", queue=TRANSACTIONAL)
    remote = near.ask(RemoteOpen(direct(2, TRANSACTIONAL)))["remote"]
    assert body(near.ask(RemoteReceive(remote))) == "one"


def test_exclusive_remote_open_denies_further_opens(hosts):
    near, far = hosts
    remote = near.ask(RemoteOpen(direct(2), deny_receive=True))["remote"]
    assert "VIOLATION" in near.refusal(RemoteOpen(direct(2)))
    assert "VIOLATION" in far.refusal(OpenQueue(PLAIN))
    near.ask(RemoteClose(remote))
    assert near.ask(RemoteOpen(direct(2)))


def test_reads_and_queues_of_a_vanished_remote_reader_are_closed(network, hosts):
    near, far = hosts
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    token = near.begin(RemoteReceive(remote, timeout_ms=None))
    network.cut(near)
    assert isinstance(near.answers[token], CommandRejected)
    filled(far, "one")
    assert far.bodies() == ["one"]
    assert len(far.core.descriptors) == 0
    assert "connection is lost" in near.refusal(RemoteReceive(remote))


def test_a_local_reader_and_a_remote_one_share_a_queue(hosts):
    near, far = hosts
    filled(far, "one", "two")
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    assert body(near.ask(RemoteReceive(remote))) == "one"
    assert far.ask(ReceiveMessage(PLAIN))["message"]["body"] == "two"
    handle = far.ask(OpenQueue(PLAIN))["handle"]
    assert far.ask(OpenCursor(handle))["cursor"]


def test_client_reads_from_server_with_ndr_only(hosts):
    near, far = hosts
    far.core.remote.associations.server.preferred = NDR
    filled(far, "one")
    remote = near.ask(RemoteOpen(direct(2)))["remote"]
    (binding,) = near.core.remote_client.binding_by_connection.values()
    assert binding.association._contexts[QM2QM.name] == (0, False)
    assert body(near.ask(RemoteReceive(remote))) == "one"


def test_two_queue_managers_read_from_each_other(hosts):
    near, far = hosts
    filled(near, "of near", number=1)
    filled(far, "of far")
    there = near.ask(RemoteOpen(direct(2)))["remote"]
    here = far.ask(RemoteOpen(direct(1)))["remote"]
    assert body(near.ask(RemoteReceive(there))) == "of far"
    assert body(far.ask(RemoteReceive(here))) == "of near"
    assert all(isinstance(answer, CommandCompleted) for answer in near.answers.values())


def test_queue_manager_can_read_remotely_from_itself(hosts):
    near, _ = hosts
    filled(near, "one", number=1)
    assert body(near.ask(RemoteReceive(near.ask(RemoteOpen(direct(1)))["remote"]))) == "one"
