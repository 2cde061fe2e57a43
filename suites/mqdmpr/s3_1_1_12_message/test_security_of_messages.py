"""MS-MQDMPR 3.1.1.12 Message: messages with different security attributes, one after the other."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts, fields, holds, one_of
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.provisioning import ALICE, BOB
from harness.sut.releases import LackedByRelease
from harness.wire import ProviderInfo
from harness.wire.protection import (
    ADVANCED_PROVIDER,
    AES_128,
    AES_192,
    AES_256,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    RC2,
    RC4,
    SIG10,
    SIG20,
    SIG30,
    is_signature,
)
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.opened_bodies import DecryptedMessage, describe_encryption_choice
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.sender import Sender

SENT_BODY = "a body with less than one block more"
MESSAGE_SECURITY_CASES = (
    ("none", "none", ALICE, None),
    ("sig20", "none", BOB, None),
    ("none", "none", ALICE, None),
    ("none", "base", None, None),
    ("none", "none", BOB, None),
    ("sig10", "base", ALICE, None),
    ("none", "none", None, None),
    ("sig20", "enhanced", BOB, None),
    ("none", "base", "queue_manager", None),
    ("sig20", "base", ALICE, None),
    ("none", "enhanced", ALICE, None),
    ("sig30", "none", BOB, None),
    ("sig30", "enhanced", ALICE, None),
    ("sig20", "none", ALICE, "md5"),
    ("sig30", "none", ALICE, "md5"),
    ("sig10", "none", BOB, "md5"),
    ("none", "none", None, None),
    ("sig20", "advanced", BOB, None),
    ("none", "advanced", None, None),
    ("none", "none", ALICE, None),
)
"""The signature type, the privacy level, the sender and the hash algorithm of each message. Each message differs from
its neighbours.
"""
PRIVACY_LEVEL_BY_NAME, MD5_ALGORITHM = {"none": 0, "base": 1, "enhanced": 3, "advanced": 5}, 0x8003
SIGNATURE_TYPE_BY_NAME = {"sig10": SIG10, "sig20": SIG20, "sig30": SIG30}
RULES_BY_SIGNATURE_TYPE = {
    "none": ("MQDMPR-3.1.1.12-10",),
    "sig10": ("MQDMPR-3.1.1.12-11", "MQDMPR-3.1.1.12-D56"),
    "sig20": ("MQDMPR-3.1.1.12-12", "MQDMPR-3.1.1.12-D56"),
    "sig30": ("MQDMPR-3.1.1.12-13", "MQDMPR-3.1.1.12-30"),
}
ENCRYPTION_CHOICES_BY_PRIVACY_LEVEL = {
    "base": [(BASE_PROVIDER, algorithm, 40) for algorithm in (RC2, RC4)],
    "enhanced": [(ENHANCED_PROVIDER, algorithm, 128) for algorithm in (RC2, RC4)],
    "advanced": [
        (ADVANCED_PROVIDER, algorithm, bits) for algorithm, bits in ((AES_128, 128), (AES_192, 192), (AES_256, 256))
    ],
}
"""For each privacy level, the provider, algorithm and key length in bits that a configuration can choose."""
RULE_BY_PRIVACY_LEVEL = {
    "base": "MQDMPR-3.1.1.12-06",
    "enhanced": "MQDMPR-3.1.1.12-07",
    "advanced": "MQDMPR-3.1.1.12-08",
}
HASH_ALGORITHMS = (0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E)
MISSING_FIELD_OUTCOME, UNSIGNED_MESSAGE_OUTCOME, WRONG_SIGNER_OUTCOME = (
    "nothing",
    "not signed",
    "not signed with the user's key",
)
NO_SENDER_TYPE, USER_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE = 0, 1, 2


@needs("security", "send", "private_names")
@covers(
    "MQDMPR-3.1.1.12-05",
    *RULE_BY_PRIVACY_LEVEL.values(),
    *(rule for rules in RULES_BY_SIGNATURE_TYPE.values() for rule in rules),
    "MQDMPR-3.1.1.12-29",
    "MQDMPR-3.1.1.12-48",
    "MQDMPR-3.1.1.12-49",
    "MQDMPR-3.1.1.12-56",
    "MQDMPR-3.1.1.12-D54",
    "MQDMPR-3.1.1.12-D55",
    "MQDMPR-3.1.1.12-D62",
    "MQDMPR-3.1.1.12-D63",
    "MQDMPR-3.1.1.12-D64",
    "MQDMPR-3.1.1.12-D65",
    "MQDMPR-3.1.1.12-D66",
    "MQDMPR-3.1.7.1.32-D03",
    "MQDMPR-3.1.7.1.32-D09",
    "MQDMPR-3.1.7.1.32-D13",
    "MQDMPR-3.1.7.1.32-D17",
)
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_each_message_has_its_own_security(peer, sut, judge, delivery):
    """The SUT sends messages one after the other, with different signature types, privacy levels, senders and hash
    algorithms; recoverable messages have large bodies. The SUT signs and encrypts each message as its sender requested,
    and each message names its own sender and signer.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    body = SENT_BODY * 200 if delivery == "recoverable" else SENT_BODY
    found = []
    for signature, privacy, sender, hash_algorithm in MESSAGE_SECURITY_CASES:
        name = "none" if sender is None else sender if isinstance(sender, str) else sender.name
        asked: dict[str, Any] = {} if hash_algorithm is None else {"hash_algorithm": hash_algorithm}
        if (signature, privacy) == ("sig30", "none"):
            asked |= {"admin_queue": peer.direct_name("mqc-answers"), "acks": ["negative_arrival"]}
        with suppress(ControlRefused, LackedByRelease):
            frame = outgoing.send(
                body=body,
                delivery=delivery,
                authentication_level=signature,
                privacy_level=privacy,
                sender=name,
                **asked,
            )
            case = f"signature {signature}, privacy {privacy}, sender {name}"
            found.append((case, signature, privacy, sender, DecryptedMessage(frame)))
            judge(
                "MQDMPR-3.1.7.1.32-D09",
                expected=fields(PrivacyLevel=PRIVACY_LEVEL_BY_NAME[privacy]),
                observed=frame["MessagePropertiesHeader"],
                case=case,
                evidence=frame,
            )
            if frame["UserHeader"].SH:
                judge(
                    "MQDMPR-3.1.7.1.32-D03",
                    expected=fields(EB=int(privacy != "none"), AU=0, AS=0),
                    observed=frame["SecurityHeader"],
                    case=case,
                    evidence=frame,
                )
            if hash_algorithm is not None:
                judge(
                    "MQDMPR-3.1.7.1.32-D13",
                    expected=fields(HashAlgorithm=MD5_ALGORITHM),
                    observed=frame["MessagePropertiesHeader"],
                    case=case,
                    evidence=frame,
                )
    outgoing.end()
    _judge_signatures(judge, found)
    for case, signature, privacy, sender, message in found:
        _judge_encryption(judge, case, privacy, message, body)
        _judge_sender_identity(judge, case, sender, signature, message, sut.guid)
    sent_levels = {privacy for _, _, privacy, _, _ in found}
    for level in RULE_BY_PRIVACY_LEVEL.keys() - sent_levels:
        judge.mark_not_exercised(
            RULE_BY_PRIVACY_LEVEL[level], reason=f"the SUT sends no message with privacy level {level}"
        )


