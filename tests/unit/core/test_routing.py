"""MS-MQQB 3.1.5.8.2, 3.1.5.8.5, 3.1.5.8.7, 3.1.5.8.8: messages for another queue manager."""

from __future__ import annotations

from dataclasses import replace

import pytest
from core_enterprise import NORTH_GATE, RECEIVER, SENDER, SOUTH_GATE, Enterprise
from core_network import PLAIN, TRANSACTIONAL, Network, guid, private
from core_ordering import in_sequence
from core_raw import Raw, establish, parameters, session_ack, user_message

from reference_qm.codec import (
    MessageClass,
    PrivateQueueFormatNameId,
    SessionHeader,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.core.transfer import message_routing
from reference_qm.core.transfer.admin_acks import NEGATIVE_ARRIVAL_FLAG
from reference_qm.surface.commands import PeekMessages
from reference_qm.surface.inputs import ResourcesChanged

PLAIN_NUMBER, TRANSACTIONAL_NUMBER = 1, 2
HIGHEST = 0x1D


def routed(number: int, *, to: int = 9, hops: int = 0, transactional: bool = False, **fields) -> UserMessagePacket:
    """Return a message from RAW for a private queue of the queue manager ``to``."""
    packet = in_sequence(number, **fields) if transactional else user_message(number, **fields)
    flags = UserHeader.flags(RC=hops, DM=packet.UserHeader.DM, DQ=3, MP=1, TH=int(transactional))
    header = replace(
        packet.UserHeader, Flags=flags, QueueManagerAddress=guid(to), DestinationQueue=PrivateQueueFormatNameId(7)
    )
    return replace(packet, UserHeader=header)


class Router:
    """A workgroup router between the sender RAW and the next hop 10.0.0.9; the test plays both."""

    def __init__(self) -> None:
        self.network = Network()
        self.network.by_hand.add("10.0.0.9")
        self.host = self.network.host(1, routes={guid(9): "10.0.0.9"})
        self.incoming = Raw.open(self.host)

    def next_hop(self) -> Raw:
        """Accept the router's session to the next hop; ``messages`` of the result has the messages sent on it."""
        raw = Raw.next_acceptor(self.host)
        request = raw.last.EstablishConnectionHeader
        same = {name: getattr(request, name) for name in ("ClientGuid", "TimeStamp", "OperatingSystem")}
        raw.feed(establish(ServerGuid=guid(9), **same), parameters())
        return raw


@pytest.fixture
def router() -> Router:
    return Router()


@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@pytest.mark.parametrize(("source", "to"), [(SENDER, RECEIVER), (RECEIVER, SENDER)])
def test_messages_of_every_kind_pass_two_gates(delivery, source, to):
    enterprise = Enterprise()
    tx = delivery == "transactional"
    queue, number = (TRANSACTIONAL, TRANSACTIONAL_NUMBER) if tx else (PLAIN, PLAIN_NUMBER)
    kind = {"express": {}, "recoverable": {"recoverable": True}, "transactional": {"transactional": True}}[delivery]
    for count in range(100):
        enterprise[source].send(private(to, number), str(count).encode(), **kind)
    enterprise.settle()
    assert enterprise[to].bodies(queue) == [str(count) for count in range(100)]
    for host in enterprise.hosts.values():
        assert all(not session["OutgoingMessageTable"] for session in host.adm()["Sessions"]), "order acks came back"


def test_the_message_that_arrives_is_the_one_that_was_sent():
    enterprise = Enterprise()
    number = enterprise[SENDER].send(
        private(RECEIVER, PLAIN_NUMBER),
        b"\x00body",
        label="a label",
        priority=6,
        recoverable=True,
        admin_queue=private(SENDER, 5),
        acks=frozenset({"positive_receive"}),
        response_queue=private(RECEIVER, 3),
        application_tag=77,
        time_to_be_received_s=3600,
    )
    enterprise.settle()
    (message,) = enterprise[RECEIVER].ask(PeekMessages(PLAIN))["messages"]
    assert (message["message_id"], message["source"]) == (number, str(guid(SENDER)))
    assert (message["label"], message["priority"], message["application_tag"]) == ("a label", 6, 77)
    assert message["admin_queue"] == private(SENDER, 5).upper()
    assert message["response_queue"] == private(RECEIVER, 3).upper()
    assert message["destination"] == private(RECEIVER, PLAIN_NUMBER).upper()


def test_routed_packet_changes_only_hop_count(router):
    packet = routed(5, transactional=True, body=b"unchanged", session=SessionHeader(UserMsgSequenceNumber=1))
    packet = replace(packet, SessionHeader=replace(packet.SessionHeader, RecoverableMsgSeqNumber=1, WindowSize=64))
    router.incoming.feed(packet)
    (onward,) = router.next_hop().messages
    header = packet.UserHeader
    wanted = replace(
        packet,
        BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~0x10),
        UserHeader=replace(header, Flags=header.Flags + 1),
        SessionHeader=None,
    )
    assert onward == parse_packet(wanted.build())
    assert onward.TransactionHeader == packet.TransactionHeader


