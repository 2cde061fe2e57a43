"""MS-MQSO 3.3.4.2, 3.3.4.6: queries beside an open cursor, and messages that an application receives."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.applications import Application


@needs("receive", "queues")
@covers("MQSO-3.3.4.2-D01")
def test_query_of_queue_leaves_cursor_in_place(peer, sut, judge):
    """A cursor has passed two of three messages. After two queries of the queue and one query of its messages, the
    cursor continues with the third message.
    """
    application = Application(peer, sut)
    application.store("first", "second", "third")
    handle = sut.control.call("open_queue", queue=application.queue, access="peek")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    before = [
        sut.read_label("peek_message", cursor=cursor),
        sut.read_label("peek_next", cursor=cursor),
    ]
    for _ in range(2):
        sut.control.call("get_queue", name=application.queue)
    labels = application.labels()
    after = sut.read_label("peek_next", cursor=cursor)
    sut.control.call("close_queue", handle=handle)
    judge(
        "MQSO-3.3.4.2-D01",
        expected=facts(before=["first", "second"], labels=["first", "second", "third"], after="third"),
        observed={"before": before, "labels": labels, "after": after},
    )


@needs("receive", "queues", "restart")
@covers("MQSO-3.3.4.6-D02")
def test_received_message_stays_removed_after_restart(peer, sut, judge):
    """An application receives the first of three recoverable messages, and the third by its LookupIdentifier. Only the
    second message is in the queue, before and after a restart.
    """
    application = Application(peer, sut)
    application.fill_queue("first", "second", "third")
    received = [application.receive(), application.receive_by_label("third")]
    before = application.labels()
    sut.restart()
    observed = {"received": received, "queue": before, "queue_after_the_restart": application.labels()}
    expected = facts(received=["first", "third"], queue=["second"], queue_after_the_restart=["second"])
    judge("MQSO-3.3.4.6-D02", expected=expected, observed=observed)
