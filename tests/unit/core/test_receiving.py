"""MS-MQQB 3.1.5.8, 3.1.5.8.1, 3.1.5.8.4, 3.1.5.8.7: receiving messages, their counts, and when they are acknowledged.

The timers: MS-MQQB 3.1.6.4, 3.1.6.7. The packets of messages: MS-MQQB 3.1.7.10, 3.1.7.11, MS-MQDMPR 3.1.7.1.31.
"""

import base64
from dataclasses import replace

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, guid
from core_raw import RAW, Raw, user_message

from reference_qm.codec import UserHeader, parse_packet
from reference_qm.surface.commands import PeekMessages, ReceiveMessage


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


@pytest.mark.parametrize("prefix", ["", "DIRECT="])
def test_queue_names_are_found_in_any_case_and_form(raw, prefix):
    raw.feed(user_message(1, queue="PRIVATE$\\PLAIN"))
    message = user_message(2)
    name = type(message.UserHeader.DestinationQueue)(f"{prefix}TCP:127.0.0.1\\private$\\plain")
    raw.feed(user_message(2, DestinationQueue=name))
    assert len(raw.host.bodies()) == 2


def test_messages_are_in_order_of_arrival_within_priority(raw):
    for ordinal, priority in enumerate((3, 3, 7, 0, 7, 3), 1):
        raw.feed(user_message(ordinal, priority=priority, body=str(ordinal).encode()))
    assert raw.host.bodies() == ["3", "5", "1", "2", "6", "4"]


DISREGARDED = {
    "unknown queue": user_message(1, recoverable=True, queue="private$\\nothing"),
    "transactional queue": user_message(1, recoverable=True, queue=TRANSACTIONAL),
    "expired": user_message(1, recoverable=True, life_s=10, SentTime=1_800_000_000 - 11),
    "no destination": user_message(1, recoverable=True, Flags=UserHeader.flags(DM=1, MP=1), DestinationQueue=None),
}


@pytest.mark.parametrize("name", DISREGARDED)
def test_discarded_message_is_counted_and_acknowledged(raw, name):
    raw.feed(DISREGARDED[name])
    assert counts(raw) == (1, 1, 1)
    raw.host.network.advance(600)
    (ack,) = raw.acks
    assert (ack.AckSequenceNumber, ack.RecoverableMsgAckSeqNumber, ack.RecoverableMsgAckFlags) == (1, 1, 1)
    assert on_disk(raw) == ["history"]
    for queue in (PLAIN, TRANSACTIONAL):
        assert raw.host.bodies(queue) == []


def test_message_at_the_end_of_its_lifetime_is_accepted(raw):
    raw.feed(user_message(1, life_s=10, SentTime=1_800_000_000 - 10))
    assert len(raw.host.bodies()) == 1


def test_message_for_foreign_queue_manager_is_counted_but_not_acknowledged_as_recoverable(raw):
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


def test_duplicate_message_is_counted_and_discarded(raw):
    raw.feed(user_message(1, body=b"once"), user_message(1, body=b"twice"))
    assert raw.host.bodies() == ["once"]
    assert counts(raw) == (2, 0, 2)


def test_the_same_ordinal_of_another_source_is_no_duplicate(raw):
    raw.feed(user_message(1, body=b"one"), user_message(1, body=b"other", SourceQueueManager=guid(8)))
    assert raw.host.bodies() == ["one", "other"]


def test_history_entries_of_a_fast_clock_do_not_prevent_cleanup(raw):
    """Spec: MS-MQQB 3.1.6.7."""
    network = raw.host.network
    right = network.now
    network.now = replace(right, utc_s=right.utc_s + 100_000)
    raw.feed(user_message(1))
    network.now = right
    raw.feed(user_message(2))
    network.advance(4_000_000)
    table = raw.host.adm()["QueueManager"]["MessageIDHistoryTable"]
    assert [entry["MessageIdentifier"]["Ordinal"] for entry in table] == [1]


# -- acknowledgments ---------------------------------------------------------------------------------------------


def test_a_full_window_of_the_sender_is_acknowledged_at_once():
    raw = Raw.open(Network().host(1), WindowSize=3)
    raw.feed(user_message(1), user_message(2))
    assert raw.acks == []
    raw.feed(user_message(3))
    assert [ack.AckSequenceNumber for ack in raw.acks] == [3]


def on_disk(raw) -> list[str]:
    """Return the kinds of the entries that the host has written to its disk."""
    return [name.partition(":")[0] for persist in raw.host.persists for name in persist.record]


# -- disk --------------------------------------------------------------------------------------------------------


def test_recoverable_message_is_persisted_with_its_received_bytes(raw):
    packet = user_message(1, recoverable=True)
    raw.feed(packet)
    (persist,) = raw.host.persists
    message, _ = persist.record.values()
    assert message["in"] == "queue:1"
    assert parse_packet(base64.b64decode(message["packet"])) == parse_packet(packet.build())


def test_only_history_entry_of_express_message_is_persisted(raw):
    raw.feed(user_message(1))
    assert on_disk(raw) == ["history"]


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


def test_hanging_disk_closes_the_session_before_message_numbers_repeat(raw, monkeypatch):
    monkeypatch.setattr("reference_qm.core.transfer.message_receiving.UNSAVED_MESSAGES_LIMIT", 3)
    raw.host.disk = "slow"
    raw.feed(*(user_message(ordinal, recoverable=True) for ordinal in range(1, 4)))
    assert raw.closed is None
    raw.feed(user_message(4))
    assert "waiting for the disk" in raw.closed


# -- a SessionHeader on a message --------------------------------------------------------------------------------


def test_received_message_keeps_its_source_identifier(raw):
    raw.feed(user_message(7))
    (message,) = raw.host.ask(PeekMessages(PLAIN))["messages"]
    assert message["message_id"] == f"{{{RAW}}}\\7"
