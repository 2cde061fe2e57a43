"""MS-MQDMPR 3.1.2 Timers: several pending reads and several messages, each with its own time."""

from __future__ import annotations

from harness.expectations import facts, in_queue, one_of
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import Application, PendingRequest

MESSAGE_LIFETIME_S = 5


@needs("receive", "queues")
@covers("MQDMPR-3.1.2.3-02", "MQDMPR-3.1.2.3-03", "MQDMPR-3.1.2.3-D01")
def test_each_pending_read_expires_at_its_own_time(peer, sut, judge):
    """Five reads of a queue wait. A receive, a peek by a cursor and a receive through a second handle have finite
    timeouts; a receive and a peek have an infinite timeout. The reads with finite timeouts end without a message, each
    after its own timeout. Then two messages arrive: the receive with the infinite timeout gets one of them, and the
    other stays in the queue.
    """
    application = Application(peer, sut)
    queue = application.queue
    first, second = (application.call("open_queue", queue=queue, access="receive")["handle"] for _ in range(2))
    cursor = application.call("open_cursor", handle=first)["cursor"]
    reads = {
        "receive for 1 s": PendingRequest(peer, "receive", handle=first, timeout_ms=1_000),
        "peek by a cursor for 3 s": PendingRequest(peer, "peek_message", cursor=cursor, timeout_ms=3_000),
        "receive by another handle for 5 s": PendingRequest(peer, "receive", handle=second, timeout_ms=5_000),
        "infinite peek": PendingRequest(peer, "peek_message", handle=second, timeout_ms=None),
        "infinite receive": PendingRequest(peer, "receive", handle=first, timeout_ms=None),
    }
    answered = {}
    for time_ms in (2_000, 4_000, 6_000):
        peer.pass_time(2_000)
        answered[f"after {time_ms // 1_000} s"] = [name for name, read in reads.items() if read.is_answered()]
    ended = {name: read.await_label() for name, read in reads.items() if "infinite" not in name and read.is_answered()}
    frames = [peer.open_raw().send(application.build_message(label)) for label in ("first", "second")]
    received = {name: reads[name].await_label() for name in ("infinite peek", "infinite receive")}
    labels = application.labels()
    names = list(reads)
    expected = {f"after {2 * number} s": names[:number] for number in (1, 2, 3)}
    judge("MQDMPR-3.1.2.3-02", expected=expected, observed=answered, case="reads that have ended", evidence=frames)
    judge(
        "MQDMPR-3.1.2.3-D01",
        expected=dict.fromkeys(names[:3], Outcome.NOTHING) | {"queue": in_queue("second")},
        observed=ended | {"queue": labels},
        evidence=frames,
    )
    judge(
        "MQDMPR-3.1.2.3-03",
        expected={"infinite peek": one_of("first", "second"), "infinite receive": "first"},
        observed=received,
        case="labels returned by the reads",
        evidence=frames,
    )


