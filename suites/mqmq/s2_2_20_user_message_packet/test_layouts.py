"""MS-MQMQ 2.2.20 UserMessage Packet: the layout of the SUT's messages.

The checks judge every field that the application determines. Fields that the document leaves to the implementation are
not judged.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.disposition import ADMINISTRATION_QUEUE_NAME, AcknowledgingReceiver, identifier

SECOND_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-000000000003")
TRACE_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000c3")
SECOND_TRACE_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000c4")
ZERO_GUID = str(UUID(int=0))
BASE_HEADER_SIGNATURE = 0x524F_494C
BASE_HEADER_PREFIX, USER_HEADER_PREFIX, PROPERTIES_HEADER_PREFIX, HEADER_ORDER_FIELD = (
    "BaseHeader.",
    "UserHeader.",
    "MessagePropertiesHeader.",
    "headers",
)
REACH_QUEUE_CLASS = 0x0002
MESSAGE_BODY, MESSAGE_LABEL, BODY_TYPE = "odd number of bytes", "label", 0x1011
LARGE_BODY = MESSAGE_BODY * 1_001
LONGEST_LABEL = "L" * 249
USER_AND_PROPERTIES_FIELDS_BY_RULE = {
    "MQMQ-2.2.19.2-D01": (USER_HEADER_PREFIX,),
    "MQMQ-2.2.19.2-D02": (f"{USER_HEADER_PREFIX}Flags.",),
    "MQMQ-2.2.19.3-D01": (PROPERTIES_HEADER_PREFIX,),
    "MQDMPR-3.1.1.12-D51": (f"{USER_HEADER_PREFIX}SourceQueueManager",),
    "MQDMPR-3.1.7.1.30-D03": (f"{USER_HEADER_PREFIX}Flags.MP", f"{PROPERTIES_HEADER_PREFIX}MessageClass"),
    "MQDMPR-3.1.7.1.32-02": (USER_HEADER_PREFIX, PROPERTIES_HEADER_PREFIX),
    "MQDMPR-3.1.7.1.32-03": (USER_HEADER_PREFIX, PROPERTIES_HEADER_PREFIX),
    "MQDMPR-3.1.7.1.32-06": (PROPERTIES_HEADER_PREFIX,),
    "MQDMPR-3.1.7.1.32-08": (USER_HEADER_PREFIX,),
    "MQDMPR-3.1.7.1.32-D02": (PROPERTIES_HEADER_PREFIX,),
    "MQDMPR-3.1.7.1.32-D05": (USER_HEADER_PREFIX,),
}
"""For each rule, the prefixes of the names of the fields that the rule is about."""
HEADER_FIELDS_BY_RULE = {
    "MQMQ-2.2.20-D02": (HEADER_ORDER_FIELD, "bytes after the last header"),
    "MQDMPR-3.1.7.1.30-03": (HEADER_ORDER_FIELD, "bytes after the last header"),
}
OPTIONAL_HEADER_FIELDS_BY_RULE = {
    "MQDMPR-3.1.7.1.30-05": (HEADER_ORDER_FIELD,),
    "MQDMPR-3.1.7.1.30-06": (HEADER_ORDER_FIELD,),
}
JOURNALING_FIELDS_BY_RULE = {
    "MQDMPR-3.1.7.1.32-D10": (f"{USER_HEADER_PREFIX}Flags.JP",),
    "MQDMPR-3.1.7.1.32-D11": (f"{USER_HEADER_PREFIX}Flags.JN",),
}
FIELDS_OF_EXPRESS_MESSAGE_BY_RULE = (
    USER_AND_PROPERTIES_FIELDS_BY_RULE
    | OPTIONAL_HEADER_FIELDS_BY_RULE
    | JOURNALING_FIELDS_BY_RULE
    | {
        "MQDMPR-3.1.7.1.30-D04": (HEADER_ORDER_FIELD,),
        "MQMQ-2.2.19.1-D01": (BASE_HEADER_PREFIX,),
        "MQMQ-2.2.19.2-D03": (f"{USER_HEADER_PREFIX}TimeToBeReceived",),
        "MQMQ-2.2.18-D01": (f"{USER_HEADER_PREFIX}TimeToBeReceived", f"{PROPERTIES_HEADER_PREFIX}ApplicationTag"),
        "MQDMPR-3.1.7.1.32-04": ("BaseHeader.PacketSize",),
        "MQDMPR-3.1.7.1.32-05": ("BaseHeader.Flags.PR", "BaseHeader.Flags.TR"),
        "MQDMPR-3.1.7.1.32-D01": (BASE_HEADER_PREFIX,),
    }
)
FIELDS_OF_TRANSACTIONAL_MESSAGE_BY_RULE = (
    USER_AND_PROPERTIES_FIELDS_BY_RULE
    | HEADER_FIELDS_BY_RULE
    | OPTIONAL_HEADER_FIELDS_BY_RULE
    | JOURNALING_FIELDS_BY_RULE
    | {
        "MQDMPR-3.1.7.1.30-D01": (HEADER_ORDER_FIELD,),
        "MQMQ-2.2.20.5-D01": ("TransactionHeader.",),
        "MQDMPR-3.1.7.1.32-05": ("BaseHeader.Flags.PR",),
        "MQDMPR-3.1.7.1.32-D01": (BASE_HEADER_PREFIX,),
        "MQDMPR-3.1.7.1.32-D04": ("TransactionHeader.",),
        "MQDMPR-3.1.7.1.32-D15": (f"{USER_HEADER_PREFIX}Flags.AQ",),
    }
)
FIELDS_OF_TRACED_MESSAGE_BY_RULE = (
    HEADER_FIELDS_BY_RULE
    | OPTIONAL_HEADER_FIELDS_BY_RULE
    | {
        "MQDMPR-3.1.7.1.30-D04": (HEADER_ORDER_FIELD,),
        "MQMQ-2.2.20.8-D01": ("DebugHeader.",),
        "MQMQ-2.2.19.1-D01": (BASE_HEADER_PREFIX,),
        "MQMQ-2.2.19.1-12": ("BaseHeader.Flags.TR",),
        "MQMQ-2.2.19.1-13": ("BaseHeader.Flags.TR", "BaseHeader.Flags.DH"),
        "MQDMPR-3.1.7.1.32-05": ("BaseHeader.Flags.TR",),
        "MQDMPR-3.1.7.1.32-D01": (BASE_HEADER_PREFIX,),
        "MQDMPR-3.1.7.1.32-D02": (PROPERTIES_HEADER_PREFIX,),
        "MQDMPR-3.1.7.1.32-D07": ("DebugHeader.",),
    }
)
FIELDS_OF_ACKNOWLEDGMENT_BY_RULE = USER_AND_PROPERTIES_FIELDS_BY_RULE | {
    "MQMQ-2.2.18.1.3-D01": (f"{PROPERTIES_HEADER_PREFIX}CorrelationID",),
    "MQMQ-2.2.18.1.5.2-D01": (f"{USER_HEADER_PREFIX}DestinationQueue",),
    "MQMQ-2.2.18.1.5.2-D02": (f"{USER_HEADER_PREFIX}DestinationQueue", f"{PROPERTIES_HEADER_PREFIX}MessageClass"),
    "MQMQ-2.2.18.1.6-D01": (f"{PROPERTIES_HEADER_PREFIX}MessageClass",),
    "MQMQ-2.2.18-D01": (f"{PROPERTIES_HEADER_PREFIX}MessageClass", f"{PROPERTIES_HEADER_PREFIX}CorrelationID"),
    "MQDMPR-3.1.7.1.32-D08": (f"{PROPERTIES_HEADER_PREFIX}MessageClass",),
}


UNSPECIFIED_FIELDS = (
    f"{USER_HEADER_PREFIX}Flags.RQ",
    f"{USER_HEADER_PREFIX}Flags.JN",
    f"{USER_HEADER_PREFIX}Flags.JP",
    f"{USER_HEADER_PREFIX}Flags.SH",
)
"""Fields of an acknowledgment that the document leaves to the implementation."""


def build_user_header_flag_fields(**named):
    """Return the bit fields of UserHeader.Flags by name. By default, DQ is 7, MP is 1, and all others are 0."""
    usual = dict.fromkeys(("RC", "DM", "JN", "JP", "AQ", "RQ", "SH", "TH", "CQ", "MQ", "AH", "HH"), 0)
    return {f"{USER_HEADER_PREFIX}Flags.{name}": value for name, value in (usual | {"DQ": 7, "MP": 1} | named).items()}


def judge_fields_of_rules(judge, rules, wanted, frame, *more):
    """Judge each rule by the fields whose names begin with one of the prefixes that `rules` lists for it."""
    layout = Layout(frame)
    found = layout.of(*wanted) | ({HEADER_ORDER_FIELD: layout.order} if HEADER_ORDER_FIELD in wanted else {})
    for rule, beginnings in rules.items():
        names = [name for name in wanted if name.startswith(beginnings)]
        expected, observed = ({name: one[name] for name in names} for one in (wanted, found))
        judge(rule, expected=fields(expected), observed=observed, evidence=[*more, frame])


def format_direct_name_text(name):
    """Return the text of a direct name in a packet, in lower case and with its null."""
    return name.removeprefix("DIRECT=").lower() + "\0"


@covers(*FIELDS_OF_ACKNOWLEDGMENT_BY_RULE)
@pytest.mark.parametrize("delivery", [0, 1])
@pytest.mark.parametrize("queue", [ADMINISTRATION_QUEUE_NAME, f"{ADMINISTRATION_QUEUE_NAME}2"])
def test_acknowledgment_has_fields_in_place(peer, sut, judge, queue, delivery):
    """The SUT acknowledges the arrival of a message. The destination, the CorrelationID, the class and the flags of the
    acknowledgment are in the specified fields.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    to = rf"TCP:{peer.address}\private$\{queue}"
    packet = receiver.build_message({"AdminQueue": to, "DM": delivery}, properties={"PA": 1})
    sent, frame = receiver.send_and_await_acks(packet)
    wanted = {
        f"{USER_HEADER_PREFIX}SourceQueueManager": str(sut.guid),
        f"{USER_HEADER_PREFIX}QueueManagerAddress": ZERO_GUID,
        **{
            name: value
            for name, value in build_user_header_flag_fields(DM=delivery).items()
            if name not in UNSPECIFIED_FIELDS
        },
        f"{USER_HEADER_PREFIX}DestinationQueue": format_direct_name_text(to),
        f"{PROPERTIES_HEADER_PREFIX}MessageClass": REACH_QUEUE_CLASS,
        f"{PROPERTIES_HEADER_PREFIX}CorrelationID": identifier(sent),
        f"{PROPERTIES_HEADER_PREFIX}PrivacyLevel": 0,
    }
    judge_fields_of_rules(judge, FIELDS_OF_ACKNOWLEDGMENT_BY_RULE, wanted, frame, sent)


