"""MS-MQQB 3.1.5.8.2, 3.1.5.8.5, 3.1.5.8.7, 3.1.5.8.8: messages for another queue manager."""

from __future__ import annotations

from dataclasses import replace

import pytest
from core_enterprise import NORTH_GATE, RECEIVER, SENDER, SOUTH_GATE, Enterprise
from core_network import Network, guid, private
from core_ordering import in_sequence
from core_raw import Raw, establish, parameters, user_message

from reference_qm.codec import (
    PrivateQueueFormatNameId,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.transfer import routing


def routed(number: int, *, to: int = 9, hops: int = 0, transactional: bool = False, **fields) -> UserMessagePacket:
    """Return a message of RAW for a private queue of another queue manager."""
    packet = in_sequence(number, **fields) if transactional else user_message(number, **fields)
    flags = UserHeader.flags(RC=hops, DM=packet.UserHeader.DM, DQ=3, MP=1, TH=int(transactional))
    header = replace(
        packet.UserHeader, Flags=flags, QueueManagerAddress=guid(to), DestinationQueue=PrivateQueueFormatNameId(7)
    )
    return replace(packet, UserHeader=header)


class Router:
    """A workgroup router between RAW, which sends, and 10.0.0.9, which the test plays too."""

    def __init__(self) -> None:
        self.network = Network()
        self.network.by_hand.add("10.0.0.9")
        self.host = self.network.host(1, routes={guid(9): "10.0.0.9"})
        self.incoming = Raw.open(self.host)

    def next_hop(self) -> Raw:
        """Accept the session to the next hop; what was sent on it is in ``messages``."""
        raw = Raw.next_acceptor(self.host)
        request = raw.last.EstablishConnectionHeader
        same = {name: getattr(request, name) for name in ("ClientGuid", "TimeStamp", "OperatingSystem")}
        raw.feed(establish(ServerGuid=guid(9), **same), parameters())
        return raw


@pytest.fixture
def router() -> Router:
    return Router()


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


def test_a_message_that_expires_at_a_router_is_dropped_there():
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


def test_an_unknown_sender_opens_no_end_of_queues_but_known_ones_go_on(router, monkeypatch):
    monkeypatch.setattr(routing, "OUTGOING_QUEUES_LIMIT", 2)
    router.incoming.feed(routed(1, to=7), routed(2, to=8), routed(3, to=9), routed(4, to=8))
    queues = router.host.core.adm.OutgoingQueues.values()
    assert [len(queue.session.OutgoingMessageTable) for queue in queues] == [1, 2]
