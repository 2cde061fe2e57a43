"""MS-MQDMPR 3.1.1.2 Queue: attributes that only the abstract data model shows."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest

from harness.expectations import holds, none, one_of
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE
from reference_qm.security import SecurityDescriptor
from suites.mqdmpr.steps import descriptors
from suites.mqqb.steps.opening import find_outgoing_queue, list_outgoing_queues
from suites.mqqb.steps.sender import Sender

pytestmark = needs("inspect", "queue_control")

QUEUE_RIGHTS_MASK = 0x000F_003F
"""MQQUEUEACCESSMASK (MS-MQMQ 2.2.24)."""
GENERIC_RIGHTS_MASK = 0xF000_0000
"""The generic rights of an ACCESS_MASK, each of which represents several rights to the object (MS-DTYP 2.4.3)."""
PEEK_RIGHT_MASK = 0x0000_0002
ACTIVE_QUEUE_OUTCOME, INACTIVE_QUEUE_OUTCOME = "active", "not active"


@covers("MQDMPR-3.1.1.2-03")
@varied("queue journaling", "queue quota", "queue privacy")
def test_queue_shows_qualified_path(sut, judge):
    """In the data model of the SUT, the path name of a queue contains the computer's domain."""
    name = sut.new_queue("shown")
    for queue in (sut.new_queue("Capital"), name):
        inspected = sut.inspect_queue(queue)
        computer, _, rest = inspected["QualifiedPathname"].partition("\\")
        judge(
            "MQDMPR-3.1.1.2-03",
            expected={"computer in the QualifiedPathname": holds("a name with a domain"), "path name": queue.lower()},
            observed={
                "computer in the QualifiedPathname": "." in computer.strip(".") or computer,
                "path name": rest.lower(),
            },
        )


@covers("MQDMPR-3.1.1.2-08", "MQDMPR-3.1.1.2-09")
@pytest.mark.parametrize("public", [False, pytest.param(True, marks=needs("directory"))], ids=["private", "public"])
def test_queues_show_rights_and_scope(sut, judge, public):
    """Private queues, one of them transactional and one with an owner, or public queues have the scope Enterprise, and
    their security descriptors contain only rights that apply to queues. This is still the case after a change of the
    queues and after a restart.
    """

    def create_queue_to_inspect(purpose, **properties):
        if not public:
            return sut.new_queue(purpose, **properties)
        sut.create_queue(f"mqc-{sut.own}-{purpose}", **properties)
        return f"mqc-{sut.own}-{purpose}"

    names = {
        "plain": create_queue_to_inspect("shown"),
        "transactional": create_queue_to_inspect("shown-transactional", transactional=True),
    }
    if sut.has("security"):
        names["owned"] = create_queue_to_inspect("owned", owner=ALICE.name)
        given = descriptors.build_security_descriptor(granted=((descriptors.EVERYONE_SID, PEEK_RIGHT_MASK),))
        with suppress(ControlRefused):
            names["supplied"] = create_queue_to_inspect("supplied", security_base64=base64.b64encode(given).decode())
    for time in ("after the creation", "after a change", "after a restart"):
        if time == "after a change":
            for name in names.values():
                sut.control.call("set_queue", name=name, label="changed")
        elif time == "after a restart":
            if not sut.has("restart"):
                return
            sut.restart()
        for kind, name in names.items():
            inspected = sut.inspect_queue(name)
            access = SecurityDescriptor.parse(bytes.fromhex(inspected["Security"])).Dacl
            masks = [] if access is None else [entry.Mask for entry in access.Aces]
            case = f"{kind} queue {time}"
            judge(
                "MQDMPR-3.1.1.2-08",
                expected=none("access mask with a right that queues do not have"),
                observed=[f"{mask:#010x}" for mask in masks if mask & ~(QUEUE_RIGHTS_MASK | GENERIC_RIGHTS_MASK)],
                case=f"access list of the {case}",
            )
            scope, case = inspected["Scope"], f"Scope of the {case}"
            judge("MQDMPR-3.1.1.2-09", expected=one_of("Site", "Enterprise"), observed=scope, case=case)
            judge("MQDMPR-3.1.1.2-09", expected="Enterprise", observed=scope, advice=True, case=case)


