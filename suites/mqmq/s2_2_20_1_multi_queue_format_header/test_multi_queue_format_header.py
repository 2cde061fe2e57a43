"""MS-MQMQ 2.2.20.1 MultiQueueFormatHeader: messages for several queues, and the lists that they contain (2.2.20.2,
2.2.20.3).
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, between, distinct_values, fields, none
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.sender import Sender

MULTI_QUEUE_HEADER_NAME = "MultiQueueFormatHeader"
SIGNATURE_BY_LIST_NAME = {"Destination": 0x0064, "Administration": 0x00C8, "Response": 0x012C}
"""For each name of a list, the HeaderID of the list."""
POSSIBLY_EMPTY_LIST_NAMES = ("Administration", "Response")
"""Lists that may be empty because the UserHeader contains the only administration or response queue."""
LIST_SIGNATURE_HEADER_ID = 0x015E
PRIVATE_FORMAT_TYPE, DIRECT_FORMAT_TYPE = 2, 3
DIRECT_NAME_SUFFIX = r"OS:\PRIVATE$\q"
"""The part of a direct name that follows the host."""
MESSAGE_LABEL = "several"
TRACE_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000d8"
NON_DEFAULT_BODY_TYPE, MESSAGE_LIFETIME_S = 8, 77_777
"""A type of the body, and a TimeToBeReceived in s, that are not the defaults."""
MESSAGE_COPY_RULES = (
    "MQMQ-2.2.20.1-01",
    "MQDMPR-3.1.1.12-28",
    "MQDMPR-3.1.1.12-27",
    "MQMQ-2.2.20.1-D01",
    "MQDMPR-3.1.7.1.30-D05",
    "MQMQ-2.2.20.1-D02",
    "MQMQ-2.2.20.1-D03",
    "MQDMPR-3.1.7.1.32-D06",
    "MQMQ-2.2.20.2-01",
    "MQMQ-2.2.20.2-04",
    "MQMQ-2.2.20.2-06",
    "MQMQ-2.2.20.2-D01",
    "MQMQ-2.2.20.2-D02",
    "MQMQ-2.2.20.2-D03",
    "MQMQ-2.2.20.3-D01",
    "MQMQ-2.2.18.1.4.1-01",
    "MQMQ-2.2.18.1.4.1-D01",
)

RULES_AND_SIZE_FIELD_OF_LISTS = (
    (("MQMQ-2.2.20.2-01",), "HeaderSize"),
    (("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"), "ElementCount"),
    (("MQMQ-2.2.20.2-06",), "FormatNameList"),
)
"""The rules about the size of a list, each with the field that it is about."""
RULES_OF_JOURNALING = ("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11")
"""The rules that each copy has JP and JN of the message."""
RULES_OF_ENQUEUEING = ("MQDMPR-3.1.7.1.27-13", "MQDMPR-3.1.7.1.27-14")
"""The rules that each destination gets a copy of the message, whose UserHeader names that destination."""
FIELDS_THAT_MAY_DIFFER_BETWEEN_COPIES = (
    "BaseHeader.PacketSize",
    "UserHeader.DestinationQueue",
    "UserHeader.MessageID",
    "UserHeader.QueueManagerAddress",
    "UserHeader.SentTime",
)
"""Fields that may differ between copies."""


def _await_copies(sender, count):
    """Wait for the SUT's copies of a message and return them, including malformed packets."""
    inbox, sut = sender.peer.inbox, sender.sut
    within_ms = sut.connect_timeout_ms + sut.response_timeout_ms
    sender.peer.environment.run_until(lambda: len(inbox.packets_with_possibly_malformed_messages) >= count, within_ms)
    inbox.acknowledge()
    if not inbox.packets_with_possibly_malformed_messages:
        raise ConformanceFailure("the SUT sent no copy")
    return inbox.packets_with_possibly_malformed_messages


def _parse_name_in_list(name):
    """Return FormatType and text of a direct or private format name in a list, in lower case."""
    kind, _, rest = name.lower().partition("=")
    return (DIRECT_FORMAT_TYPE, rest + "\0") if kind == "direct" else (PRIVATE_FORMAT_TYPE, rest)


