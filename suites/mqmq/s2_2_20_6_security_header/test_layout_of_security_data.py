"""MS-MQMQ 2.2.20.6 SecurityHeader: the offsets of its fields and of the items of SecurityData."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.expectations import between, fields
from harness.run.marks import covers, needs, varied
from harness.sut.provisioning import ALICE
from harness.wire.protection import read_certificate_key
from suites.mqmq.steps.layout import SECURITY_ITEM_AND_SIZE_FIELDS, Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

SECURITY_HEADER_PREFIX = "SecurityHeader."
NO_SENDER_TYPE, SID_SENDER_TYPE = 0, 1
"""Values of ST: a message without a sender, and a sender that a SID identifies."""
SECURITY_HEADER_FIXED_BYTES = 16
"""The size in bytes of the SecurityHeader before SecurityData."""
SAMPLE_APPLICATION_TAG = 0x7A6B_5C4D
APPLICATION_TAG_FIELD = "MessagePropertiesHeader.ApplicationTag"
SIMPLE_BLOB_START_HEX = "0102"
"""The first bytes of a SIMPLEBLOB."""
PROVIDER_TYPE_BYTES = 4


def _send_message_with_sample_tag(outgoing, **properties):
    """Let the SUT send a message with an ApplicationTag, by which the MessagePropertiesHeader is found."""
    return outgoing.send(body="signed", application_tag=SAMPLE_APPLICATION_TAG, **properties)


def _find_item_offsets(frame):
    """Return the offsets of SecurityID and SenderCert, whose bytes are known, and the form of ProviderInfo."""
    start = frame.data.find(ALICE.security_id) - SECURITY_HEADER_FIXED_BYTES
    places = {
        "SecurityID": SECURITY_HEADER_FIXED_BYTES,
        "SenderCert": frame.data.find(ALICE.certificate) - start,
    }
    info = Layout(frame).fields.get(f"{SECURITY_HEADER_PREFIX}ProviderInfo")
    return places if info is None else places | {"ProviderInfo": _describe_provider_info(bytes.fromhex(info))}


def _compute_expected_offsets(frame):
    """Compute the offsets of the items from the sizes in the header: each item begins at a multiple of 4."""
    found, at = Layout(frame).fields, SECURITY_HEADER_FIXED_BYTES
    places: dict[str, int | str] = {}
    for name, size in SECURITY_ITEM_AND_SIZE_FIELDS:
        if name in ("SecurityID", "SenderCert"):
            places[name] = at
        elif name == "ProviderInfo" and found.get(f"{SECURITY_HEADER_PREFIX}{size}"):
            places[name] = PROVIDER_INFO_LAYOUT
        at += found.get(f"{SECURITY_HEADER_PREFIX}{size}", 0) + -found.get(f"{SECURITY_HEADER_PREFIX}{size}", 0) % 4
    return places


PROVIDER_INFO_LAYOUT = "a type and a name with one null at its end"
"""The text that verdicts show for a well-formed ProviderInfo."""


def _describe_provider_info(info):
    """Return PROVIDER_INFO_LAYOUT if the ProviderInfo is well-formed, and the bytes of the ProviderInfo otherwise."""
    kind = int.from_bytes(info[:PROVIDER_TYPE_BYTES], "little")
    name = info[PROVIDER_TYPE_BYTES:].decode("utf-16-le", "replace")
    whole = 0 < kind < 0x1_0000 and name.find("\0") == len(name) - 1 and name[:-1].isprintable()
    return PROVIDER_INFO_LAYOUT if whole and len(name) > 1 else info.hex()


@needs("security", "send", "private_names")
@covers(
    "MQMQ-2.2.20.6-D01",
    "MQDMPR-3.1.7.1.32-D03",
    "MQMQ-2.2.20.6-D02",
    "MQMQ-2.2.20.6-D03",
    "MQMQ-2.2.20.6-D05",
    "MQMQ-2.2.20.6-03",
    "MQMQ-2.2.20.6-16",
    "MQMQ-2.2.20.6-21",
)
@pytest.mark.parametrize("level", ["none", "base", "enhanced", "advanced"])
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_signed_message_has_items_of_security_data_in_order(peer, sut, judge, level, delivery):
    """The SUT sends two signed messages with each privacy level. In the first, SecurityID, EncryptionKey, Signature,
    SenderCert and ProviderInfo are in this order, each at a multiple of 4 bytes. ProviderInfo of both is well-formed.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    properties = {"authentication_level": "sig20", "privacy_level": level, "delivery": delivery}
    frame, later = (_send_message_with_sample_tag(outgoing, sender="alice", **properties) for _ in range(2))
    outgoing.end()
    found = Layout(frame)
    secret = level != "none"
    header = {
        f"{SECURITY_HEADER_PREFIX}Flags.ST": SID_SENDER_TYPE,
        f"{SECURITY_HEADER_PREFIX}Flags.AU": 0,
        f"{SECURITY_HEADER_PREFIX}Flags.EB": int(secret),
        f"{SECURITY_HEADER_PREFIX}Flags.DE": int(not found.fields.get(f"{SECURITY_HEADER_PREFIX}ProviderInfoSize")),
        f"{SECURITY_HEADER_PREFIX}Flags.AS": 0,
        f"{SECURITY_HEADER_PREFIX}SenderIdSize": len(ALICE.security_id),
        f"{SECURITY_HEADER_PREFIX}SenderCertSize": len(ALICE.certificate),
    }
    if not secret:
        header[f"{SECURITY_HEADER_PREFIX}EncryptionKeySize"] = 0
    judge(
        "MQMQ-2.2.20.6-D01",
        "MQDMPR-3.1.7.1.32-D03",
        expected=fields(header),
        observed=found,
        evidence=frame,
    )
    signed = {f"{SECURITY_HEADER_PREFIX}SignatureSize": read_certificate_key(ALICE.certificate).size}
    judge("MQMQ-2.2.20.6-16", expected=fields(signed), observed=found, evidence=frame)
    user = {f"{SECURITY_HEADER_PREFIX}SecurityID": ALICE.security_id.hex()}
    judge("MQMQ-2.2.20.6-03", expected=fields(user), observed=found, evidence=frame)
    blob = str(found.fields.get(f"{SECURITY_HEADER_PREFIX}EncryptionKey", Layout.MISSING))[: len(SIMPLE_BLOB_START_HEX)]
    items = {
        f"{SECURITY_HEADER_PREFIX}SecurityID": ALICE.security_id.hex(),
        f"{SECURITY_HEADER_PREFIX}SenderCert": ALICE.certificate.hex(),
        APPLICATION_TAG_FIELD: SAMPLE_APPLICATION_TAG,
        "EncryptionKey": SIMPLE_BLOB_START_HEX if secret else Layout.MISSING[: len(SIMPLE_BLOB_START_HEX)],
    }
    observed = found.of(*items) | {"EncryptionKey": blob}
    judge("MQMQ-2.2.20.6-D02", "MQMQ-2.2.20.6-D03", expected=fields(items), observed=observed, evidence=frame)
    judge(
        "MQMQ-2.2.20.6-21",
        expected=_compute_expected_offsets(frame),
        case="offsets in SecurityHeader",
        observed=_find_item_offsets(frame),
        evidence=frame,
    )
    for case, sent in (("ProviderInfo", frame), ("ProviderInfo of a later message", later)):
        info = Layout(sent).fields.get(f"{SECURITY_HEADER_PREFIX}ProviderInfo")
        if info is None:
            judge.mark_not_exercised("MQMQ-2.2.20.6-D05", reason="the SUT sends no ProviderInfo", evidence=sent)
        else:
            judge(
                "MQMQ-2.2.20.6-D05",
                expected=PROVIDER_INFO_LAYOUT,
                case=case,
                observed=_describe_provider_info(bytes.fromhex(info)),
                evidence=sent,
            )


