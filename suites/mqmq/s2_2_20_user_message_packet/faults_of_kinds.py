"""Faults of the SoapHeader that occur only in messages of one kind. Spec: MS-MQMQ 2.2.20.7."""

from __future__ import annotations

from harness.faults.registry import add
from suites.mqmq.steps.faulty_messages import drop_messages
from suites.mqmq.steps.kinds_of_messages import has_large_body, is_express, is_transactional

for _name, _rule, _says, _when in (
    (
        "soap-reserved-of-transactional-message",
        "MQMQ-2.2.20.7-02",
        "a transactional message with a nonzero Reserved in its SoapHeader",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Reserved and is_transactional(packet),
    ),
    (
        "soap-reserved-0x8000-of-express-message",
        "MQMQ-2.2.20.7-02",
        "an express message with Reserved 0x8000 or more in its SoapHeader",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Reserved >= 0x8000 and is_express(packet),
    ),
    (
        "soap-reserved1-of-transactional-message",
        "MQMQ-2.2.20.7-05",
        "a transactional message with a nonzero Reserved1 in its SoapHeader",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Reserved1 and is_transactional(packet),
    ),
    (
        "soap-reserved1-of-large-message",
        "MQMQ-2.2.20.7-05",
        "a message with a body of more than 4 KiB and a nonzero Reserved1 in its SoapHeader",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Reserved1 and has_large_body(packet),
    ),
    (
        "soap-header-of-transactional-message",
        "MQMQ-2.2.20.7-D01",
        "a transactional message with a SoapHeader",
        lambda packet: packet.SoapHeader is not None and is_transactional(packet),
    ),
    (
        "soap-header-of-traced-message",
        "MQMQ-2.2.20.7-D01",
        "a message with a DebugHeader and a SoapHeader",
        lambda packet: packet.SoapHeader is not None and packet.DebugHeader is not None,
    ),
    (
        "soap-header-of-express-message",
        "MQMQ-2.2.20.7-03",
        "an express message whose SoapHeader has a Header",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Header and is_express(packet),
    ),
    (
        "soap-body-of-express-message",
        "MQMQ-2.2.20.7-06",
        "an express message whose SoapHeader has a Body",
        lambda packet: packet.SoapHeader is not None and packet.SoapHeader.Body and is_express(packet),
    ),
):
    add(
        f"receiver-message-with-{_name}-dropped",
        _rule,
        f"The receiver drops {_says}.",
        drop_messages(_when),
        blind=True,
    )
