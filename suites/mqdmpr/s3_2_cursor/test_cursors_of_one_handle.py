"""MS-MQDMPR 3.2 Cursor: several cursors of one handle."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

pytestmark = needs("queue_control", "receive")


@covers("MQDMPR-3.2.7.1-07", "MQDMPR-3.2.7.3-20")
def test_cursors_of_one_handle_move_independently(peer, sut, judge):
    """The cursor of a handle is at the second message when two more cursors are opened through the handle. Both new
    cursors start before the first message, and a move of one cursor does not move the others.
    """
    application = Application(peer, sut)
    packets = application.fill_queue(*"abcde")
    handle = application.call("open_queue", queue=application.queue, access="peek")["handle"]

    def open_cursor():
        return application.call("open_cursor", handle=handle)["cursor"]

    def read_label_by_cursor(verb, cursor):
        return sut.read_label(verb, cursor=cursor)

    first = open_cursor()
    moved = [read_label_by_cursor("peek_message", first), read_label_by_cursor("peek_next", first)]
    second, third = open_cursor(), open_cursor()
    started = [read_label_by_cursor("peek_message", cursor) for cursor in (second, third)]
    judge(
        "MQDMPR-3.2.7.1-07",
        expected=facts(first_cursor=[*"ab"], new_cursors=["a", "a"]),
        observed={"first_cursor": moved, "new_cursors": started},
        evidence=packets,
    )
    moves = [
        read_label_by_cursor("peek_next", first),
        read_label_by_cursor("peek_next", second),
        read_label_by_cursor("peek_next", first),
    ]
    stays = [read_label_by_cursor("peek_message", cursor) for cursor in (first, second, third)]
    moves += [read_label_by_cursor("peek_next", third), read_label_by_cursor("peek_next", second)]
    judge(
        "MQDMPR-3.2.7.3-20",
        expected=facts(moves=[*"cbdbc"], positions_between=[*"dba"]),
        observed={"moves": moves, "positions_between": stays},
        evidence=packets,
    )


@covers("MQDMPR-3.2.7.4-20", "MQDMPR-3.2.7.4-21")
def test_receive_by_cursor_returns_message_of_its_own_cursor(peer, sut, judge):
    """Two cursors of one handle are open, one of them at the second message. Two receives by the other cursor return
    the first and the second message; a peek by this cursor then returns the third.
    """
    application = Application(peer, sut)
    packets = application.fill_queue(*"abcd")
    handle = application.call("open_queue", queue=application.queue, access="receive")["handle"]
    receiving, beside = (application.call("open_cursor", handle=handle)["cursor"] for _ in range(2))
    moves = [sut.read_label(verb, cursor=beside) for verb in ("peek_message", "peek_next")]
    received = [sut.read_label("receive", cursor=receiving) for _ in range(2)]
    then = sut.read_label("peek_message", cursor=receiving)
    judge.all(
        expected=facts(moves_of_other_cursor=[*"ab"], receives=[*"ab"], peek_afterwards="c"),
        observed={"moves_of_other_cursor": moves, "receives": received, "peek_afterwards": then},
        evidence=packets,
    )


@needs("subqueues")
@covers(
    "MQDMPR-3.1.7.1.14-08",
    "MQDMPR-3.2.7.2-27",
    "MQDMPR-3.2.7.3-21",
    "MQDMPR-3.1.7.1.15-10",
    "MQDMPR-3.1.7.1.15-58",
)
def test_cursor_at_moved_message_finds_only_next_message(peer, sut, judge):
    """Two cursors are at a message that is moved to a subqueue. The SUT refuses a peek at this message by the first
    cursor. A peek at the next message by the second cursor returns the next message. A cursor at another message still
    returns that message. A cursor of the subqueue reaches two messages that were moved.
    """
    application = Application(peer, sut)
    packets = application.fill_queue(*"abcd")
    handle = application.call("open_queue", queue=application.queue, access="peek")["handle"]
    cursors = [application.call("open_cursor", handle=handle)["cursor"] for _ in range(3)]
    for number, cursor in enumerate(cursors):
        sut.read_label("peek_message", cursor=cursor)
        if number < 2:
            sut.read_label("peek_next", cursor=cursor)
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue)
    application.call("move", queue=application.queue, lookup_id=application.get_lookup_ids_by_label()["b"], to=subqueue)
    outcomes = [sut.attempt("peek_message", cursor=cursor, timeout_ms=0) for cursor in cursors[:2]]
    other = sut.read_label("peek_message", cursor=cursors[2])
    judge(
        "MQDMPR-3.2.7.2-27",
        expected=facts(peeks_at_the_moved_message=[Outcome.REFUSED] * 2, peek_at_another_message="a"),
        observed={"peeks_at_the_moved_message": outcomes, "peek_at_another_message": other},
        evidence=packets,
    )
    following = [sut.read_label("peek_next", cursor=cursor) for cursor in cursors]
    case = "peeks at the next message"
    rules = ("MQDMPR-3.1.7.1.14-08", "MQDMPR-3.2.7.3-21")
    judge(*rules, expected=[*"ccc"], observed=following, case=case, evidence=packets)
    application.call("move", queue=application.queue, lookup_id=application.get_lookup_ids_by_label()["c"], to=subqueue)
    opened = application.call("open_queue", queue=subqueue, access="peek")["handle"]
    cursor = application.call("open_cursor", handle=opened)["cursor"]
    reads = [
        PendingRequest(peer, verb, cursor=cursor, timeout_ms=0).await_label()
        for verb in ("peek_message", "peek_next", "peek_message")
    ]
    reads.append(sut.read_label("peek_message", queue=subqueue))
    judge(
        "MQDMPR-3.1.7.1.15-10",
        "MQDMPR-3.1.7.1.15-58",
        expected=[*"bccb"],
        observed=reads,
        case="peeks at the subqueue, by a cursor and without a cursor",
        evidence=packets,
    )
