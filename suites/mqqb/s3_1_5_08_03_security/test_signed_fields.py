"""MS-MQQB 3.1.5.8.3 Security: the fields that a signature covers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement
from harness.wire.protection import SIG10, SIG20, SIG30, compute_signature
from suites.mqqb.steps.secured import SecuredMessageSender, add_signature, judge_dispositions

NOT_STORED_OUTCOME = "not stored in its queue"
SIGNATURE_BY_VERSION = {"MSMQ 1.0": SIG10, "MSMQ 2.0": SIG20, "MSMQ 3.0": SIG30}
RULE_BY_SIGNATURE_VERSION = {
    "MSMQ 1.0": "MQQB-3.1.5.8.3-08",
    "MSMQ 2.0": "MQQB-3.1.5.8.3-04",
    "MSMQ 3.0": "MQQB-3.1.5.8.3-11",
}
RULE_OF_REFUSED_SIGNATURE = "MQQB-3.1.5.8.3-14"
OTHER_RESPONSE_QUEUE_NAME = r"TCP:10.0.0.9\private$\answers"
CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-00000000c0c0")
LONG_BODY = b"a long body " * 500
SignedFieldChange = tuple[dict[str, Any], dict[str, Any]]
CHANGES_BY_SIGNED_FIELD: dict[str, tuple[SignedFieldChange, str]] = {
    "application tag": (({"ApplicationTag": 0}, {"ApplicationTag": 0x51D5_0002}), "123"),
    "CorrelationID": (({"CorrelationID": bytes(20)}, {"CorrelationID": b"\5" * 20}), "123"),
    "label": (({}, {"label": "a label"}), "123"),
    "end of the body": (({"body": LONG_BODY}, {"body": LONG_BODY[:-1] + b"?"}), "123"),
    "ResponseQueue": (({}, {"header": {"ResponseQueue": OTHER_RESPONSE_QUEUE_NAME}}), "123"),
    "AdminQueue": (({"header": {"AdminQueue": None}}, {}), "123"),
    "body type": (({"BodyType": 0}, {"BodyType": 8}), "23"),
    "ConnectorType": (({}, {"header": {"ConnectorType": CONNECTOR_GUID}}), "23"),
    "priority": (({"base": {"PR": 3}}, {"base": {"PR": 5}}), "23"),
    "requested acknowledgments": (({"PA": 0, "NA": 0}, {}), "23"),
    "message class": (({}, {"MessageClass": 2}), "23"),
    "extension": (({}, {"ExtensionData": b"an extension"}), "3"),
    "list of destinations": (({}, {"several": 2}), "3"),
}
"""The fields of a message before and after the message was signed, and the versions of signatures that cover them."""


@needs("security", "receive")
@covers(*RULE_BY_SIGNATURE_VERSION.values(), RULE_OF_REFUSED_SIGNATURE)
def test_message_with_a_field_changed_after_signing_is_refused(peer, sut, judge):
    """The peer signs messages, each with one kind of signature, and then changes one field that the signature covers.
    The SUT does not store the messages.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    packets, table = {}, []
    for kind, version in SIGNATURE_BY_VERSION.items():
        for field, ((before, after), versions) in CHANGES_BY_SIGNED_FIELD.items():
            if kind[5] not in versions:
                continue
            value = compute_signature(_build_message(secured, kind, before), version, ALICE.key)
            changed = _build_message(secured, kind, after)
            packets[f"{kind}, {field}"] = add_signature(changed, value, in_list=_is_list_signature(kind))
            table += [
                (rule, f"{kind}, {field}", "kept", NOT_STORED_OUTCOME)
                for rule in (RULE_BY_SIGNATURE_VERSION[kind], RULE_OF_REFUSED_SIGNATURE)
            ]
    judge_dispositions(judge, secured, secured.send_and_read_dispositions(packets), table)


def _is_list_signature(kind):
    return kind == "MSMQ 3.0"


def _build_message(secured, kind, fields):
    fields = dict(fields)
    number = fields.pop("several", 1)
    header = {"DM": 0, **fields.pop("header", {})}
    packet = secured.message(several=_is_list_signature(kind), header=header, **fields)
    if number == 2:
        names = secured.sut.format_name("plain").removeprefix("DIRECT="), OTHER_RESPONSE_QUEUE_NAME
        packet["MultiQueueFormatHeader"].Destination = [
            MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name)) for name in names
        ]
    return packet