def _remove_direct_prefix(names):
    """Return the names of a list without DIRECT=, which erratum E07 allows."""
    if not isinstance(names, list):
        return names
    return [(kind, name.removeprefix("direct=")) for kind, name in names]


def _build_expected_and_found_list_fields(name, names, found):
    """Return the expected and the observed fields of a list; HeaderSize may include the padding."""
    header = f"{MULTI_QUEUE_HEADER_NAME}.{name}"
    size, padded = (found.fields.get(f"{header}.{kind}", 0) for kind in ("size", "padded size"))
    wanted = {
        f"{header}.HeaderSize": between(size, padded),
        f"{header}.HeaderID": SIGNATURE_BY_LIST_NAME[name],
        f"{header}.Reserved": 0,
        f"{header}.ElementCount": len(names),
        f"{header}.FormatNameList": sorted(_parse_name_in_list(one) for one in names),
    }
    observed = found.of(*wanted)
    listed = _remove_direct_prefix(observed[f"{header}.FormatNameList"])
    observed[f"{header}.FormatNameList"] = sorted(listed) if isinstance(listed, list) else listed
    return wanted, observed


@needs("send", "several_queues")
@covers(*MESSAGE_COPY_RULES, *RULES_OF_ENQUEUEING, *RULES_OF_JOURNALING, "MQDMPR-3.1.7.1.27-10", "MQDMPR-3.1.7.1.27-12")
@covers(
    "MQDMPR-3.1.7.1.30-D04",
    "MQDMPR-3.1.7.1.32-D07",
    "MQDMPR-3.1.1.12-D02",
    "MQMQ-2.2.19.2-04",
    "MQMQ-2.2.19.2-07",
)
@pytest.mark.parametrize(
    ("names", "delivery"),
    [
        pytest.param(("mqc-1", "mqc-22"), "express", id="names0"),
        pytest.param(
            ("mqc-a", "mqc-ab", "mqc-abc", "mqc-abcde"),
            "transactional",
            marks=covers("MQMQ-2.2.19.1-04", "MQMQ-2.2.19.2-20"),
            id="names1",
        ),
        pytest.param(("mqc-t", "mqc-tt"), "transaction", marks=needs("transactions"), id="names2"),
        pytest.param(("mqc-e", "mqc-o"), "express", id="names of equal length"),
    ],
)
@varied("time to reach queue", priority=("3", "7"))
def test_each_destination_gets_copy_with_list_of_all(peer, sut, judge, names, delivery):
    """The SUT sends a traced message to several queues of the peer; the message is express, transactional, or sent in a
    transaction of an application. Each queue gets a copy with MQ set, a DebugHeader, the lists of destination,
    administration and response queues, and an MQFSignatureHeader. Each copy has its own MessageID, and its
    QueueManagerAddress is 0. A transactional copy has priority 0 and a nonzero DM. In a later message to one of the
    queues, MQ is not set.
    """
    queues = [peer.direct_name(name) for name in names]
    sender = Sender(peer, sut, ",".join(queues))
    admin, response = peer.direct_name("mqc-x"), peer.direct_name("mqc-yz")
    journal = ["positive", "negative"]
    in_transaction = delivery == "transaction"
    transaction = sut.control.call("begin")["transaction"] if in_transaction else None
    how = {"transaction": transaction} if in_transaction else {"delivery": delivery}
    sender.send(
        1,
        label=MESSAGE_LABEL,
        acks=["negative_arrival"],
        admin_queue=admin,
        response_queue=response,
        journal=journal,
        body_type=NON_DEFAULT_BODY_TYPE,
        time_to_be_received_s=MESSAGE_LIFETIME_S,
        trace_queue=TRACE_QUEUE_GUID,
        **how,
    )
    if in_transaction:
        sut.control.call("commit", transaction=transaction)
    copies = _await_copies(sender, len(queues))
    reached = [str(Layout(frame).fields.get("UserHeader.DestinationQueue")) for frame in copies]
    judge(
        "MQMQ-2.2.20.1-01",
        "MQDMPR-3.1.1.12-28",
        "MQDMPR-3.1.1.12-27",
        "MQMQ-2.2.20.1-D02",
        *RULES_OF_ENQUEUEING,
        expected=any_order(*(_parse_name_in_list(name)[1] for name in queues)),
        case="destinations of the copies",
        observed=reached,
        evidence=copies,
    )
    numbers = [Layout(frame).fields.get("UserHeader.MessageID") for frame in copies]
    judge(
        "MQDMPR-3.1.1.12-D02",
        "MQMQ-2.2.19.2-07",
        expected=distinct_values("MessageIDs", len(queues)),
        observed=numbers,
        evidence=copies,
    )
    for frame in copies:
        found = Layout(frame)
        null = {"UserHeader.QueueManagerAddress": str(UUID(int=0))}
        judge("MQMQ-2.2.19.2-04", expected=fields(null), observed=found, evidence=frame)
        if delivery == "transactional":
            judge("MQMQ-2.2.19.1-04", expected=fields({"BaseHeader.Flags.PR": 0}), observed=found, evidence=frame)
            wanted = {"UserHeader.Flags.DM": between(1, 1)}
            judge("MQMQ-2.2.19.2-20", expected=fields(wanted), observed=found, evidence=frame)
    judge(
        "MQDMPR-3.1.7.1.27-12",
        expected=none("field in which the copies differ"),
        observed=_find_differing_fields(copies),
        evidence=copies,
    )
    for frame in copies:
        traced = fields({"BaseHeader.Flags.DH": 1, "DebugHeader.QueueIdentifier": TRACE_QUEUE_GUID})
        judge("MQDMPR-3.1.7.1.30-D04", expected=traced, observed=Layout(frame), evidence=frame)
        named = fields({"DebugHeader.Flags.QT": 1, "DebugHeader.QueueIdentifier": TRACE_QUEUE_GUID})
        judge("MQDMPR-3.1.7.1.32-D07", expected=named, observed=Layout(frame), evidence=frame)
        flags = fields({"UserHeader.Flags.JP": 1, "UserHeader.Flags.JN": 1})
        judge(*RULES_OF_JOURNALING, expected=flags, observed=Layout(frame), evidence=frame)
        unsigned = fields({"MultiQueueFormatHeader.Signature.Signature": ""})
        judge("MQDMPR-3.1.7.1.32-D06", expected=unsigned, observed=Layout(frame), evidence=frame)
        _judge_queue_lists(judge, frame, {"Destination": queues, "Administration": [admin], "Response": [response]})
    known = len(peer.inbox.packets_with_possibly_malformed_messages)
    sut.send(queues[0], label="to a single queue")
    peer.environment.run_until(
        lambda: len(peer.inbox.packets_with_possibly_malformed_messages) > known,
        sut.connect_timeout_ms + sut.response_timeout_ms,
    )
    for frame in peer.inbox.packets_with_possibly_malformed_messages[known:]:
        single = {"UserHeader.Flags.MQ": 0}
        judge("MQDMPR-3.1.7.1.30-D05", expected=fields(single), observed=Layout(frame), evidence=frame)
    peer.inbox.acknowledge()