@needs("security", "send")
@covers("MQMQ-2.2.20.6-D03", "MQMQ-2.2.20.6-02", "MQDMPR-3.1.1.12-D54")
@varied("acknowledgments", "positive journaling", "time to reach queue", "trace", "label")
def test_missing_items_of_security_data_take_no_bytes(peer, sut, judge):
    """The SUT sends a signed message without a sender. SenderIdSize and EncryptionKeySize are 0, and the signature
    directly follows the fixed fields.
    """
    outgoing = MessagesSentBySut(peer, sut)
    frame = _send_message_with_sample_tag(outgoing, sender="none", authentication_level="sig20")
    outgoing.end()
    found = Layout(frame)
    wanted = {
        f"{SECURITY_HEADER_PREFIX}Flags.ST": NO_SENDER_TYPE,
        f"{SECURITY_HEADER_PREFIX}SenderIdSize": 0,
        f"{SECURITY_HEADER_PREFIX}SecurityID": Layout.MISSING,
        f"{SECURITY_HEADER_PREFIX}EncryptionKeySize": 0,
        f"{SECURITY_HEADER_PREFIX}EncryptionKey": Layout.MISSING,
        APPLICATION_TAG_FIELD: SAMPLE_APPLICATION_TAG,
        "bytes after the last header": 0,
    }
    judge.all(expected=fields(wanted), observed=found, evidence=frame)


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.20.6-22", "MQMQ-2.2.20.6-23", "MQMQ-2.2.20.6-24", "MQMQ-2.2.20.6-D04")
def test_each_kind_of_signed_message_identifies_its_signer(peer, sut, judge):
    """The SUT sends a transactional message, a message with a large body and an encrypted message, each with an MSMQ
    1.0 signature of the queue manager and of a user, and then an encrypted message without a signature. SecurityID
    identifies the signer of each message, and SenderCertSize is at most 0xFFFF.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    own = ("MQMQ-2.2.20.6-22", "MQMQ-2.2.20.6-24"), UUID(str(sut.guid)).bytes_le
    signers = {"queue_manager": own, "alice": (("MQMQ-2.2.20.6-23",), ALICE.security_id)}
    for kind, properties in KINDS_OF_SIGNED_MESSAGES.items():
        for sender, (rules, identifier) in signers.items():
            frame = outgoing.send(label=kind, sender=sender, authentication_level="sig10", **properties)
            judge(
                *rules,
                expected=fields({f"{SECURITY_HEADER_PREFIX}SecurityID": identifier.hex()}),
                observed=Layout(frame),
                case=kind,
                evidence=frame,
            )
            _judge_certificate_limit(judge, frame, kind)
    frame = outgoing.send(body="unsigned", privacy_level="enhanced")
    _judge_certificate_limit(judge, frame, "encrypted message without a signature")
    outgoing.end()


KINDS_OF_SIGNED_MESSAGES = {
    "transactional message": {"body": "signed", "delivery": "transactional"},
    "message with a large body": {"body": "signed" * 1_000},
    "encrypted message": {"body": "signed", "privacy_level": "enhanced"},
}
"""The properties with which the SUT sends a message of each kind."""


def _judge_certificate_limit(judge, frame, case):
    """Judge that SenderCertSize of a message is at most 0xFFFF."""
    judge(
        "MQMQ-2.2.20.6-D04",
        expected=fields({f"{SECURITY_HEADER_PREFIX}SenderCertSize": between(0, 0xFFFF)}),
        observed=Layout(frame),
        case=case,
        evidence=frame,
    )