@covers("MQDMPR-3.1.1.12-48")
@pytest.mark.parametrize("own", [True, pytest.param(False, marks=needs("send", "several_queues"))])
def test_hash_algorithm_of_acknowledgment_and_of_list_is_listed(peer, sut, judge, own):
    """The SUT sends acknowledgments, or messages of an application to two queues of the peer. HashAlgorithm of each
    message is in the list of MS-MQDMPR 3.1.1.12, or the message has no MessagePropertiesHeader.
    """
    to = peer.direct_name("mqc-hashed")
    sender = Sender(peer, sut, to if own else f"{to},{peer.direct_name('mqc-hashed-too')}", own=own)
    sender.send(1, delivery="recoverable")
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    judge(
        "MQDMPR-3.1.1.12-48",
        expected=each(one_of(*HASH_ALGORITHMS)),
        observed=[int(frame["MessagePropertiesHeader"].HashAlgorithm) for frame in frames if frame["UserHeader"].MP],
        evidence=frames,
        case="HashAlgorithm",
    )


def _judge_signatures(judge, found):
    """Judge the types and the places of the signatures."""
    types = []
    for case, signature, _, sender, message in found:
        whole = not message.encrypted or len(message.body or "") == len(message.properties.MessageBody)
        if signature == "none" or not whole:
            continue  # the packet with the body in clear is not known
        single, several = _get_signatures(message.frame)
        types.append(
            (
                case,
                signature,
                message,
                _find_signature_type(several if signature == "sig30" else single, message, sender),
            )
        )
    if all(kind == WRONG_SIGNER_OUTCOME for _, _, _, kind in types):
        raise ConformanceFailure(
            "no signature of the SUT is valid: the SUT and the tester possibly hash different bytes (E81)"
        )
    for case, signature, message, kind in types:
        judge(*RULES_BY_SIGNATURE_TYPE[signature], expected=signature, observed=kind, case=case, evidence=message.frame)
    for case, signature, _, _, message in found:
        single, several = _get_signatures(message.frame)
        if signature == "none":
            judge(
                "MQDMPR-3.1.1.12-10",
                expected=holds("not signed", otherwise="signed"),
                observed=not single and not several,
                case=case,
                evidence=message.frame,
            )
        if signature == "sig30":
            judge(
                "MQDMPR-3.1.1.12-29",
                expected=facts(Signature=0, MultipleDestinationSignature=holds("not empty")),
                observed={"Signature": len(single), "MultipleDestinationSignature": bool(several)},
                case=f"bytes of the signatures ({case})",
                evidence=message.frame,
            )