def _find_differing_fields(copies):
    """Return the fields in which the copies differ, except padding and fields that depend on the queue
    or the session.
    """
    found = [Layout(frame).fields for frame in copies]
    headers = ("BaseHeader.", "UserHeader.", "MessageProperties")
    names = {name for each in found for name in each if name.startswith(headers)}
    return sorted(
        name
        for name in names - set(FIELDS_THAT_MAY_DIFFER_BETWEEN_COPIES)
        if len({str(each.get(name)) for each in found}) > 1
    )


def _judge_queue_lists(judge, frame, lists):
    found = Layout(frame)
    judge(
        "MQMQ-2.2.20.1-D01",
        "MQDMPR-3.1.7.1.30-D05",
        expected=fields({"UserHeader.Flags.MQ": 1}),
        observed=found,
        evidence=frame,
    )
    for name, queues in lists.items():
        if name in POSSIBLY_EMPTY_LIST_NAMES and not found.fields.get(
            f"{MULTI_QUEUE_HEADER_NAME}.{name}.ElementCount", 1
        ):
            queues = []
        expected, observed = _build_expected_and_found_list_fields(name, queues, found)
        for rules, field in RULES_AND_SIZE_FIELD_OF_LISTS:
            one = f"{MULTI_QUEUE_HEADER_NAME}.{name}.{field}"
            judge(*rules, expected=fields({one: expected[one]}), observed={one: observed[one]}, evidence=frame)
        judge(
            "MQMQ-2.2.20.2-D02",
            "MQMQ-2.2.20.2-D03",
            "MQMQ-2.2.20.1-D03",
            "MQDMPR-3.1.7.1.32-D06",
            "MQMQ-2.2.18.1.4.1-01",
            "MQMQ-2.2.18.1.4.1-D01",
            expected=expected,
            observed=observed,
            evidence=frame,
        )
        header = {f"{MULTI_QUEUE_HEADER_NAME}.{name}.HeaderID": SIGNATURE_BY_LIST_NAME[name]}
        judge("MQMQ-2.2.20.2-D01", expected=fields(header), observed=found, evidence=frame)
    signature = {
        f"{MULTI_QUEUE_HEADER_NAME}.Signature.ID": LIST_SIGNATURE_HEADER_ID,
        f"{MULTI_QUEUE_HEADER_NAME}.Signature.Reserved": 0,
        f"{MULTI_QUEUE_HEADER_NAME}.Signature.Size": 0,
    }
    judge("MQMQ-2.2.20.3-D01", expected=fields(signature), observed=found, evidence=frame)
    destinations, listed = _build_expected_and_found_list_fields("Destination", lists["Destination"], found)
    names = f"{MULTI_QUEUE_HEADER_NAME}.Destination.FormatNameList"
    judge(
        "MQMQ-2.2.20.1-01",
        "MQDMPR-3.1.1.12-28",
        "MQDMPR-3.1.1.12-27",
        "MQDMPR-3.1.7.1.27-10",
        expected=destinations[names],
        case="FormatType and FormatName of each destination",
        observed=listed[names],
        evidence=frame,
    )


