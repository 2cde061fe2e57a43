"""MS-MQMQ 2.5 Message Properties for Digital Signatures. MS-MQMQ 2.5.1, MS-MQMQ 2.5.2, MS-MQMQ 2.5.3.

Each property in turn has another value: signed with it, a message is genuine; signed without, it is not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from harness.run.marks import covers, needs
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement
from harness.wire.protection import SIG10, SIG20, SIG30
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.secured import Secured, signed, with_signature

ARRIVED, BAD = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"
CONNECTOR = "6d71636f-6e66-4f72-8d00-0000000000c0"


class Property(NamedTuple):
    """A property: the layer and the field that have it, another value, and its rules by kind of signature."""

    layer: str
    field: str
    value: Any
    rules: tuple[str | None, str | None, str | None]


PROPERTIES = (
    Property("MessagePropertiesHeader", "CorrelationID", bytes(range(20)), ("02", "02", "02")),
    Property("MessagePropertiesHeader", "ApplicationTag", 0x01020304, ("03", "03", "03")),
    Property("MessagePropertiesHeader", "MessageBody", b"a body", ("04", "04", "04")),
    Property("MessagePropertiesHeader", "Label", "a label", ("05", "05", "05")),
    Property("UserHeader", "ResponseQueue", "TCP:{peer}\\private$\\mqc-answers", ("06", "06", "06")),
    Property("UserHeader", "AdminQueue", "TCP:{peer}\\PRIVATE$\\MQC-PEER", ("07", "07", "07")),
    Property("MessagePropertiesHeader", "ExtensionData", b"ext", (None, None, "08")),
    Property("MultiQueueFormatHeader", "Destination", "another", (None, None, "09")),
    Property("UserHeader", "SourceQueueManager", OTHER_GUID, (None, "08", "10")),
    Property("UserHeader", "DM", 1, (None, "09", "11")),
    Property("BaseHeader", "PR", 5, (None, "10", "12")),
    Property("UserHeader", "JN", 1, (None, "11", "13")),
    Property("UserHeader", "JP", 1, (None, "11", "13")),
    Property("MessagePropertiesHeader", "NR", 1, (None, "12", "14")),
    Property("MessagePropertiesHeader", "PR", 1, (None, "12", "14")),
    Property("MessagePropertiesHeader", "MessageClass", 1, (None, "13", "15")),
    Property("MessagePropertiesHeader", "BodyType", 8, (None, "14", "16")),
    Property("UserHeader", "ConnectorType", CONNECTOR, (None, "15", "17")),
    Property("UserHeader", "DestinationQueue", "TCP:{sut}\\{QUEUE}", (None, "16", None)),
)
SECTIONS = {SIG10: "MQMQ-2.5.1-", SIG20: "MQMQ-2.5.2-", SIG30: "MQMQ-2.5.3-"}


def _of(version):
    index = list(SECTIONS).index(version)
    found = [(one, f"{SECTIONS[version]}{one.rules[index]}") for one in PROPERTIES if one.rules[index]]
    rules = sorted({rule for _, rule in found})
    return pytest.param(version, found, marks=covers(*rules), id=SECTIONS[version].strip("-"))


@needs("security", "receive", "configure")
@pytest.mark.parametrize(("version", "properties"), [_of(version) for version in SECTIONS])
def test_every_property_is_signed(peer, sut, judge, version, properties):
    """A message with another value is accepted with its own signature, and refused with one of before."""
    secured = Secured(peer, sut)

    def message():
        return secured.message(several=version == SIG30, body=b"", header={"ResponseQueue": None})

    packets = {}
    for number, (changed, _) in enumerate(properties):
        packets[f"{number} signed"] = signed(_with(message(), changed, peer, sut), version)
        earlier = message()
        before = signed(earlier, version)
        several = version == SIG30
        value = before["MultiQueueFormatHeader"].Signature.Signature if several else before["SecurityHeader"].Signature
        packets[f"{number} unsigned"] = with_signature(_with(message(), changed, peer, sut), value, in_list=several)
    fates = secured.dispositions(packets)
    for number, (changed, rule) in enumerate(properties):
        good, bad = fates[f"{number} signed"], fates[f"{number} unsigned"]
        judge(
            rule,
            expected=f"{changed.field}: signed with it {ARRIVED}, without {BAD}",
            observed=f"{changed.field}: signed with it {good.answer}, without {bad.answer}",
            evidence=[*good.frames, *bad.frames],
            errata="E81",
        )


def _with(packet, changed, peer, sut):
    """Give a message another value of a property."""
    value = changed.value
    if changed.field == "Destination":
        names = (sut.format_name("plain"), sut.format_name("transactional"))
        elements = [
            MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name.removeprefix("DIRECT=")))
            for name in names
        ]
        value = elements
    elif isinstance(value, str):
        value = value.format(peer=peer.address, sut=sut.address, QUEUE=sut.queue("plain").upper())
    setattr(packet[changed.layer], changed.field, value)
    return packet
