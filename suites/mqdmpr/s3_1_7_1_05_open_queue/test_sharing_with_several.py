"""MS-MQDMPR 3.1.7.1.5 Open Queue, 3.1.7.1.6 Close Queue: more than two users of a queue, including senders."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from harness.expectations import each, facts, in_queue, none
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from suites.applications import Application

pytestmark = needs("receive", "queue_control")

RECEIVE_MODE, EXCLUSIVE_RECEIVE_MODE = ("receive", False), ("receive", True)
PEEK_MODE, EXCLUSIVE_PEEK_MODE = ("peek", False), ("peek", True)
AccessAndExclusiveness = tuple[str, bool]
REFUSED_MODES_BY_OPEN_MODES: tuple[
    tuple[tuple[AccessAndExclusiveness, ...], dict[AccessAndExclusiveness, str]], ...
] = (
    (
        (PEEK_MODE, EXCLUSIVE_RECEIVE_MODE),
        {
            RECEIVE_MODE: "MQDMPR-3.1.7.1.5-106",
            EXCLUSIVE_RECEIVE_MODE: "MQDMPR-3.1.7.1.5-103",
            EXCLUSIVE_PEEK_MODE: "MQDMPR-3.1.7.1.5-103",
        },
    ),
    (
        (PEEK_MODE, EXCLUSIVE_PEEK_MODE),
        {RECEIVE_MODE: "MQDMPR-3.1.7.1.5-110", EXCLUSIVE_RECEIVE_MODE: "MQDMPR-3.1.7.1.5-110"},
    ),
    (
        (PEEK_MODE, RECEIVE_MODE),
        {EXCLUSIVE_RECEIVE_MODE: "MQDMPR-3.1.7.1.5-114", EXCLUSIVE_PEEK_MODE: "MQDMPR-3.1.7.1.5-114"},
    ),
    ((PEEK_MODE, PEEK_MODE), {}),
    (
        (EXCLUSIVE_PEEK_MODE, EXCLUSIVE_PEEK_MODE),
        {RECEIVE_MODE: "MQDMPR-3.1.7.1.5-110", EXCLUSIVE_RECEIVE_MODE: "MQDMPR-3.1.7.1.5-110"},
    ),
)
"""For each pair of modes of two users, the modes in which the SUT refuses a third user, each with its rule."""


def _open_in_mode(sut, queue: str, mode: AccessAndExclusiveness) -> int | None:
    access, deny_receive = mode
    try:
        return int(sut.control.call("open_queue", queue=queue, access=access, deny_receive=deny_receive)["handle"])
    except ControlRefused:
        return None


def _close_handles(sut, *handles: int | None) -> None:
    for handle in handles:
        if handle is not None:
            sut.control.call("close_queue", handle=handle)


@covers(
    "MQDMPR-3.1.7.1.5-103",
    "MQDMPR-3.1.7.1.5-106",
    "MQDMPR-3.1.7.1.5-110",
    "MQDMPR-3.1.7.1.5-114",
    "MQDMPR-3.1.7.1.5-124",
    "MQDMPR-3.1.7.1.6-17",
)
@pytest.mark.parametrize("kind", ["queue", "journal", "subqueue"])
def test_third_user_is_refused_if_one_user_excludes_the_mode(peer, sut, judge, kind):
    """Two users open a queue, a journal or a subqueue, in either order, while other readers have the queue's journal,
    or the queue itself, open exclusively. At each of two attempts, the SUT refuses a third user if and only if one of
    the two users excludes the third user's mode. When the excluding user has closed the queue, the third user can open
    it.
    """
    application = Application(peer, sut)
    frames = application.fill_queue("message")
    main = application.queue
    queue = {"queue": main, "journal": f"{main};journal", "subqueue": f"{main};mqc-shared"}[kind]
    if kind == "subqueue":
        sut.create_queue(queue)
    journal = _open_in_mode(sut, f"{main};journal" if kind == "queue" else main, EXCLUSIVE_RECEIVE_MODE)
    for modes, refused in REFUSED_MODES_BY_OPEN_MODES:
        for order in sorted(set(permutations(modes))):
            handles = [_open_in_mode(sut, queue, mode) for mode in order]
            names = " and ".join(f"{'exclusive ' if deny else ''}{access}" for access, deny in order)
            for mode in (RECEIVE_MODE, EXCLUSIVE_RECEIVE_MODE, PEEK_MODE, EXCLUSIVE_PEEK_MODE):
                attempts = []
                for _ in range(2):
                    handle = _open_in_mode(sut, queue, mode)
                    attempts.append(Outcome.REFUSED if handle is None else Outcome.DONE)
                    _close_handles(sut, handle)
                judge(
                    refused.get(mode, "MQDMPR-3.1.7.1.5-124"),
                    expected=each(Outcome.REFUSED if mode in refused else Outcome.DONE, "open"),
                    observed=attempts,
                    case=f"{'exclusive ' if mode[1] else ''}open for {mode[0]} while the queue is open for {names}",
                    evidence=frames,
                )
            _close_handles(sut, *handles)
            later = _open_in_mode(sut, queue, EXCLUSIVE_RECEIVE_MODE)
            judge(
                "MQDMPR-3.1.7.1.6-17",
                expected=Outcome.DONE,
                observed=Outcome.REFUSED if later is None else Outcome.DONE,
                case=f"exclusive open for receive after {names} are closed",
                evidence=frames,
            )
            _close_handles(sut, later)
    _close_handles(sut, journal)


@needs("open_to_send")
@covers("MQDMPR-3.1.7.1.5-124", "MQDMPR-3.1.7.1.6-17")
def test_senders_and_exclusive_readers_share_a_queue(peer, sut, judge):
    """An application can open a queue for sending while a reader has the queue open exclusively, and a reader can open
    a queue exclusively while an application has it open for sending. After a handle for sending has been closed, the
    data model no longer contains it.
    """
    application = Application(peer, sut)
    frames = application.fill_queue("message")
    queue, to = application.queue, sut.direct_name(application.queue)
    observed: dict[str, Any] = {}
    for mode in (EXCLUSIVE_RECEIVE_MODE, EXCLUSIVE_PEEK_MODE):
        reader = _open_in_mode(sut, queue, mode)
        observed[f"open for sending while the queue is open exclusively for {mode[0]}"] = sut.attempt(
            "open_to_send", to=to
        )
        _close_handles(sut, reader)
        sender = sut.control.call("open_to_send", to=to)["handle"]
        reader = _open_in_mode(sut, queue, mode)
        observed[f"exclusive open for {mode[0]} while the queue is open for sending"] = (
            Outcome.REFUSED if reader is None else Outcome.DONE
        )
        _close_handles(sut, reader, sender)
    judge("MQDMPR-3.1.7.1.5-124", expected=each(Outcome.DONE, "open"), observed=observed, evidence=frames)
    if not sut.has("inspect"):
        judge.mark_not_exercised("MQDMPR-3.1.7.1.6-17", reason="the SUT does not show its handles")
        return
    others = [sut.new_queue(name) for name in ("second", "third")]
    several = ",".join([to, *(sut.direct_name(other) for other in others)])
    before = [len(sut.inspect_queue(one)["OpenQueueDescriptorCollection"]) for one in (queue, *others)]
    _close_handles(sut, sut.control.call("open_to_send", to=several)["handle"])
    judge(
        "MQDMPR-3.1.7.1.6-17",
        expected=before,
        observed=[len(sut.inspect_queue(one)["OpenQueueDescriptorCollection"]) for one in (queue, *others)],
        case="open handles of the queues after a handle for three queues is closed",
        evidence=frames,
    )
    count = len(sut.inspect_queue(queue)["OpenQueueDescriptorCollection"])
    sender = sut.control.call("open_to_send", to=to)["handle"]
    opened = len(sut.inspect_queue(queue)["OpenQueueDescriptorCollection"])
    _close_handles(sut, sender)
    judge(
        "MQDMPR-3.1.7.1.6-17",
        expected=facts(handles_while_open=count + 1, handles_after_the_close=count),
        observed={
            "handles_while_open": opened,
            "handles_after_the_close": len(sut.inspect_queue(queue)["OpenQueueDescriptorCollection"]),
        },
        evidence=frames,
    )


@needs("send", "several_queues")
@covers("MQDMPR-3.1.7.1.5-33", "MQDMPR-3.1.7.1.5-30")
def test_local_and_remote_queues_are_opened_together(peer, sut, judge):
    """The SUT sends one message to a local queue, a queue of the peer and a second local queue. Each local queue stores
    a copy, and the peer gets a copy. If one of the local queues is missing, the SUT opens no queue and sends no copy.
    """
    queues = [sut.new_queue(name) for name in ("first", "second")]
    first, second = (sut.direct_name(queue) for queue in queues)
    remote = peer.direct_name(f"mqc-{sut.own}-together")
    peer.listen(ignore_incoming=True)
    before = [one["Handle"] for one in sut.inspect()["OpenQueueDescriptors"]] if sut.has("inspect") else []
    refused = sut.attempt(sut.send, f"{first},{remote},{second}-not-there", label="missing", body="missing")
    judge(
        "MQDMPR-3.1.7.1.5-30",
        expected=facts(send=Outcome.REFUSED, first=in_queue(), second=in_queue()),
        observed={"send": refused, "first": sut.labels(queues[0]), "second": sut.labels(queues[1])},
    )
    if sut.has("open_to_send"):
        several = [
            f"{first},{remote},{second}-not-there",
            f"{first}-not-there,{second}",
            f"{first},{second}-not-there",
            f"{remote},{first},{second}-not-there",
        ]
        judge(
            "MQDMPR-3.1.7.1.5-30",
            expected=each(Outcome.REFUSED, "open"),
            observed={to: sut.attempt("open_to_send", to=to) for to in several},
        )
    if sut.has("inspect"):
        handles = [len(sut.inspect_queue(queue)["OpenQueueDescriptorCollection"]) for queue in queues]
        judge("MQDMPR-3.1.7.1.5-30", expected=[0, 0], observed=handles, case="open handles of each queue")
        left = [one["Handle"] for one in sut.inspect()["OpenQueueDescriptors"] if one["Handle"] not in before]
        judge("MQDMPR-3.1.7.1.5-30", expected=none("open handle"), observed=left)
    done = sut.attempt(sut.send, f"{first},{remote},{second}", label="together", body="together")
    frames = peer.inbox.wait(lambda frame: bytes(frame["MessagePropertiesHeader"].MessageBody) == b"together", 1)
    peer.inbox.acknowledge()
    judge(
        "MQDMPR-3.1.7.1.5-33",
        expected=facts(send=Outcome.DONE, first=in_queue("together"), second=in_queue("together"), copies=1),
        observed={
            "send": done,
            "first": sut.labels(queues[0]),
            "second": sut.labels(queues[1]),
            "copies": len(frames),
        },
        evidence=frames,
    )