@needs("send", "security", "several_queues", "private_names")
@covers("MQMQ-2.2.20.1-D01", "MQMQ-2.2.20.1-01")
@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
@pytest.mark.parametrize("level", ["none", "base", "enhanced"])
def test_protected_message_to_several_queues_has_list(peer, sut, judge, level, signed):
    """The SUT sends an encrypted or signed message to two private queues of the peer. Each copy has MQ set, and the
    list contains both queues.
    """
    queues = [peer.build_private_format_name_of_peer(0x0001_BEEF), peer.build_private_format_name_of_peer(0x0002_BEEF)]
    sender = Sender(peer, sut, ",".join(queues))
    authentication = {"authentication_level": "sig20"} if signed else {}
    sender.send(1, label=MESSAGE_LABEL, privacy_level=level, **authentication)
    names = f"{MULTI_QUEUE_HEADER_NAME}.Destination.FormatNameList"
    for frame in _await_copies(sender, len(queues)):
        found = Layout(frame)
        judge("MQMQ-2.2.20.1-D01", expected=fields({"UserHeader.Flags.MQ": 1}), observed=found, evidence=frame)
        expected, observed = _build_expected_and_found_list_fields("Destination", queues, found)
        judge(
            "MQMQ-2.2.20.1-D01",
            "MQMQ-2.2.20.1-01",
            expected=expected[names],
            case="FormatType and FormatName of each destination",
            observed=observed[names],
            evidence=frame,
        )


@covers("MQMQ-2.2.20.1-D01", "MQDMPR-3.1.7.1.30-D05")
@varied("acknowledgments", "negative journaling", "response queue", "time to be received", "time to reach queue")
def test_message_to_one_queue_has_no_multi_queue_header(peer, sut, judge):
    """The SUT sends a message to one queue: MQ is 0, and the packet ends after its MessagePropertiesHeader."""
    sender = Sender(peer, sut)
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    wanted = {"UserHeader.Flags.MQ": 0, "bytes after the last header": 0}
    observed = Layout(sent[0])
    judge.all(expected=fields(wanted), observed=observed, evidence=sent)
    session.acknowledge_all()


