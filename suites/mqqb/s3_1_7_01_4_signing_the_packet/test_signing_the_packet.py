"""MS-MQQB 3.1.7.1.4 Signing the Packet."""

from __future__ import annotations

from base64 import b64encode

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB
from harness.wire.protection import SIG10, SIG20, SIG30, is_signature
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

WRONG_KEY_OUTCOME = "not signed with the user's key"
DELIVERY_MODES = ("express", "recoverable", "transactional")
RULES_OF_UNSIGNED_MESSAGES = ("MQQB-3.1.7.1.4-01", "MQDMPR-3.1.1.12-10")
BODY_AND_LABEL_BY_SIGNATURE_TYPE = {
    "sig10": {"body": "", "label": "a label"},
    "sig20": {"body": "signed " * 10_000, "label": "a label".ljust(249, "x")},
    "sig30": {"body": "signed " * 1_000, "label": "a label"},
}
"""For each signature type, the body and the label of its message. One message has no body, and one message has a body
of more than 64 KB.
"""
SIGNED_EXTENSION = {
    "extension_base64": b64encode(b"signed extension of an odd number of bytes.").decode(),
    "correlation_id": bytes(range(1, 21)).hex(),
}
"""Properties that a signature covers, for a SUT with the facility send_extension."""
SIGNED_BODY_TYPE = 8
SIGNATURE_TYPE_BY_NAME = {"sig10": SIG10, "sig20": SIG20, "sig30": SIG30}
RULES_BY_SIGNATURE_TYPE = {
    "sig10": (
        "MQQB-3.1.7.1.4-07",
        "MQQB-3.1.7.1.4-08",
        "MQDMPR-3.1.1.12-D64",
        "MQDMPR-3.1.1.12-D56",
        "MQMQ-2.2.20.6-25",
        "MQDMPR-3.1.1.12-11",
    ),
    "sig20": (
        "MQQB-3.1.7.1.4-07",
        "MQQB-3.1.7.1.4-08",
        "MQDMPR-3.1.1.12-D64",
        "MQDMPR-3.1.1.12-D56",
        "MQMQ-2.2.20.6-26",
        "MQDMPR-3.1.1.12-12",
    ),
    "sig30": (
        "MQQB-3.1.7.1.4-04",
        "MQQB-3.1.7.1.4-05",
        "MQMQ-2.2.20.6-27",
        "MQDMPR-3.1.1.12-13",
        "MQMQ-2.2.20.3-05",
        "MQDMPR-3.1.1.12-30",
        "MQDMPR-3.1.1.12-29",
    ),
}
"""The rules about each signature type. The sig30 signature is in MultiQueueFormatHeader; the other signatures are in
SecurityHeader.
"""


def _get_signatures(frame):
    """Return the signatures in the SecurityHeader and in the MultiQueueFormatHeader of a message."""
    several = frame["MultiQueueFormatHeader"].Signature.Signature if frame["UserHeader"].MQ else b""
    return bytes(frame["SecurityHeader"].Signature) if frame["UserHeader"].SH else b"", bytes(several)


def _get_signature_type_name(value, frame, signer=ALICE):
    """Return the name of the type of a signature that the key of a user's certificate verifies."""
    found = [
        name
        for name, kind in SIGNATURE_TYPE_BY_NAME.items()
        if is_signature(value, frame.data, kind, signer.certificate)
    ]
    return found[0] if found else WRONG_KEY_OUTCOME


@needs("security", "send")
@covers(*RULES_OF_UNSIGNED_MESSAGES)
@pytest.mark.parametrize("delivery", DELIVERY_MODES)
def test_message_without_authentication_level_is_not_signed(peer, sut, judge, delivery):
    """The SUT sends a message without an authentication level: the packet has no signature."""
    outgoing = MessagesSentBySut(peer, sut)
    plain = outgoing.send(body="not signed", label="a label", delivery=delivery)
    outgoing.end()
    judge.all(
        expected=holds("not signed", otherwise="signed"),
        observed=_get_signatures(plain) == (b"", b""),
        evidence=plain,
        case="message",
    )


