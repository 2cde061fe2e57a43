"""MS-MQQB 3.1.5.8, 3.1.5.8.1, 3.1.5.8.4, 3.1.5.8.7: receiving messages, what is counted, what is acknowledged and when.

The timers: MS-MQQB 3.1.6.4, 3.1.6.7. The packets of messages: MS-MQQB 3.1.7.10, 3.1.7.11, MS-MQDMPR 3.1.7.1.31.
"""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, guid
from core_raw import Raw, user_message

from reference_qm.surface.commands import ReceiveMessage


@pytest.fixture
def raw():
    return Raw.open(Network().host(1))


def counts(raw):
    session = raw.session
    return (
        session["MessageReceivedCount"],
        session["RecoverableMessageReceivedCount"],
        session["UnackedReceivedMsgCount"],
    )


def test_messages_are_in_order_of_arrival_within_priority(raw):
    for ordinal, priority in enumerate((3, 3, 7, 0, 7, 3), 1):
        raw.feed(user_message(ordinal, priority=priority, body=str(ordinal).encode()))
    assert raw.host.bodies() == ["3", "5", "1", "2", "6", "4"]


def test_a_message_that_is_not_taken_over_is_counted_but_not_flagged(raw):
    left = user_message(1, recoverable=True, QueueManagerAddress=guid(5))
    raw.feed(left, user_message(2, recoverable=True, body=b"taken"))
    assert counts(raw) == (2, 2, 2)
    assert (raw.host.bodies(), raw.host.bodies(TRANSACTIONAL)) == (["taken"], [])
    raw.host.network.advance(600)
    (ack,) = raw.acks
    assert (ack.AckSequenceNumber, ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) == (2, 2, 1)
    raw.feed(left)
    raw.host.network.advance(20_000)
    assert raw.acks[-1].RecoverableMsgAckFlags == 0, "nor when it comes again"


# -- duplicates -------------------------------------------------------------------------------------------------


# -- acknowledgments ---------------------------------------------------------------------------------------------


# -- disk --------------------------------------------------------------------------------------------------------


def test_a_message_is_neither_acknowledged_nor_received_before_it_is_on_disk(raw):
    raw.host.disk = "slow"
    raw.feed(user_message(1, recoverable=True, body=b"slow"))
    raw.feed(user_message(2, body=b"behind"))
    assert raw.host.ask(ReceiveMessage(PLAIN))["message"] is None, "order is kept"
    raw.host.network.advance(15_000)
    assert [(ack.AckSequenceNumber, ack.RecoverableMsgAckFlags) for ack in raw.acks] == [(2, 0)]
    raw.host.disk = "works"
    raw.host.network.settle_disk()
    raw.host.network.advance(600)
    assert (raw.acks[-1].RecoverableMsgAckSeqNumber, raw.acks[-1].RecoverableMsgAckFlags) == (1, 1)
    assert raw.host.ask(ReceiveMessage(PLAIN))["message"]["body"] == "slow"
    assert raw.host.bodies() == ["behind"]


def test_messages_that_wait_for_the_disk_are_acknowledged_as_received_once_for_each_window(raw):
    raw.host.disk = "slow"
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 201)))
    assert [(ack.AckSequenceNumber, ack.RecoverableMsgAckFlags) for ack in raw.acks] == [(64, 0), (128, 0), (192, 0)]


def test_flags_are_set_in_sequence_whatever_order_the_disk_answers_in(raw):
    raw.host.disk = "slow"
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 4)))
    raw.host.network.settle_disk(lambda slow: slow[1:])
    raw.host.network.advance(15_000)
    assert {ack.RecoverableMsgAckFlags for ack in raw.acks} == {0}, "the first is not on disk"


def test_a_duplicate_of_a_message_on_its_way_to_disk_waits_with_it(raw):
    raw.host.disk = "slow"
    raw.feed(user_message(1, recoverable=True))
    again = Raw.open(raw.host)
    again.feed(user_message(1, recoverable=True))
    again.host.network.advance(15_000)
    assert [ack.RecoverableMsgAckFlags for ack in again.acks] == [0]
    raw.host.network.settle_disk()
    raw.host.network.advance(600)
    assert (again.acks[-1].RecoverableMsgAckSeqNumber, again.acks[-1].RecoverableMsgAckFlags) == (1, 1)
    assert len(raw.host.bodies()) == 1


def test_a_message_that_cannot_be_saved_is_forgotten_and_the_session_closed(raw):
    raw.host.disk = "broken"
    raw.feed(user_message(1, recoverable=True))
    assert "disk full" in raw.closed
    assert raw.host.bodies() == []
    raw.host.disk = "works"
    again = Raw.open(raw.host)
    again.feed(user_message(1, recoverable=True))
    assert len(raw.host.bodies()) == 1


def test_a_disk_that_stands_still_closes_the_session_before_numbers_repeat(raw, monkeypatch):
    monkeypatch.setattr("reference_qm.core.transfer.receiving.UNSAVED_LIMIT", 3)
    raw.host.disk = "slow"
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 4)))
    assert raw.closed is None
    raw.feed(user_message(4))
    assert "wait for the disk" in raw.closed


# -- a SessionHeader on a message --------------------------------------------------------------------------------