@needs("send", "public_names", "several_queues")
@covers("MQMQ-2.2.20.1-D02")
@pytest.mark.parametrize("at", [0, 1], ids=["first", "last"])
def test_copy_to_public_queue_has_dq_5(peer, sut, judge, at):
    """The SUT sends a message to a public and a direct name of the peer, in either order. One copy has DQ 5, and the
    other has DQ 7.
    """
    queues = [peer.direct_name("mqc-a")]
    queues.insert(at, peer.format_name_of_public_queue)
    sender = Sender(peer, sut, ",".join(queues))
    try:
        sender.send(1, label=MESSAGE_LABEL)
    except ControlRefused as refused:
        judge("MQMQ-2.2.20.1-D02", expected=any_order(5, 7), observed=f"refused: {refused}", case="DQ")
        return
    copies = _await_copies(sender, len(queues))
    reached = [Layout(frame).fields.get("UserHeader.Flags.DQ", -1) for frame in copies]
    judge("MQMQ-2.2.20.1-D02", expected=any_order(5, 7), observed=reached, case="DQ of the copies", evidence=copies)


@needs("send", "private_names", "several_queues")
@covers("MQMQ-2.2.20.1-D02", "MQMQ-2.2.18.1.7.2-D01", "MQMQ-2.2.18.1.7.2-03")
@pytest.mark.parametrize("name", ["mqc-a", "mqc-ab"])
def test_list_has_direct_and_private_names_with_padding(peer, sut, judge, name):
    """The SUT sends a message to a direct and a private name of the peer: the list contains both, and the private name
    begins at a multiple of 4 bytes.
    """
    queues = [peer.direct_name(name), peer.build_private_format_name_of_peer(0x0001_BEEF)]
    sender = Sender(peer, sut, ",".join(queues))
    sender.send(1, label=MESSAGE_LABEL)
    copies = _await_copies(sender, len(queues))
    reached = [Layout(frame).fields.get("UserHeader.Flags.DQ", -1) for frame in copies]
    judge("MQMQ-2.2.20.1-D02", expected=any_order(3, 7), observed=reached, case="DQ of the copies", evidence=copies)
    for frame in copies:
        expected, observed = _build_expected_and_found_list_fields("Destination", queues, Layout(frame))
        judge(
            "MQMQ-2.2.18.1.7.2-D01",
            "MQMQ-2.2.18.1.7.2-03",
            expected=expected,
            observed=observed,
            evidence=frame,
        )


TRACE_QUEUE_GUIDS = [f"6d71636f-6e66-4f72-8d00-0000000000c{number}" for number in (4, 5)]
LIST_FIELDS_BY_RULE = {
    "MQMQ-2.2.20.2-D01": ("Destination.HeaderID", "Administration.HeaderID", "Response.HeaderID"),
    "MQMQ-2.2.20.2-D02": ("Destination.Reserved", "Destination.ElementCount", "Destination.FormatNameList"),
    "MQMQ-2.2.20.3-D01": ("Signature.ID", "Signature.Reserved"),
}
DEBUG_HEADER_FIELDS_BY_RULE = {
    "MQMQ-2.2.20.8-01": ("Flags.QT",),
    "MQMQ-2.2.20.8-17": ("Flags.QT", "QueueIdentifier"),
    "MQMQ-2.2.20.8-D01": ("Flags.QT", "Reserved", "QueueIdentifier"),
}
"""For each rule, the fields that the rule is about."""


