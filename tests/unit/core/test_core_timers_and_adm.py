"""Timers, and the representation of the elements of the abstract data model."""

from dataclasses import fields
from uuid import UUID

from reference_qm.codec import MessageIdentifier
from reference_qm.core.dispatch import HANDLER_BY_TIMER_NAME
from reference_qm.model.adm import (
    MessageIDHistoryEntry,
    Session,
)
from reference_qm.model.tables import MESSAGE_ID_HISTORY_SIZE, MessageIDHistoryTable
from reference_qm.model.timers import TimerKey, TimerName, Timers

ONE = TimerKey(TimerName.SESSION_CLEANUP, 1)
TWO = TimerKey(TimerName.SESSION_ACK_SEND, 1)


def test_timers_expire_in_order_of_their_time():
    timers = Timers()
    timers.start(ONE, 0, 20)
    timers.start(TWO, 0, 10)
    assert timers.next_due() == 10
    assert [timers.pop_due_timer(9), timers.pop_due_timer(20), timers.pop_due_timer(20), timers.pop_due_timer(99)] == [
        None,
        TWO,
        ONE,
        None,
    ]


def test_restarted_timer_expires_once():
    timers = Timers()
    timers.start(ONE, 0, 10)
    timers.start(ONE, 5, 10)
    assert timers.pop_due_timer(10) is None
    assert timers.get_remaining_ms(ONE, 10) == 5
    assert timers.pop_due_timer(15) == ONE
    assert timers.next_due() is None


def test_a_stopped_timer_does_not_expire():
    timers = Timers()
    timers.start(ONE, 0, 10)
    timers.stop(ONE)
    timers.stop(ONE)
    assert (timers.is_running(ONE), timers.next_due(), timers.get_remaining_ms(ONE, 0)) == (False, None, None)


def test_no_timer_expires_in_the_instant_it_is_started():
    timers = Timers()
    timers.start(ONE, 7, 0)
    assert timers.next_due() == 8


def test_timer_reports_its_elapsed_fraction():
    timers = Timers()
    assert timers.compute_elapsed_share(ONE, 0) == 0.0
    timers.start(ONE, 100, 400)
    assert [timers.compute_elapsed_share(ONE, now) for now in (100, 400, 500, 900)] == [0.0, 0.75, 1.0, 1.0]


def test_repeated_restart_of_timer_takes_no_memory():
    timers = Timers()
    for now_ms in range(10_000):
        timers.start(ONE, now_ms, 1_000_000)
    assert len(timers._heap) < 100
    assert timers.next_due() == 1_009_999


WIDTHS = {
    "MessageSentCount": 16,
    "RecoverableMessageSentCount": 16,
    "MessageReceivedCount": 16,
    "RecoverableMessageReceivedCount": 16,
    "LastAckedRecoverableMsgSeqNumber": 16,
    "RecoverableMsgAckFlags": 32,
    "UnackedReceivedMsgCount": 16,
    "OutgoingTxSequenceNumber": 32,
    "IncomingTxSequenceNumber": 32,
}
"""The widths of the elements in bits, as MS-MQQB 3.1.1.3.1 prints them."""


def test_session_elements_have_the_printed_widths():
    declared = {one.name: one.metadata for one in fields(Session) if one.name[0].isupper()}
    assert {name: declared[name]["width"] for name in WIDTHS} == WIDTHS


def test_message_history_is_bounded_and_drops_earliest_entries():
    table = MessageIDHistoryTable()
    source = UUID(int=1)
    for ordinal in range(MESSAGE_ID_HISTORY_SIZE):
        table.insert(MessageIDHistoryEntry(MessageIdentifier(source, ordinal), ordinal))
    table.insert(MessageIDHistoryEntry(MessageIdentifier(source, 0), 99_999))
    table.insert(MessageIDHistoryEntry(MessageIdentifier(source, 77_777), 99_999))
    assert len(table) == MESSAGE_ID_HISTORY_SIZE == 10_000
    assert table.find(source, 0) is not None, "it was seen again"
    assert table.find(source, 1) is None


def test_every_timer_that_is_started_has_an_event():
    assert HANDLER_BY_TIMER_NAME.keys() == set(TimerName)