def _judge_encryption(judge, case, privacy, message, body):
    """Judge the body, the key and the provider of a message."""
    properties = message.properties
    judge(
        "MQDMPR-3.1.1.12-48",
        expected=one_of(*HASH_ALGORITHMS),
        observed=int(properties.HashAlgorithm),
        case=f"HashAlgorithm ({case})",
        evidence=message.frame,
    )
    if privacy == "none":
        judge(
            "MQDMPR-3.1.1.12-05",
            expected=holds("not encrypted", otherwise="encrypted"),
            observed=not message.encrypted and bytes(properties.MessageBody) == body.encode(),
            case=f"body ({case})",
            evidence=message.frame,
        )
        judge(
            "MQDMPR-3.1.1.12-49",
            expected=fields(EncryptionAlgorithm=RC4),
            observed=properties,
            case=case,
            evidence=message.frame,
        )
        return
    choices = ENCRYPTION_CHOICES_BY_PRIVACY_LEVEL[privacy]
    nearest = message.choice if message.choice in choices else choices[-1]
    judge(
        RULE_BY_PRIVACY_LEVEL[privacy],
        expected=describe_encryption_choice(nearest) | {"body": body},
        observed=describe_encryption_choice(message.choice) | {"body": message.body},
        case=f"encryption and body ({case})",
        evidence=message.frame,
    )
    if not message.encrypted:
        return
    judge(
        "MQDMPR-3.1.1.12-D55",
        expected=body,
        observed=message.body or "not decrypted",
        case=f"body decrypted with SymmetricKey ({case})",
        evidence=message.frame,
    )
    if privacy != "advanced":  # the provider of AES has another type and name
        brought = bytes(message.frame["SecurityHeader"].ProviderInfo)
        kind = int(ProviderInfo(brought).ProviderType) if brought else MISSING_FIELD_OUTCOME
        judge("MQDMPR-3.1.1.12-D65", expected=1, observed=kind, case=f"ProviderType ({case})", evidence=message.frame)
        judge(
            "MQDMPR-3.1.1.12-D66",
            expected=one_of(BASE_PROVIDER, ENHANCED_PROVIDER),
            observed=message.provider.rstrip("\0"),
            case=f"ProviderName ({case})",
            evidence=message.frame,
        )


def _judge_sender_identity(judge, case, sender, signature, message, own):
    """Judge the sender and the certificate of a message that has security attributes."""
    if not message.frame["UserHeader"].SH:
        return
    header = message.frame["SecurityHeader"]
    judge(
        "MQDMPR-3.1.1.12-56",
        expected=one_of(NO_SENDER_TYPE, USER_SENDER_TYPE, QUEUE_MANAGER_SENDER_TYPE),
        observed=int(header.ST),
        case=f"ST ({case})",
        evidence=message.frame,
    )
    rule, kind, identifier = {None: ("MQDMPR-3.1.1.12-D54", NO_SENDER_TYPE, b"")}.get(
        sender,
        ("MQDMPR-3.1.1.12-D63", QUEUE_MANAGER_SENDER_TYPE, UUID(str(own)).bytes_le)
        if sender == "queue_manager"
        else ("MQDMPR-3.1.1.12-D62", USER_SENDER_TYPE, sender.security_id if sender else b""),
    )
    judge(
        rule,
        "MQDMPR-3.1.7.1.32-D17",
        expected=fields(ST=kind, SecurityID=identifier.hex()),
        observed={"ST": int(header.ST), "SecurityID": bytes(header.SecurityID).hex()},
        case=f"sender ({case})",
        evidence=message.frame,
    )
    brought = bytes(header.SenderCert)
    owner = next(
        (user.name for user in (ALICE, BOB) if user.certificate == brought),
        "unknown" if brought else MISSING_FIELD_OUTCOME,
    )
    judge(
        "MQDMPR-3.1.1.12-D64",
        expected=MISSING_FIELD_OUTCOME if signature == "none" else sender.name,
        observed=owner,
        case=f"owner of the certificate ({case})",
        evidence=message.frame,
    )


def _get_signatures(frame):
    """Return the signatures in the SecurityHeader and in the MultiQueueFormatHeader of a message."""
    several = frame["MultiQueueFormatHeader"].Signature.Signature if frame["UserHeader"].MQ else b""
    return bytes(frame["SecurityHeader"].Signature) if frame["UserHeader"].SH else b"", bytes(several)


def _find_signature_type(value, message, signer):
    """Return the name of the type of a signature, or a text for a missing or invalid signature. The signature is
    verified over the decrypted body with the key of the user ``signer``.
    """
    if not value:
        return UNSIGNED_MESSAGE_OUTCOME
    sent = bytes(message.properties.MessageBody)
    data = bytes(message.frame.data)
    if message.encrypted:
        data = data.replace(sent, message.body.encode())
    kinds = (
        name for name, kind in SIGNATURE_TYPE_BY_NAME.items() if is_signature(value, data, kind, signer.certificate)
    )
    return next(kinds, WRONG_SIGNER_OUTCOME)