def _build_expected_properties_fields(**fields):
    usual = {
        "Flags.PA": 0,
        "Flags.PR": 0,
        "Flags.NA": 0,
        "Flags.NR": 0,
        "LabelLength": len(MESSAGE_LABEL) + 1,
        "MessageClass": 0,
        "ApplicationTag": 0,
        "MessageSize": len(MESSAGE_BODY),
        "PrivacyLevel": 0,
        "ExtensionSize": 0,
        "Label": MESSAGE_LABEL + "\0",
        "MessageBody": MESSAGE_BODY.encode().hex(),
    }
    return {f"{PROPERTIES_HEADER_PREFIX}{name}": value for name, value in (usual | fields).items()}


@needs("send")
@covers(*FIELDS_OF_EXPRESS_MESSAGE_BY_RULE)
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_express_message_has_fields_in_place(peer, sut, judge, delivery):
    """The SUT sends an express message with a large body, or a recoverable message with the longest label; the message
    has every property that an application can set. Each property is in the specified field.
    """
    answers = peer.direct_name("mqc-answers")
    lifetime_s, time_to_reach_queue_s = (0x0102_0304, 1_000) if delivery == "express" else (0x8102_0304, 0x0001_0203)
    label, priority, body = (
        (MESSAGE_LABEL, 6, LARGE_BODY) if delivery == "express" else (LONGEST_LABEL, 7, MESSAGE_BODY)
    )
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(
        body=body,
        label=label,
        body_type=BODY_TYPE,
        priority=priority,
        delivery=delivery,
        acks=["positive_receive", "negative_receive"],
        admin_queue=rf"PRIVATE={SECOND_QUEUE_MANAGER_GUID}\000000A7",
        response_queue=answers,
        time_to_reach_queue_s=time_to_reach_queue_s,
        time_to_be_received_s=lifetime_s,
        journal=["negative"],
        application_tag=0xC0FF_EE01,
    )
    outgoing.end()
    wanted = {
        "BaseHeader.VersionNumber": 0x10,
        "BaseHeader.Flags.PR": priority,
        "BaseHeader.Flags.IN": 0,
        "BaseHeader.Flags.DH": 0,
        "BaseHeader.Flags.TR": 0,
        "BaseHeader.Signature": BASE_HEADER_SIGNATURE,
        "BaseHeader.TimeToReachQueue": time_to_reach_queue_s,
        "BaseHeader.PacketSize": len(frame.data),
        f"{USER_HEADER_PREFIX}SourceQueueManager": str(sut.guid),
        f"{USER_HEADER_PREFIX}QueueManagerAddress": ZERO_GUID,
        f"{USER_HEADER_PREFIX}TimeToBeReceived": lifetime_s,
        **build_user_header_flag_fields(DM=int(delivery == "recoverable"), JN=1, AQ=6, RQ=7),
        f"{USER_HEADER_PREFIX}DestinationQueue": format_direct_name_text(outgoing.sender.to),
        f"{USER_HEADER_PREFIX}AdminQueue": f"{SECOND_QUEUE_MANAGER_GUID}\\000000a7",
        f"{USER_HEADER_PREFIX}ResponseQueue": format_direct_name_text(answers),
        **_build_expected_properties_fields(
            **{"Flags.PR": 1, "Flags.NR": 1, "ApplicationTag": 0xC0FF_EE01, "BodyType": BODY_TYPE},
            Label=label + "\0",
            LabelLength=len(label) + 1,
            MessageSize=len(body),
            MessageBody=body.encode().hex(),
        ),
        HEADER_ORDER_FIELD: ["BaseHeader", "UserHeader", "MessagePropertiesHeader"],
        "bytes after the last header": 0,
    }
    judge_fields_of_rules(judge, FIELDS_OF_EXPRESS_MESSAGE_BY_RULE, wanted, frame)


