"""MS-MQDMPR 3.1.1.2 Queue: what its attributes do."""

from __future__ import annotations

from typing import Any

from harness.peer.remote import Remote
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire.protection import SIG20
from suites.applications import DONE, answered
from suites.mqqb.steps.secured import Secured, signed
from suites.mqqp.steps.reading import FAILURE, brought, failed

PRIORITIES = (3, 0, 7, 3, 7, 0)
JOURNAL_QUOTA_KB = 8
TOO_MUCH = b"x" * 16_384
TYPES = ("00000000-0000-0000-0000-000000000000", "6d71636f-6e66-4f72-8d00-00000000007e")


@needs("qm2qm")
@covers("MQDMPR-3.1.1.2-20", "MQDMPR-3.1.1.2-21")
def test_messages_are_in_the_order_of_priority_and_arrival(remote: Remote, judge):
    """An empty queue has no first message; six messages of three priorities are received in their order; then it is
    empty again.
    """
    queue = remote.filled()
    empty = [queue.read()]
    packets = [
        remote.peer.message({"DM": 1}, base={"PR": priority}, label=f"{number} of priority {priority}")
        for number, priority in enumerate(PRIORITIES)
    ]
    remote.send_all(packets)
    reads = [queue.receive() for _ in PRIORITIES]
    wanted = [f"{number} of priority {PRIORITIES[number]}" for number in (2, 4, 0, 3, 1, 5)]
    judge("MQDMPR-3.1.1.2-20", expected=wanted, observed=[brought(one) for one in reads], evidence=reads)
    empty.append(queue.read())
    observed = [failed(one) for one in empty]
    judge("MQDMPR-3.1.1.2-21", expected=[FAILURE, FAILURE], observed=observed, evidence=empty)


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.1.2-D04", "MQDMPR-3.1.1.2-D05")
def test_what_is_received_is_in_the_journal_of_a_queue_that_has_journaling(peer, sut, judge):
    """Of three queues one has journaling, one has journaling for a few kilobytes, one has none; two messages are taken
    from each, of which one is larger than those kilobytes.
    """
    kinds: dict[str, dict[str, Any]] = {
        "without a limit": {"journaling": True},
        "with a limit": {"journaling": True, "journal_quota_kb": JOURNAL_QUOTA_KB},
        "without journaling": {},
    }
    queues = {kind: sut.new_queue("journaled", **properties) for kind, properties in kinds.items()}
    connection = peer.open_raw()
    bodies = {"small": b"small", "large": TOO_MUCH}
    for name in queues.values():
        for label, body in bodies.items():
            to = rf"TCP:{sut.address}\{name}"
            connection.send(peer.recoverable_message(label=label, body=body, destination=to))
    connection.check_alive()
    peer.eventually(lambda: all(len(sut.labels(name)) == len(bodies) for name in queues.values()))
    for name in queues.values():
        for _ in bodies:
            sut.control.call("receive", queue=name, timeout_ms=0)
    found = {kind: sut.labels(f"{name};journal") for kind, name in queues.items()}
    wanted = {kind: found[kind] for kind in ("without a limit", "without journaling")}
    expected = {"without a limit": ["small", "large"], "without journaling": []}
    judge("MQDMPR-3.1.1.2-D05", expected=expected, observed=wanted)
    judge("MQDMPR-3.1.1.2-D04", expected=["small"], observed=found["with a limit"])


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.1.2-D02")
def test_a_queue_that_wants_authentication_takes_nothing_else(peer, sut, judge):
    """A message that is not signed comes for a queue with Authentication, and for one without: that one has it."""
    queues = [sut.new_queue("authenticated", authenticated=wanted) for wanted in (True, False)]
    connection = peer.open_raw()
    sent = [
        connection.send(peer.recoverable_message(label="unsigned", destination=rf"TCP:{sut.address}\{name}"))
        for name in queues
    ]
    peer.eventually(lambda: bool(sut.labels(queues[1])))
    found = [sut.labels(name) for name in queues]
    judge("MQDMPR-3.1.1.2-D02", expected=[[], ["unsigned"]], observed=found, evidence=sent)


@needs("queue_control", "receive", "security")
@covers("MQDMPR-3.1.1.2-D02")
def test_a_queue_that_wants_authentication_takes_what_is_authenticated(peer, sut, judge):
    """A message that its sender signed comes for a queue with Authentication, and for one without: both have it."""
    secured = Secured(peer, sut)
    secured.agree_on_signatures(ALICE)
    queues = [sut.new_queue("authenticated", authenticated=wanted) for wanted in (True, False)]
    sent = [
        secured.connection.send(
            signed(secured.message(ALICE, label="signed", destination=rf"TCP:{sut.address}\{name}"), SIG20)
        )
        for name in queues
    ]
    peer.eventually(lambda: all(sut.labels(name) for name in queues))
    found = [sut.labels(name) for name in queues]
    judge("MQDMPR-3.1.1.2-D02", expected=[["signed"], ["signed"]], observed=found, evidence=sent)


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.1.2-02")
def test_the_type_of_a_queue_makes_no_difference(peer, sut, judge):
    """Queues of two types have the type that they were made with, then another, and take a message each."""
    queues = {kind: sut.new_queue("typed", type=kind) for kind in TYPES}
    connection = peer.open_raw()
    for name in queues.values():
        connection.send(peer.recoverable_message(label=name, destination=rf"TCP:{sut.address}\{name}"))
    connection.check_alive()
    peer.eventually(lambda: all(sut.labels(name) for name in queues.values()))
    for kind, name in queues.items():
        other = next(one for one in TYPES if one != kind)
        seen = [str(sut.control.call("get_queue", name=name).get("type")).lower()]
        seen.append(answered(peer, sut, "set_queue", name=name, type=other))
        seen.append(str(sut.control.call("get_queue", name=name).get("type")).lower())
        observed = [*seen, sut.labels(name) == [name]]
        judge("MQDMPR-3.1.1.2-02", expected=[kind, DONE, other, True], observed=observed)


SYSTEM_QUEUES = ("system$;deadletter", "system$;deadxact", "system$;journal", r"private$\order_queue$")


@needs("environment", "restart", "queue_control", "directory")
@covers("MQDMPR-3.1.1-03", "MQDMPR-3.1.1.2-01", "MQDMPR-3.1.1.2-18")
def test_a_public_queue_is_in_the_directory_and_a_system_queue_is_not(sut, judge):
    """A public queue has its properties after a restart, here and in the directory; a system queue is not there."""
    name = f"mqc-{sut.own}-public"
    sut.create_queue(name, label="published", quota_kb=777, base_priority=-2)
    wanted = {"label": "published", "quota_kb": 777, "base_priority": -2}
    for time in ("before", "after"):
        if time == "after":
            sut.restart()
        shown = sut.control.call("get_queue", name=name)
        published = sut.published(queue=name)
        for rule, source in (("MQDMPR-3.1.1-03", shown), ("MQDMPR-3.1.1.2-01", published or {})):
            observed = {one: source.get(one) for one in wanted}
            judge(rule, expected=f"{wanted} {time} a restart", observed=f"{observed} {time} a restart")
    system = {queue: sut.published(queue=queue) for queue in SYSTEM_QUEUES}
    judge("MQDMPR-3.1.1.2-18", expected=dict.fromkeys(system), observed=system)