@pytest.mark.parametrize("hops", [0, 1, HIGHEST - 1])
def test_each_router_increments_the_hop_count(router, hops):
    router.incoming.feed(routed(1, hops=hops))
    (onward,) = router.next_hop().messages
    assert hops + 1 == onward.UserHeader.RC


def test_acknowledgment_of_exceeded_hop_count_names_destination_queue_of_message(router):
    packet = routed(1, hops=HIGHEST)
    flags = packet.UserHeader.Flags | UserHeader.flags(AQ=2)
    header = replace(packet.UserHeader, Flags=flags, AdminQueue=PrivateQueueFormatNameId(5))
    properties = replace(packet.MessagePropertiesHeader, Flags=NEGATIVE_ARRIVAL_FLAG)
    router.incoming.feed(replace(packet, UserHeader=header, MessagePropertiesHeader=properties))
    (queue,) = router.host.core.adm.OutgoingQueues.values()
    (position,) = queue.session.OutgoingMessageTable
    acknowledgment = position.MessagePosition.MessageReference
    assert acknowledgment.Class is MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED
    assert acknowledgment.ResponseQueueFormatName == private(9, 7).upper()


def test_a_recoverable_message_is_acknowledged_and_sent_on_when_it_is_saved(router):
    router.host.disk = "slow"
    router.incoming.feed(routed(1, recoverable=True))
    router.network.advance(600)
    assert router.incoming.session["RecoverableMsgAckFlags"] == 0
    assert router.host.connects == []
    router.network.settle_disk()
    assert router.incoming.session["RecoverableMsgAckFlags"] == 1
    assert len(router.next_hop().messages) == 1


def test_a_message_that_cannot_be_saved_is_neither_acknowledged_nor_sent_on(router):
    router.host.disk = "broken"
    router.incoming.feed(routed(1, recoverable=True))
    assert "3.1.5.8.7" in router.incoming.closed
    assert router.host.connects == []
    router.host.disk = "works"
    router.incoming = Raw.open(router.host)
    router.incoming.feed(routed(1, recoverable=True))
    assert len(router.next_hop().messages) == 1, "it is no duplicate"


@pytest.mark.parametrize("recoverable", [False, True])
def test_throttled_router_closes_session_and_forwards_repeated_message_later(router, recoverable):
    router.host.handle(ResourcesChanged(low=True))
    router.incoming.feed(routed(1, recoverable=recoverable))
    assert "3.1.5.8.8" in router.incoming.closed
    router.host.handle(ResourcesChanged(low=False))
    router.incoming = Raw.open(router.host)
    router.incoming.feed(routed(1, recoverable=recoverable))
    assert len(router.next_hop().messages) == 1


@pytest.mark.parametrize("recoverable", [False, True])
def test_router_does_not_forward_a_duplicate(router, recoverable):
    router.incoming.feed(routed(1, recoverable=recoverable), routed(1, recoverable=recoverable))
    assert len(router.next_hop().messages) == 1
    assert router.incoming.session["MessageReceivedCount"] == 2


def test_router_forwards_a_repeated_transactional_message_again(router):
    router.incoming.feed(routed(1, transactional=True), routed(1, transactional=True))
    onward = router.next_hop().messages
    assert [one.TransactionHeader.TxSequenceNumber for one in onward] == [1, 1], "its destination says so"


def test_a_transactional_message_on_its_way_is_kept_until_the_session_acknowledges_it(router):
    router.incoming.feed(routed(1, transactional=True))
    hop = router.next_hop()
    (position,) = hop.session["OutgoingMessageTable"]
    assert position["TxSequenceNumber"] == 0
    assert hop.session["timers"]["TransactionalAckWait"] is None
    hop.feed(session_ack(AckSequenceNumber=1, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=1))
    assert hop.session["OutgoingMessageTable"] == []