@needs("send")
@covers(*FIELDS_OF_TRANSACTIONAL_MESSAGE_BY_RULE)
def test_transactional_message_has_fields_in_place(peer, sut, judge):
    """The SUT sends a transactional message: the TransactionHeader is between UserHeader and MessagePropertiesHeader,
    and each property is in the specified field.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.direct_name("mqc-layout"))
    first = outgoing.send(body=MESSAGE_BODY, label=MESSAGE_LABEL, delivery="transactional")
    frame = outgoing.send(
        body=MESSAGE_BODY,
        label=MESSAGE_LABEL,
        delivery="transactional",
        acks=["positive_arrival"],
        admin_queue=f"PUBLIC={SECOND_QUEUE_MANAGER_GUID}",
        time_to_reach_queue_s=1_000,
        time_to_be_received_s=0x0102_0304,
        journal=["positive", "negative"],
        application_tag=0xC0FF_EE01,
        body_type=BODY_TYPE,
    )
    outgoing.end()
    wanted = {
        "BaseHeader.Flags.PR": 0,
        "BaseHeader.TimeToReachQueue": 1_000,
        f"{USER_HEADER_PREFIX}SourceQueueManager": str(sut.guid),
        f"{USER_HEADER_PREFIX}QueueManagerAddress": ZERO_GUID,
        f"{USER_HEADER_PREFIX}TimeToBeReceived": 0x0102_0304,
        **build_user_header_flag_fields(DM=1, JP=1, JN=1, AQ=5, TH=1),
        f"{USER_HEADER_PREFIX}DestinationQueue": format_direct_name_text(outgoing.sender.to),
        f"{USER_HEADER_PREFIX}AdminQueue": str(SECOND_QUEUE_MANAGER_GUID),
        "TransactionHeader.Flags.CG": 0,
        "TransactionHeader.Flags.FM": 1,
        "TransactionHeader.Flags.LM": 1,
        "TransactionHeader.TxSequenceNumber": 2,
        "TransactionHeader.PreviousTxSequenceNumber": 1,
        **_build_expected_properties_fields(**{"Flags.PA": 1, "ApplicationTag": 0xC0FF_EE01, "BodyType": BODY_TYPE}),
        HEADER_ORDER_FIELD: ["BaseHeader", "UserHeader", "TransactionHeader", "MessagePropertiesHeader"],
        "bytes after the last header": 0,
    }
    judge_fields_of_rules(judge, FIELDS_OF_TRANSACTIONAL_MESSAGE_BY_RULE, wanted, frame, first)


@needs("send")
@covers(*FIELDS_OF_TRACED_MESSAGE_BY_RULE)
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_traced_message_has_debug_header_at_its_end(peer, sut, judge, delivery):
    """The SUT sends two messages with tracing that name different report queues: TR and DH are set, and the DebugHeader
    with the report queue is the last header.
    """
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(body=MESSAGE_BODY, label=MESSAGE_LABEL, delivery=delivery, trace_queue=str(TRACE_QUEUE_GUID))
    second = outgoing.send(
        body=MESSAGE_BODY, label=MESSAGE_LABEL, delivery=delivery, trace_queue=str(SECOND_TRACE_QUEUE_GUID)
    )
    outgoing.end()
    transaction = ["TransactionHeader"] if delivery == "transactional" else []
    wanted = {
        "BaseHeader.Flags.IN": 0,
        "BaseHeader.Flags.DH": 1,
        "BaseHeader.Flags.TR": 1,
        f"{PROPERTIES_HEADER_PREFIX}Label": MESSAGE_LABEL + "\0",
        "DebugHeader.Flags.QT": 1,
        "DebugHeader.QueueIdentifier": str(TRACE_QUEUE_GUID),
        HEADER_ORDER_FIELD: ["BaseHeader", "UserHeader", *transaction, "MessagePropertiesHeader", "DebugHeader"],
        "bytes after the last header": 0,
    }
    judge_fields_of_rules(judge, FIELDS_OF_TRACED_MESSAGE_BY_RULE, wanted, frame)
    named = {"DebugHeader.Flags.QT": 1, "DebugHeader.QueueIdentifier": str(SECOND_TRACE_QUEUE_GUID)}
    judge(
        "MQDMPR-3.1.7.1.32-D07",
        "MQMQ-2.2.20.8-D01",
        expected=fields(named),
        observed=Layout(second),
        case="message with another report queue",
        evidence=[frame, second],
    )