@needs("security", "send")
@covers(
    "MQQB-3.1.7.1.4-01",
    "MQDMPR-3.1.1.12-09",
    "MQQB-3.1.7.1-07",
    "MQDMPR-3.1.7.1.30-D02",
    "MQDMPR-3.1.7.1.32-07",
    *(rule for rules in RULES_BY_SIGNATURE_TYPE.values() for rule in rules),
)
@pytest.mark.parametrize("delivery", DELIVERY_MODES)
def test_message_is_signed_by_requested_signature_type(peer, sut, judge, delivery):
    """The SUT sends a message for each signature type. Each message has the user's signature of the requested type, in
    the header for that type. After the loss of the session, the SUT signs each message again.
    """
    outgoing = MessagesSentBySut(peer, sut)
    found = {}
    extended = SIGNED_EXTENSION if sut.has("send_extension") else {}
    for level in SIGNATURE_TYPE_BY_NAME:
        frame = outgoing.poll(
            **BODY_AND_LABEL_BY_SIGNATURE_TYPE[level],
            **extended,
            delivery=delivery,
            application_tag=7,
            body_type=SIGNED_BODY_TYPE,
            priority=5,
            journal=["negative"],
            response_queue=f"DIRECT=TCP:{peer.address}\\private$\\mqc-answers",
            authentication_level=level,
            sender=ALICE.name,
        )
        single, several = (b"", b"") if frame is None else _get_signatures(frame)
        observed = "not sent" if frame is None else bool(single or several)
        judge(
            "MQQB-3.1.7.1.4-01",
            "MQDMPR-3.1.1.12-09",
            "MQQB-3.1.7.1-07",
            expected=holds("signed", otherwise="not signed"),
            observed=observed,
            case=level,
            evidence=frame,
        )
        if frame is None:
            continue
        signs = Layout(frame).of("UserHeader.Flags.SH", "SecurityHeader.Flags.DE")
        for rule, (flag, value) in zip(("MQDMPR-3.1.7.1.30-D02", "MQDMPR-3.1.7.1.32-07"), signs.items(), strict=True):
            judge(rule, expected=fields({flag: 1}), observed={flag: value}, case=level, evidence=frame)
        value = several if level == "sig30" else single
        found[level] = (frame, value, _get_signature_type_name(value, frame))
    if outgoing.session is not None and outgoing.session.record.closed_by is None:
        outgoing.session.close()
        again = outgoing.sender.await_session()
        copies = outgoing.sender.collect_messages_until_silence(again, len(found))
        judge(
            "MQQB-3.1.7.1-07",
            expected=[True] * len(found),
            observed=[any(_get_signatures(copy)) for copy in copies],
            case="signatures of the copies on the next session",
            evidence=copies,
        )
        to_several = [copy for copy in copies if copy["UserHeader"].MQ]
        if to_several:
            judge(
                "MQDMPR-3.1.1.12-29",
                expected=[(0, True)] * len(to_several),
                observed=[(len(single), bool(several)) for single, several in map(_get_signatures, to_several)],
                case="length of Signature, and whether there is a MultipleDestinationSignature, in resent messages",
                evidence=to_several,
            )
        again.acknowledge_all()
    judge.conclude("MQQB-3.1.7.1.4-01", "MQDMPR-3.1.1.12-09", "MQQB-3.1.7.1-07")
    if len(found) < len(SIGNATURE_TYPE_BY_NAME):
        raise ConformanceFailure("a message for which an authentication level was requested did not arrive")
    if all(value and kind == WRONG_KEY_OUTCOME for _, value, kind in found.values()):
        raise ConformanceFailure(
            "no signature of the SUT is valid: the SUT and the tester possibly hash different bytes (E81)"
        )
    for level, (frame, _, kind) in found.items():
        judge(
            *RULES_BY_SIGNATURE_TYPE[level], expected=level, observed=kind, case="type of the signature", evidence=frame
        )


@needs("security", "send")
@covers("MQDMPR-3.1.7.1.32-07")
def test_signed_message_of_queue_manager_has_de_set(peer, sut, judge):
    """The SUT sends a message whose sender is the queue manager, signed with a user's certificate: DE is set."""
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.poll(body="signed", authentication_level="sig20", sender="queue_manager", certificate=ALICE.name)
    outgoing.end()
    if frame is None or not any(_get_signatures(frame)):
        judge.mark_not_exercised("MQDMPR-3.1.7.1.32-07", reason="the SUT signs no message of the queue manager")
        return
    judge.all(expected=fields({"SecurityHeader.Flags.DE": 1}), observed=Layout(frame), evidence=frame)


@needs("security", "send")
@covers("MQQB-3.1.7.1.4-07", "MQQB-3.1.7.1.4-08", "MQDMPR-3.1.1.12-D64", "MQDMPR-3.1.1.12-D56")
def test_message_is_signed_with_key_of_named_certificate(peer, sut, judge):
    """User Alice sends messages without naming a certificate, with user Bob's certificate, and with her own
    certificate: the packet contains the named certificate (by default her own) and a signature made with its key.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for level, named, signer in (("sig10", None, ALICE), ("sig20", BOB, BOB), ("sig20", ALICE, ALICE)):
        asked = {} if named is None else {"certificate": named.name}
        frame = outgoing.send(body="signed", authentication_level=level, sender=ALICE.name, **asked)
        single, _ = _get_signatures(frame)
        kind = _get_signature_type_name(single, frame, signer)
        if named is None and single and kind == WRONG_KEY_OUTCOME:
            raise ConformanceFailure(
                "no signature of the SUT is valid: the SUT and the tester possibly hash different bytes (E81)"
            )
        rules = ("MQQB-3.1.7.1.4-07", "MQQB-3.1.7.1.4-08", "MQDMPR-3.1.1.12-D56")
        judge(*rules, expected=level, observed=kind, case="type of the signature", evidence=frame)
        owner = _get_certificate_owner_name(frame)
        judge(
            "MQDMPR-3.1.1.12-D64", expected=signer.name, observed=owner, case="owner of the certificate", evidence=frame
        )
    outgoing.end()


def _get_certificate_owner_name(frame):
    """Return the name of the user whose certificate a message contains."""
    brought = bytes(frame["SecurityHeader"].SenderCert) if frame["UserHeader"].SH else b""
    return next((user.name for user in (ALICE, BOB) if user.certificate == brought), "no user")