@needs("receive", "queues")
@covers("MQDMPR-3.1.2.4-D01")
def test_each_message_expires_at_its_own_time(peer, sut, judge):
    """Five messages have different lifetimes. An express and a recoverable message have short lifetimes, one message
    has a shorter lifetime than an earlier message, and one message has no limit. Each message leaves its queue when its
    own lifetime ends, also after a restart.
    """
    application = Application(peer, sut)
    other = Application(peer, sut)
    connection = peer.open_raw()
    lifetimes = {
        "longer": 4 * MESSAGE_LIFETIME_S,
        "express": MESSAGE_LIFETIME_S,
        "recoverable": MESSAGE_LIFETIME_S,
        "no limit": 0xFFFF_FFFF,
    }
    for label, lifetime_s in lifetimes.items():
        user = {"DM": int(label != "express"), "TimeToBeReceived": lifetime_s}
        headers = {"label": label, "destination": rf"TCP:{sut.address}\{application.queue}"}
        connection.send(peer.message(user, **headers))
    limit = {"DM": 1, "TimeToBeReceived": 3 * MESSAGE_LIFETIME_S}
    connection.send(other.build_message("elsewhere", limit))
    connection.require_session_ack_for_message()
    application.await_message_count(len(lifetimes))
    observed = {"at once": application.labels()}
    peer.pass_time((MESSAGE_LIFETIME_S + 2) * 1_000)
    observed["after the short lifetimes"] = application.labels()
    if sut.has("restart"):
        sut.restart()
    elsewhere = other.labels()
    peer.pass_time(3 * MESSAGE_LIFETIME_S * 1_000)
    observed["after all lifetimes"] = application.labels()
    judge(
        "MQDMPR-3.1.2.4-D01",
        expected={
            "at once": in_queue(*lifetimes),
            "after the short lifetimes": in_queue("longer", "no limit"),
            "after all lifetimes": in_queue("no limit"),
            "other_queue": facts(before=in_queue("elsewhere"), after=in_queue()),
        },
        observed=observed | {"other_queue": {"before": elsewhere, "after": other.labels()}},
        evidence=connection.sent,
    )


@needs("qm2qm")
@covers("MQDMPR-3.1.2.4-01")
def test_message_that_expires_while_locked_leaves_queue(remote, judge):
    """A remote reader locks a message until after its TimeToBeReceived has expired, and then returns it. The message
    leaves the queue, and a message without a limit stays there.
    """
    queue = remote.open_with_messages()
    remote.deliver(["expires"], TimeToBeReceived=MESSAGE_LIFETIME_S)
    remote.deliver(["stays"])
    held = queue.start_receive().expect_success()
    remote.peer.pass_time((MESSAGE_LIFETIME_S + 2) * 1_000)
    given_back = queue.put_message_back(held)
    remote.peer.eventually(lambda: queue.labels() == ["stays"])
    judge(
        "MQDMPR-3.1.2.4-01",
        expected={"locked message": "expires", "queue": in_queue("stays")},
        observed={"locked message": held.label_or_outcome, "queue": queue.labels()},
        evidence=[held, given_back],
    )


@needs("send", "receive", "transactions", "queues")
@covers("MQDMPR-3.1.2.4-01")
def test_message_that_expires_during_transaction_leaves_queue(peer, sut, judge):
    """An application of the SUT sends transactional messages to a local queue. A transaction receives one of them, and
    aborts after the TimeToBeReceived of this message and of a second one has expired. Both messages leave the queue,
    and a message without a limit stays there.
    """
    application = Application(peer, sut, transactional=True)
    for label in ("received", "not received"):
        application.send(label, delivery="transactional", time_to_be_received_s=MESSAGE_LIFETIME_S)
    application.send("stays", delivery="transactional")
    transaction = application.begin_transaction()
    received = application.receive(transaction=transaction)
    peer.pass_time((MESSAGE_LIFETIME_S + 2) * 1_000)
    application.end_transaction("abort", transaction)
    peer.eventually(lambda: application.labels() == ["stays"])
    judge(
        "MQDMPR-3.1.2.4-01",
        expected={"received message": "received", "queue": in_queue("stays")},
        observed={"received message": received, "queue": application.labels()},
    )


@needs("send", "receive", "queues")
@covers("MQDMPR-3.1.2.4-D02")
def test_local_message_with_lifetime_0_is_removed_at_once(peer, sut, judge):
    """Applications of the SUT send express and recoverable messages to a local queue, some with TimeToBeReceived 0 and
    some without a limit. Only the messages without a limit remain.
    """
    application = Application(peer, sut)
    for delivery in ("express", "recoverable"):
        application.send(f"{delivery} 0", delivery=delivery, time_to_be_received_s=0)
        application.send(f"{delivery} without a limit", delivery=delivery)
    peer.pass_time(2_000)
    judge(
        "MQDMPR-3.1.2.4-D02",
        expected=in_queue("express without a limit", "recoverable without a limit"),
        observed=application.labels(),
    )