@needs("send", "security")
@covers(*LIST_FIELDS_BY_RULE, *DEBUG_HEADER_FIELDS_BY_RULE, "MQMQ-2.2.19.1-12")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_signed_traced_message_has_debug_header_and_lists(peer, sut, judge, delivery):
    """The SUT sends two traced messages with MSMQ 3.0 signatures and different report queues. Each message has TR set
    and a DebugHeader with its report queue. The lists follow, and their headers have the specified identifiers.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for trace_queue in TRACE_QUEUE_GUIDS:
        frame = outgoing.send(
            body="signed",
            label=MESSAGE_LABEL,
            delivery=delivery,
            authentication_level="sig30",
            trace_queue=trace_queue,
            response_queue=peer.direct_name("mqc-answers"),
        )
        found = Layout(frame)
        wanted = {
            "DebugHeader.Flags.QT": 1,
            "DebugHeader.Reserved": 0,
            "DebugHeader.QueueIdentifier": trace_queue,
            **{f"{MULTI_QUEUE_HEADER_NAME}.{name}.HeaderID": number for name, number in SIGNATURE_BY_LIST_NAME.items()},
            f"{MULTI_QUEUE_HEADER_NAME}.Destination.Reserved": 0,
            f"{MULTI_QUEUE_HEADER_NAME}.Destination.ElementCount": 1,
            f"{MULTI_QUEUE_HEADER_NAME}.Destination.FormatNameList": [_parse_name_in_list(outgoing.sender.to)],
            f"{MULTI_QUEUE_HEADER_NAME}.Signature.ID": LIST_SIGNATURE_HEADER_ID,
            f"{MULTI_QUEUE_HEADER_NAME}.Signature.Reserved": 0,
        }
        judge("MQMQ-2.2.19.1-12", expected=fields({"BaseHeader.Flags.TR": 1}), observed=found, evidence=frame)
        for part, table in (
            ("DebugHeader", DEBUG_HEADER_FIELDS_BY_RULE),
            (MULTI_QUEUE_HEADER_NAME, LIST_FIELDS_BY_RULE),
        ):
            for rule, names in table.items():
                expected = {f"{part}.{name}": wanted[f"{part}.{name}"] for name in names}
                observed = found.of(*expected)
                listed = f"{MULTI_QUEUE_HEADER_NAME}.Destination.FormatNameList"
                if listed in observed:
                    observed[listed] = _remove_direct_prefix(observed[listed])
                judge(rule, expected=fields(expected), observed=observed, evidence=frame)
    outgoing.end()


@needs("send", "queues", "several_queues")
@covers("MQMQ-2.2.20.1-01")
@pytest.mark.parametrize("at", [0, 1], ids=["first", "last"])
def test_list_contains_own_queue_of_sender(peer, sut, judge, at):
    """The SUT sends a message to a queue of the peer and to its own queue. The list in the peer's copy contains both
    queues.
    """
    queues = [peer.direct_name("mqc-a")]
    queues.insert(at, sut.direct_name(sut.new_queue("listed")))
    sender = Sender(peer, sut, ",".join(queues))
    sender.send(1, label=MESSAGE_LABEL)
    copies = _await_copies(sender, 1)
    names = f"{MULTI_QUEUE_HEADER_NAME}.Destination.FormatNameList"
    expected, observed = _build_expected_and_found_list_fields("Destination", queues, Layout(copies[0]))
    judge(
        "MQMQ-2.2.20.1-01",
        expected=expected[names],
        case="FormatType and FormatName of each destination",
        observed=observed[names],
        evidence=copies[0],
    )


@covers("MQMQ-2.2.18.1.4.1-D01")
@pytest.mark.parametrize("size", [15, 127, 128, 129, 255, 264])
def test_list_with_direct_name_of_any_length_is_accepted(peer, sut, judge, size):
    """Several messages arrive. The list of destinations in each message contains the message's own queue and a direct
    name, whose length differs from message to message. Each message is in its queue.
    """
    host = ".".join(["h" * 50] * 5)[: size - len(DIRECT_NAME_SUFFIX)]
    names = (sut.format_name().removeprefix("DIRECT="), DIRECT_NAME_SUFFIX.replace(":", f":{host}"))
    elements = [MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name)) for name in names]
    label = f"listed {size}"
    done = deliver_message(peer, peer.recoverable_message(label=label, mqf={"Destination": elements}), label)
    judge(
        "MQMQ-2.2.18.1.4.1-D01",
        expected=done.accepted_outcome,
        observed=done.outcome,
        evidence=done.frames,
        case="message",
    )
