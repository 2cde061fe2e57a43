"""MS-MQQB 3.1.5.11: administration acknowledgments are received as every message is (MS-MQQB 3.1.5.8)."""

from dataclasses import replace

import pytest
from core_network import PLAIN, Host, Network
from core_raw import Raw, user_message

from reference_qm.codec import MessageClass, MessageIdentifier
from reference_qm.surface.commands import SetQueue

KINDS = [one for one in MessageClass if "ACK_" in one.name and "ORDER" not in one.name]


@pytest.fixture
def host() -> Host:
    return Network().host(1)


def acknowledgment(kind, ordinal=5, **fields):
    """Return the packet of an administration acknowledgment, as its sender makes it."""
    packet = user_message(ordinal, recoverable=True, **fields)
    correlation = MessageIdentifier(packet.UserHeader.SourceQueueManager, 1).build()
    properties = replace(packet.MessagePropertiesHeader, MessageClass=kind, CorrelationID=correlation)
    return replace(packet, MessagePropertiesHeader=properties)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_it_arrives_in_the_queue_that_it_names_with_its_class(host, kind):
    raw = Raw.accepted(host)
    raw.feed(acknowledgment(kind))
    (position,) = host.core.adm.QueueCollection[PLAIN].MessagePositionList
    assert position.MessageReference.Class == kind
    assert raw.session["RecoverableMessageReceivedCount"] == 1


def test_one_that_came_before_is_disregarded(host):
    raw = Raw.accepted(host)
    raw.feed(acknowledgment(MessageClass.MQMSG_CLASS_ACK_RECEIVE), acknowledgment(MessageClass.MQMSG_CLASS_ACK_RECEIVE))
    assert host.bodies() == ["body"]
    assert raw.session["MessageReceivedCount"] == 2


def test_one_for_a_full_queue_is_refused(host):
    host.ask(SetQueue(PLAIN, quota_kb=0))
    raw = Raw.accepted(host)
    raw.feed(acknowledgment(MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE))
    assert host.bodies() == []
    assert raw.session["MessageReceivedCount"] == 1
