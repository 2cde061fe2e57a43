"""MS-MQMQ 2.2.19.2 UserHeader: queue names for each value of DQ, AQ and RQ."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId, PublicQueueFormatName
from suites.messages import Sequence
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import await_arrival, private_queue
from suites.mqqb.steps.exchanges import deliver_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences, describe_packet

THIRD_HOST_GUID = UUID("6d71636f-6e66-4f72-8d00-000000000003")
"""The GUID of a queue manager that is neither the SUT nor the peer."""
PUBLIC_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-000a001000c5")
PRIVATE_QUEUE_NAME = PrivateQueueFormatNameId(PrivateQueueIdentifier=0x0A0B_0C0D)
NAME_OF_QUEUE_ON_THIRD_HOST = PrivateQueueFormatName(
    SourceQueueManager=THIRD_HOST_GUID, PrivateQueueIdentifier=0x0102_0304
)
PUBLIC_QUEUE_NAME = PublicQueueFormatName(PublicQueueIdentifier=PUBLIC_QUEUE_GUID)
DIRECT_NAME_TEMPLATE = "TCP:127.0.0.9\\private$\\mqc-{}"

FIELDS_BY_ADMIN_QUEUE_TYPE: dict[int, dict[str, Any]] = {
    2: {"AQ": 2, "AdminQueue": PRIVATE_QUEUE_NAME},
    3: {"AQ": 3, "AdminQueue": PRIVATE_QUEUE_NAME},
    5: {"AdminQueue": PUBLIC_QUEUE_NAME},
    6: {"AdminQueue": NAME_OF_QUEUE_ON_THIRD_HOST},
    7: {"AdminQueue": DIRECT_NAME_TEMPLATE.format("admin")},
}
"""For each value of AQ, the fields of a message whose administration queue has the form that AQ announces."""
FIELDS_BY_RESPONSE_QUEUE_TYPE: dict[int, dict[str, Any]] = {
    1: {"RQ": 1, "AdminQueue": DIRECT_NAME_TEMPLATE.format("admin")},
    2: {"RQ": 2, "ResponseQueue": PRIVATE_QUEUE_NAME},
    3: {"RQ": 3, "ResponseQueue": PRIVATE_QUEUE_NAME},
    4: {"RQ": 4, "AdminQueue": NAME_OF_QUEUE_ON_THIRD_HOST, "ResponseQueue": PRIVATE_QUEUE_NAME},
    5: {"ResponseQueue": PUBLIC_QUEUE_NAME},
    6: {"ResponseQueue": NAME_OF_QUEUE_ON_THIRD_HOST},
    7: {"ResponseQueue": DIRECT_NAME_TEMPLATE.format("a"), "AdminQueue": DIRECT_NAME_TEMPLATE.format("ab")},
}
"""For each value of RQ, the fields of a message whose response queue has the form that RQ announces."""


ADMIN_NAME_READ_RULES = ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.1.12-54", "MQDMPR-3.1.7.1.31-D16")
RESPONSE_NAME_READ_RULES = ("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.1.12-55", "MQDMPR-3.1.7.1.31-D17", "MQQB-3.1.5.8.8-05")
ADMIN_NAME_WRITE_RULES = ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.1.12-54", "MQDMPR-3.1.7.1.32-D15")
RESPONSE_NAME_WRITE_RULES = ("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.1.12-55", "MQDMPR-3.1.7.1.32-D16")
READ_QUEUE_NAME_CASES = (
    *((ADMIN_NAME_READ_RULES, fields, f"AQ-{kind}") for kind, fields in FIELDS_BY_ADMIN_QUEUE_TYPE.items()),
    *(
        (RESPONSE_NAME_READ_RULES, fields, f"RQ-{kind}")
        for kind, fields in FIELDS_BY_RESPONSE_QUEUE_TYPE.items()
        if kind != 4
    ),
    *(
        (RESPONSE_NAME_READ_RULES, {**FIELDS_BY_ADMIN_QUEUE_TYPE[kind], "RQ": 1}, f"RQ-1-AQ-{kind}")
        for kind in FIELDS_BY_ADMIN_QUEUE_TYPE
        if kind != 7
    ),
    ((*RESPONSE_NAME_READ_RULES, "MQMQ-2.2.19.2-37"), FIELDS_BY_RESPONSE_QUEUE_TYPE[4], "RQ-4"),
    *(
        (
            (*RESPONSE_NAME_READ_RULES, "MQMQ-2.2.19.2-37"),
            {**FIELDS_BY_ADMIN_QUEUE_TYPE[kind], "RQ": 4, "ResponseQueue": PRIVATE_QUEUE_NAME},
            f"RQ-4-AQ-{kind}",
        )
        for kind in (2, 3)
    ),
)


@needs("receive")
@pytest.mark.parametrize(
    ("rules", "fields"),
    [pytest.param(rules, fields, marks=covers(*rules), id=name) for rules, fields, name in READ_QUEUE_NAME_CASES],
)
def test_received_queue_names_are_read_by_aq_and_rq(peer, sut, judge, rules, fields):
    """Recoverable and transactional messages with each value of AQ and RQ arrive. The application receives the
    administration and response queues that the packets name, and all other properties unchanged.
    """
    for queue, build_message in (("plain", peer.recoverable_message), ("transactional", Sequence(peer).message)):
        label = f"names {peer.next_message_id()}"
        packet = build_message(dict(fields), label=label, body=b"body")
        done = deliver_message(peer, packet, label, queue)
        if done.outcome != done.accepted_outcome:
            judge(*rules, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")
            continue
        found = next((one for one in sut.messages(queue) if one["label"] == label), None)
        observed = describe_differences(done.frames[0], found, sut.guid)
        names = describe_packet(done.frames[0], sut.guid)
        admin, response = names["admin_queue"] or "none", names["response_queue"] or "none"
        judge(
            *rules,
            expected=UNCHANGED_PROPERTIES_OUTCOME,
            observed=observed,
            case=f"message with the administration queue {admin} and the response queue {response}",
            evidence=done.frames,
        )


def _list_host_guids(peer, sut):
    return {"source": sut.guid, "destination": peer.identifier, "third": THIRD_HOST_GUID}


SENT_QUEUE_NAME_CASES = (
    (ADMIN_NAME_WRITE_RULES, "admin_queue", None, "AQ", 0, None),
    (ADMIN_NAME_WRITE_RULES, "admin_queue", r"PRIVATE={source}\0001000b", "AQ", 2, "0001000b"),
    (ADMIN_NAME_WRITE_RULES, "admin_queue", r"PRIVATE={destination}\a001000c", "AQ", 3, "a001000c"),
    (ADMIN_NAME_WRITE_RULES, "admin_queue", f"PUBLIC={PUBLIC_QUEUE_GUID}", "AQ", 5, str(PUBLIC_QUEUE_GUID)),
    (ADMIN_NAME_WRITE_RULES, "admin_queue", r"PRIVATE={third}\0001000d", "AQ", 6, "{third}\\0001000d"),
    (
        ADMIN_NAME_WRITE_RULES,
        "admin_queue",
        r"DIRECT=TCP:10.0.0.7\private$\ab",
        "AQ",
        7,
        "tcp:10.0.0.7\\private$\\ab\0",
    ),
    (
        ADMIN_NAME_WRITE_RULES,
        "admin_queue",
        r"DIRECT=TCP:10.0.0.7\private$\abc",
        "AQ",
        7,
        "tcp:10.0.0.7\\private$\\abc\0",
    ),
    (RESPONSE_NAME_WRITE_RULES, "response_queue", None, "RQ", 0, None),
    (RESPONSE_NAME_WRITE_RULES, "response_queue", r"PRIVATE={source}\0001000b", "RQ", 2, "0001000b"),
    (RESPONSE_NAME_WRITE_RULES, "response_queue", r"PRIVATE={destination}\a001000c", "RQ", 3, "a001000c"),
    (RESPONSE_NAME_WRITE_RULES, "response_queue", f"PUBLIC={PUBLIC_QUEUE_GUID}", "RQ", 5, str(PUBLIC_QUEUE_GUID)),
    (RESPONSE_NAME_WRITE_RULES, "response_queue", r"PRIVATE={third}\0001000d", "RQ", 6, "{third}\\0001000d"),
    (RESPONSE_NAME_WRITE_RULES, "response_queue", r"DIRECT=OS:nowhere\q", "RQ", 7, "os:nowhere\\q\0"),
    (RESPONSE_NAME_WRITE_RULES, "response_queue", r"DIRECT=OS:nowhere\qq", "RQ", 7, "os:nowhere\\qq\0"),
)
"""For each case, the rules, the property, the name that the application sets, the flag in UserHeader, the value of the
flag, and the name in the packet.
"""
FORMAT_NAME_OF_UNREACHABLE_QUEUE = r"DIRECT=OS:nowhere\q"
RULES_BY_NAME_TYPE = {
    2: ("MQMQ-2.2.18.1.5.1-01",),
    3: ("MQMQ-2.2.18.1.5.1-01",),
    7: ("MQMQ-2.2.18.1.5.2-D01", "MQMQ-2.2.18.1.5.2-D02"),
}
"""For each value of AQ or RQ, the rules about the form of the name."""


@needs("send", "private_names")
@covers(
    "MQMQ-2.2.19.2-D06",
    "MQDMPR-3.1.7.1.32-D14",
    "MQMQ-2.2.18.1.5.1-01",
    "MQMQ-2.2.18.1.5.2-D01",
    "MQMQ-2.2.18.1.5.2-D02",
    *ADMIN_NAME_WRITE_RULES,
    *RESPONSE_NAME_WRITE_RULES,
)
def test_sent_queue_names_are_written_by_aq_and_rq(peer, sut, judge):
    """The SUT sends messages with each kind of administration and response queue to a private queue of the peer. DQ is
    3. AQ, RQ and the queue names have the values that the document specifies.
    """
    hosts = _list_host_guids(peer, sut)
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    two_names = {
        "admin_queue": FORMAT_NAME_OF_UNREACHABLE_QUEUE,
        "response_queue": f"{FORMAT_NAME_OF_UNREACHABLE_QUEUE}q",
    }
    beside = outgoing.send(body="named", label="named", acks=["negative_arrival"], **two_names)
    both = {"UserHeader.Flags.AQ": 7, "UserHeader.Flags.RQ": 7}
    judge(
        *ADMIN_NAME_WRITE_RULES,
        *RESPONSE_NAME_WRITE_RULES,
        expected=fields(both),
        observed=Layout(beside),
        evidence=beside,
    )
    for host, value in (("source", 2), ("destination", 3), ("third", 6)):
        admin, response = (rf"PRIVATE={hosts[host]}\0001000{digit}" for digit in "bc")
        frame = outgoing.send(admin_queue=admin, response_queue=response, acks=["negative_arrival"])
        number = rf"{hosts[host]}\0001000c" if host == "third" else "0001000c"
        for rules, wanted in (
            (ADMIN_NAME_WRITE_RULES, {"UserHeader.Flags.AQ": value}),
            (RESPONSE_NAME_WRITE_RULES, {"UserHeader.Flags.RQ": value, "UserHeader.ResponseQueue": number}),
        ):
            judge(
                *rules,
                expected=fields(wanted),
                observed=Layout(frame),
                evidence=frame,
                case=f"two different private queues of the {host}",
            )
    for rules, queue, name, flag, value, written in SENT_QUEUE_NAME_CASES:
        given = {} if name is None else {queue: name.format(**hosts)}
        acks = {"acks": ["negative_arrival"]} if queue == "admin_queue" and name else {}
        frame = outgoing.send(body="named", label="named", **given, **acks)
        field = f"UserHeader.{'AdminQueue' if flag == 'AQ' else 'ResponseQueue'}"
        wanted = {f"UserHeader.Flags.{flag}": value, field: (written or Layout.MISSING).format(**hosts)}
        judge(
            *rules, *RULES_BY_NAME_TYPE.get(value, ()), expected=fields(wanted), observed=Layout(frame), evidence=frame
        )
        to = {"UserHeader.Flags.DQ": 3, "UserHeader.DestinationQueue": "00000001"}
        judge(
            "MQMQ-2.2.19.2-D06",
            "MQDMPR-3.1.7.1.32-D14",
            expected=fields(to),
            observed=Layout(frame),
            evidence=frame,
        )
    frame = outgoing.send(body="named", label="named", delivery="transactional")
    judge(
        "MQMQ-2.2.18.1.5.1-01",
        expected=fields({"UserHeader.Flags.DQ": 3, "UserHeader.DestinationQueue": "00000001"}),
        observed=Layout(frame),
        case="transactional message",
        evidence=frame,
    )
    outgoing.end()


@needs("send", "public_names")
@covers("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29")
@covers("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11")
@varied(acknowledgments=("none", "of arrival"))
def test_sent_public_destination_is_guid_with_dq_5(peer, sut, judge):
    """The SUT sends messages to a public queue of the peer. DQ is 5, DestinationQueue is the GUID of the queue, and
    QueueManagerAddress is the GUID of the peer. JP and JN are set as requested.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.format_name_of_public_queue)
    frame = outgoing.send(body="named", label="named", journal=["positive", "negative"])
    outgoing.end()
    for rule, bit in (("MQDMPR-3.1.7.1.32-D10", "JP"), ("MQDMPR-3.1.7.1.32-D11", "JN")):
        flag = fields({f"UserHeader.Flags.{bit}": 1})
        judge(rule, expected=flag, observed=Layout(frame), evidence=frame)
    to = {
        "UserHeader.Flags.DQ": 5,
        "UserHeader.DestinationQueue": peer.format_name_of_public_queue.removeprefix("PUBLIC="),
    }
    found = Layout(frame)
    judge("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14", expected=fields(to), observed=found, evidence=frame)
    host = fields({"UserHeader.QueueManagerAddress": str(peer.identifier)})
    judge(
        "MQMQ-2.2.19.2-03",
        "MQMQ-2.2.19.2-29",
        expected=host,
        observed=found,
        evidence=frame,
    )


