"""MS-MQMQ 2.2.20.6 SecurityHeader: sender and signer of a message, the provider of its signature, and published
keys.
"""

from __future__ import annotations

from uuid import UUID

from harness.expectations import fields, holds
from harness.run.marks import covers, needs, varied
from harness.sut.provisioning import ALICE, BOB
from harness.wire import ProviderInfo
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.pinging import read_data_model_element

NO_SENDER_TYPE, USER_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE = 0, 1, 2
SIGNATURE_RULES = (
    "MQMQ-2.2.20.6-22",
    "MQMQ-2.2.20.6-23",
    "MQDMPR-3.1.1.12-56",
    "MQDMPR-3.1.7.1.32-D17",
    "MQDMPR-3.1.1.12-D62",
    "MQMQ-2.2.20.6-24",
    "MQDMPR-3.1.1.12-D63",
)
NO_SENDER_RULES = ("MQMQ-2.2.20.6-02", "MQDMPR-3.1.1.12-56", "MQDMPR-3.1.1.12-D54", "MQDMPR-3.1.7.1.32-D17")


def _get_sender_type_and_identifier(frame):
    """Return ST and SecurityID of the signed message that the SUT sent."""
    security = frame["SecurityHeader"]
    return {"ST": int(security.ST), "SecurityID": bytes(security.SecurityID).hex()}


@needs("security", "send")
@covers(*NO_SENDER_RULES)
def test_message_without_sender_has_st_0_and_no_security_id(peer, sut, judge):
    """The SUT sends a signed message without a sender: ST and SenderIdSize are 0."""
    outgoing = MessagesSentBySut(peer, sut)
    frame = outgoing.send(body="signed", sender="none", authentication_level="sig20")
    observed = {**_get_sender_type_and_identifier(frame), "SenderIdSize": int(frame["SecurityHeader"].SenderIdSize)}
    judge.all(expected=fields(ST=NO_SENDER_TYPE, SecurityID="", SenderIdSize=0), observed=observed, evidence=frame)
    outgoing.end()


@needs("security", "send")
@covers("MQMQ-2.2.20.6-03", "MQMQ-2.2.20.6-04", "MQDMPR-3.1.1.12-D64", *SIGNATURE_RULES)
def test_security_id_is_sid_or_guid_of_signer(peer, sut, judge):
    """The SUT sends messages that the queue manager and several users sign in turn, with each type of signature. ST and
    SecurityID identify the signer: SecurityID is the user's SID or the queue manager's GUID.
    """
    outgoing = MessagesSentBySut(peer, sut)
    own = fields(ST=QUEUE_MANAGER_SENDER_TYPE, SecurityID=UUID(str(sut.guid)).bytes_le.hex())
    alice, bob = (fields(ST=USER_SENDER_TYPE, SecurityID=user.security_id.hex()) for user in (ALICE, BOB))
    for level, of_queue_manager, of_user in (
        (
            "sig10",
            (
                "MQMQ-2.2.20.6-04",
                "MQMQ-2.2.20.6-22",
                "MQMQ-2.2.20.6-24",
                "MQDMPR-3.1.1.12-56",
                "MQDMPR-3.1.7.1.32-D17",
                "MQDMPR-3.1.1.12-D63",
            ),
            (
                "MQMQ-2.2.20.6-03",
                "MQMQ-2.2.20.6-23",
                "MQDMPR-3.1.1.12-56",
                "MQDMPR-3.1.7.1.32-D17",
                "MQDMPR-3.1.1.12-D62",
            ),
        ),
        ("sig20", ("MQMQ-2.2.20.6-04", "MQMQ-2.2.20.6-22"), ("MQMQ-2.2.20.6-03",)),
        ("sig30", ("MQMQ-2.2.20.6-04", "MQMQ-2.2.20.6-22"), ("MQMQ-2.2.20.6-03",)),
    ):
        for sender, signer, rules in (
            ("queue_manager", own, of_queue_manager),
            ("alice", alice, of_user),
            ("bob", bob, of_user),
            ("queue_manager", own, of_queue_manager),
            ("alice", alice, of_user),
        ):
            frame = outgoing.send(body="signed", label=level, sender=sender, authentication_level=level)
            judge(
                *rules,
                expected=signer,
                observed=_get_sender_type_and_identifier(frame),
                case=f"signer of the message with signature {level}",
                evidence=frame,
            )
            has_certificate = bool(frame["SecurityHeader"].SenderCertSize)
            certified = holds("the signed message has a SenderCertificate")
            judge("MQDMPR-3.1.1.12-D64", expected=certified, observed=has_certificate, case=level, evidence=frame)
    outgoing.end()


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.20.6-07", "MQDMPR-3.1.1.12-D65")
@varied("trace", "label", acknowledgments=("none", "of arrival"))
def test_message_with_de_clear_has_provider_info(peer, sut, judge):
    """The SUT sends a signed message with each privacy level: if DE is clear, ProviderInfo contains a name."""
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    for level in ("base", "enhanced", "advanced"):
        frame = outgoing.send(body="signed", authentication_level="sig20", privacy_level=level)
        security = frame["SecurityHeader"]
        info = ProviderInfo(bytes(security.ProviderInfo)) if security.ProviderInfoSize else None
        name = "" if info is None else info.ProviderName
        if info is not None and level != "advanced":  # the provider of AES has another type
            judge(
                "MQDMPR-3.1.1.12-D65",
                expected=fields(ProviderType=1),
                observed=info,
                case=f"ProviderInfo at privacy level {level}",
                evidence=frame,
            )
        provider = "default" if security.DE else "named" if str(name).rstrip("\0") else "not named"
        expected = "default" if security.DE else "named"
        observed = {"provider in ProviderInfo": provider, "message is signed": bool(security.SignatureSize)}
        judge(
            "MQMQ-2.2.20.6-07",
            expected=fields({"provider in ProviderInfo": expected, "message is signed": True}),
            observed=observed,
            evidence=frame,
        )
    outgoing.end()


@needs("security", "inspect")
@covers("MQMQ-2.2.20.6-36")
def test_public_keys_are_in_directory(sut, judge):
    """PublicEncryptionKeyList of the queue manager's directory object is the list of the SUT's encryption keys."""
    published = bytes.fromhex(read_data_model_element(sut.inspect()["QueueManager"], "PublicEncryptionKeyList"))
    judge(
        "MQMQ-2.2.20.6-36",
        expected=holds("PublicEncryptionKeyList contains the encryption keys of the SUT"),
        observed=bool(published and published == sut.encryption_keys) or f"{len(published)} other bytes",
    )