@needs("receive")
@covers("MQDMPR-3.1.1.2-12", "MQDMPR-3.1.1.2-D06")
@varied("queue journaling", "queue quota", "queue privacy")
def test_queue_is_active_while_open(sut, judge):
    """A queue that contains a message is active from the opening of its first handle to the closing of its last
    handle.
    """
    name = sut.new_queue("opened")
    if sut.has("send"):
        sut.send_here(name, ["kept"])
    observed = [_get_activity_of_outgoing_queue(sut.inspect_queue(name))]
    handles = []
    for _ in range(2):
        handles.append(sut.control.call("open_queue", queue=name, access="peek")["handle"])
        observed.append(_get_activity_of_outgoing_queue(sut.inspect_queue(name)))
    for handle in handles:
        sut.control.call("close_queue", handle=handle)
        observed.append(_get_activity_of_outgoing_queue(sut.inspect_queue(name)))
    judge.all(
        expected=[
            INACTIVE_QUEUE_OUTCOME,
            ACTIVE_QUEUE_OUTCOME,
            ACTIVE_QUEUE_OUTCOME,
            ACTIVE_QUEUE_OUTCOME,
            INACTIVE_QUEUE_OUTCOME,
        ],
        observed=observed,
        case="state of the queue before two opens, after each open, and after each close",
    )


@needs("open_to_send")
@covers("MQDMPR-3.1.1.2-12", "MQDMPR-3.1.1.2-D06")
def test_queue_is_active_while_open_to_send(peer, sut, judge):
    """A local queue and an outgoing queue without messages are active while they are open for sending."""
    to = peer.direct_name("mqc-opened")
    outgoing = []
    handle = sut.control.call("open_to_send", to=to)["handle"]
    outgoing.append([_get_activity_of_outgoing_queue(one) for one in list_outgoing_queues(sut, to)])
    sut.control.call("close_queue", handle=handle)
    outgoing.append([_get_activity_of_outgoing_queue(one) for one in list_outgoing_queues(sut, to)])
    judge.all(
        expected={"open": [ACTIVE_QUEUE_OUTCOME], "closed": one_of([INACTIVE_QUEUE_OUTCOME], [])},
        observed=dict(zip(("open", "closed"), outgoing, strict=True)),
        case="state of the outgoing queue while it is open for sending, and after it is closed",
    )
    name = sut.new_queue("opened")
    observed = [_get_activity_of_outgoing_queue(sut.inspect_queue(name))]
    handle = sut.control.call("open_to_send", to=sut.direct_name(name))["handle"]
    observed.append(_get_activity_of_outgoing_queue(sut.inspect_queue(name)))
    sut.control.call("close_queue", handle=handle)
    observed.append(_get_activity_of_outgoing_queue(sut.inspect_queue(name)))
    judge.all(
        expected=[INACTIVE_QUEUE_OUTCOME, ACTIVE_QUEUE_OUTCOME, INACTIVE_QUEUE_OUTCOME],
        observed=observed,
        case="state of the queue before it is opened for sending, while it is open, and after it is closed",
    )


@needs("send", "pause", "management")
@covers("MQDMPR-3.1.1.2-12", "MQDMPR-3.1.1.2-D06")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
@varied("negative journaling", "response queue", priority=("3", "7"))
def test_outgoing_queue_is_active_until_message_acknowledged(peer, sut, judge, delivery):
    """An outgoing queue is active while it contains an unacknowledged message. It is inactive before the message is
    sent and after the peer has acknowledged it.
    """
    to = peer.direct_name("mqc-active")
    sender = Sender(peer, sut, to)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    observed = [_acknowledge_messages_and_get_queue_activity(sender, session)]
    sut.pause(to)
    sender.send(2, delivery=delivery)
    observed.append(_get_activity_of_outgoing_queue(find_outgoing_queue(sut, to)))
    sut.resume(to)
    sender.collect_messages(session, 2)
    observed.append(_acknowledge_messages_and_get_queue_activity(sender, session))
    judge.all(
        expected=[INACTIVE_QUEUE_OUTCOME, ACTIVE_QUEUE_OUTCOME, INACTIVE_QUEUE_OUTCOME],
        observed=observed,
        case="state of the outgoing queue before the send, before the acknowledgment, and after the acknowledgment",
    )


def _acknowledge_messages_and_get_queue_activity(sender, session):
    session.acknowledge_all()
    sender.peer.eventually(lambda: sender.sut.outgoing_queue(sender.to)["count"] == 0)
    return _get_activity_of_outgoing_queue(find_outgoing_queue(sender.sut, sender.to))


def _get_activity_of_outgoing_queue(shown):
    return ACTIVE_QUEUE_OUTCOME if shown["Active"] else INACTIVE_QUEUE_OUTCOME