@needs("send", "directory")
@covers("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29")
def test_routed_message_has_guid_of_host_and_not_of_next_hop(peer, sut, judge):
    """The SUT sends a message through the peer to a public queue of a remote computer: QueueManagerAddress is the GUID
    of the remote computer.
    """
    outgoing = MessagesSentBySut(peer, sut, f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}")
    frame = outgoing.send(body="routed", label="routed")
    outgoing.end()
    expected = fields({"UserHeader.QueueManagerAddress": str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE)})
    judge.all(expected=expected, observed=Layout(frame), evidence=frame)


@needs("receive", "queues")
@covers("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.31-D15")
@varied("acknowledgments", "application tag", "extension", "correlation", "body", "queue journaling")
def test_received_destination_is_read_by_dq(peer, sut, judge):
    """The peer sends messages to the direct name and to the private number of a nontransactional and of a transactional
    queue, with and without an administration queue. Each message is in its queue.
    """
    queues = {"plain": sut.new_queue("read"), "transactional": sut.new_queue("read", transactional=True)}
    cases = []
    for kind, queue in queues.items():
        number = int(sut.private_format_name(queue).rpartition("\\")[2], 16)
        cases.append((kind, "direct", queue, {"DestinationQueue": f"TCP:{sut.address}\\{queue}"}))
        for fields_of_admin in ({}, FIELDS_BY_ADMIN_QUEUE_TYPE[7]):
            cases.append((kind, "number", queue, {**private_queue(sut.guid, number), **fields_of_admin}))
    for number, (kind, form, queue, named) in enumerate(cases):
        build = peer.recoverable_message if kind == "plain" else Sequence(peer).message
        connection = peer.open_raw()
        label = f"{form} {number}"
        sent = connection.send(build(named, destination=None, label=label))
        place = await_arrival(sut, connection, label, queue)
        judge.all(
            expected="stored in its queue", observed=place, evidence=sent, case=f"{kind} queue, named by its {form}"
        )


@needs("receive", "queue_control", "directory")
@covers("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.31-D15")
def test_received_public_destination_is_read_by_dq(peer, sut, judge):
    """The peer sends a message to the GUID of each of two public queues: each message is in its queue."""
    for transactional, build in ((False, peer.recoverable_message), (True, Sequence(peer).message)):
        queue = f"mqc-{sut.own}-read-{int(transactional)}"
        sut.create_queue(queue, transactional=transactional)
        guid = UUID(sut.format_names(queue)["public"].partition("=")[2])
        connection = peer.open_raw()
        named = {"DestinationQueue": PublicQueueFormatName(PublicQueueIdentifier=guid)}
        sent = connection.send(build(named, destination=None, label="public"))
        place = await_arrival(sut, connection, "public", queue)
        judge.all(
            expected="stored in its queue", observed=place, evidence=sent, case="message to the GUID of the queue"
        )