def test_source_journal_is_kept_by_sender_and_not_by_router():
    enterprise = Enterprise()
    enterprise[SENDER].send(private(RECEIVER, 1), b"journaled", recoverable=True, journal=frozenset({"positive"}))
    enterprise.settle()
    assert enterprise[RECEIVER].bodies() == ["journaled"]
    journals = {number: host.bodies("system$;journal") for number, host in enterprise.hosts.items()}
    assert journals == {SENDER: ["journaled"], NORTH_GATE: [], SOUTH_GATE: [], RECEIVER: []}


def test_message_that_expires_at_a_router_is_dropped_by_the_router():
    enterprise = Enterprise()
    enterprise[SOUTH_GATE].reachable = False
    enterprise[SENDER].send(
        private(RECEIVER, 1), b"late", time_to_reach_queue_s=60, recoverable=True, journal=frozenset({"negative"})
    )
    enterprise.settle(70)
    enterprise[SOUTH_GATE].reachable = True
    enterprise.settle()
    assert enterprise[RECEIVER].bodies() == []
    assert enterprise[NORTH_GATE].bodies("system$;deadletter") == ["late"]


def test_direct_name_for_foreign_queue_manager_is_not_forwarded(router):
    router.incoming.feed(user_message(1, recoverable=True, QueueManagerAddress=guid(9)))
    assert router.host.connects == []
    assert router.incoming.session["RecoverableMsgAckFlags"] == 0


def test_full_router_accepts_no_further_message():
    network = Network()
    host = network.host(1, routes={guid(9): "10.0.0.9"}, max_outgoing_messages=2)
    incoming = Raw.open(host)
    incoming.feed(*(routed(number, recoverable=True) for number in range(1, 5)))
    (queue,) = host.core.adm.OutgoingQueues.values()
    assert len(queue.session.OutgoingMessageTable) == 2
    assert incoming.session["RecoverableMsgAckFlags"] == 0b0011


def test_unknown_sender_cannot_exceed_limit_of_outgoing_queues(router, monkeypatch):
    monkeypatch.setattr(message_routing, "OUTGOING_QUEUES_LIMIT", 2)
    router.incoming.feed(routed(1, to=7), routed(2, to=8), routed(3, to=9), routed(4, to=8))
    queues = router.host.core.adm.OutgoingQueues.values()
    assert [len(queue.session.OutgoingMessageTable) for queue in queues] == [1, 2]


def test_a_final_ack_of_one_source_does_not_mean_the_message_of_another():
    """A router distinguishes its own transactional message from a routed message with the same ordinal: a FinalAck for
    one does not complete the other.
    """
    enterprise = Enterprise()
    gate = enterprise[NORTH_GATE]
    enterprise[SOUTH_GATE].reachable = False
    gate.send(private(RECEIVER, TRANSACTIONAL_NUMBER), b"own", transactional=True)
    enterprise[SENDER].send(private(RECEIVER, TRANSACTIONAL_NUMBER), b"routed", transactional=True)
    (queue,) = gate.core.adm.OutgoingQueues.values()
    table = queue.session.OutgoingMessageTable
    assert [one.UserMessage.UserHeader.MessageID for one in table] == [1, 1]
    for one in table:
        assert table.find(one.UserMessage.UserHeader.SourceQueueManager, 1) is one
    enterprise[SOUTH_GATE].reachable = True
    enterprise.settle()
    assert sorted(enterprise[RECEIVER].bodies(TRANSACTIONAL)) == ["own", "routed"]


@pytest.mark.parametrize("kind", [{"recoverable": True}, {"transactional": True}])
def test_messages_that_a_router_accepted_survive_its_process(kind):
    network = Network()
    enterprise = Enterprise(network=network)
    enterprise[SOUTH_GATE].reachable = False
    queue, number = (TRANSACTIONAL, TRANSACTIONAL_NUMBER) if "transactional" in kind else (PLAIN, PLAIN_NUMBER)
    name = private(RECEIVER, enterprise[RECEIVER].core.adm.QueueCollection[queue].PrivateQueueNumber or number)
    for count in range(5):
        enterprise[SENDER].send(name, str(count).encode(), **kind)
    enterprise.settle(2)
    network.kill(enterprise[NORTH_GATE])
    (outgoing,) = enterprise[NORTH_GATE].core.adm.OutgoingQueues.values()
    assert [one.TxSequenceNumber for one in outgoing.session.OutgoingMessageTable] == [0] * 5
    network.kill(enterprise[SENDER])
    enterprise[SOUTH_GATE].reachable = True
    enterprise.settle(120)
    assert enterprise[RECEIVER].bodies(queue) == ["0", "1", "2", "3", "4"]
    for host in enterprise.hosts.values():
        assert all(not session["OutgoingMessageTable"] for session in host.adm()["Sessions"])
