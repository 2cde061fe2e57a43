"""MS-MQQB 3.1.5.8.3 Security: how a queue manager processes a received message that is signed or encrypted."""

from dataclasses import replace

import pytest
from core_network import PLAIN, TRANSACTIONAL, direct
from core_secure import (
    ALICE,
    KEYS,
    MALLORY,
    PLAIN_2,
    TRANSACTIONAL_2,
    alter,
    arrived,
    receiver_config,
    rsa_key,
    secure_pair,
    sender_config,
)
from security_made import with_properties, with_security

from harness.faults.parts import override_method
from reference_qm.codec import MessageClass, ProviderInfo, SecurityHeader
from reference_qm.config import QueueSettings
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.security import (
    AES_PROVIDER,
)
from reference_qm.surface.commands import SendMessage

BAD_SIGNATURE = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
BAD_ENCRYPTION = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
RPC_ACCESS_DENIED_STATUS = MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED
UNSUPPORTED = MessageClass.MQMSG_CLASS_NACK_UNSUPPORTED_CRYPTO_PROVIDER
SIGNED = {"authentication_level": "sig20"}
ENCRYPTED = {"privacy_level": "advanced"}


def flip(data: bytes) -> bytes:
    """Flip one bit in the middle of the bytes."""
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _flipped(name):
    """Return a function that flips one bit in an item of SecurityData."""
    return lambda packet: with_security(packet, **{name: flip(getattr(packet.SecurityHeader.SecurityData, name))})


def _flipped_body(packet):
    return with_properties(packet, MessageBody=flip(packet.MessagePropertiesHeader.MessageBody))


def _of_other_provider(packet):
    override_method = with_security(packet, ProviderInfo=ProviderInfo(1, "Contoso").build())
    flags = override_method.SecurityHeader.Flags & ~SecurityHeader.flags(DE=1)
    return replace(override_method, SecurityHeader=replace(override_method.SecurityHeader, Flags=flags))


WRONG = [
    ("flipped body", SIGNED, _flipped_body, {}, BAD_SIGNATURE),
    ("flipped label", SIGNED, lambda packet: with_properties(packet, Label="x"), {}, BAD_SIGNATURE),
    ("flipped signature", SIGNED, _flipped("Signature"), {}, BAD_SIGNATURE),
    ("other hash", SIGNED, lambda packet: with_properties(packet, HashAlgorithm=0x800C), {}, BAD_SIGNATURE),
    ("unknown hash", SIGNED, lambda packet: with_properties(packet, HashAlgorithm=0x8009), {}, BAD_SIGNATURE),
    ("no certificate", SIGNED, lambda packet: with_security(packet, SenderCert=b""), {}, BAD_SIGNATURE),
    (
        "certificate of another key",
        SIGNED,
        lambda p: with_security(p, SenderCert=MALLORY.certificates[0]),
        {},
        BAD_SIGNATURE,
    ),
    (
        "unregistered certificate",
        SIGNED,
        None,
        {"accounts": (replace(ALICE, certificates=(), key=None),)},
        BAD_SIGNATURE,
    ),
    ("unknown signer", SIGNED, None, {"accounts": ()}, BAD_SIGNATURE),
    ("signer pretends to be another", SIGNED | {"certificate": "mallory"}, None, {}, BAD_SIGNATURE),
    ("provider of the signature", SIGNED, _of_other_provider, {}, UNSUPPORTED),
    ("unknown sender, not signed", {"sender": "mallory"}, None, {}, RPC_ACCESS_DENIED_STATUS),
    ("no sender", {"sender": "none"} | SIGNED, None, {}, RPC_ACCESS_DENIED_STATUS),
    (
        "malformed SID",
        {"sender": "alice"},
        lambda packet: with_security(packet, SecurityID=b"\1"),
        {},
        RPC_ACCESS_DENIED_STATUS,
    ),
    ("cut body", ENCRYPTED, lambda p: with_properties(p, MessageBody=b"x"), {}, BAD_ENCRYPTION),
    ("no body", ENCRYPTED, lambda p: with_properties(p, MessageBody=b""), {}, BAD_ENCRYPTION),
    ("flipped key", ENCRYPTED, _flipped("EncryptionKey"), {}, BAD_ENCRYPTION),
    ("no key", ENCRYPTED, lambda packet: with_security(packet, EncryptionKey=b""), {}, BAD_ENCRYPTION),
    ("other algorithm", ENCRYPTED, lambda p: with_properties(p, EncryptionAlgorithm=0x660E), {}, BAD_ENCRYPTION),
    (
        "algorithm of another level",
        ENCRYPTED,
        lambda p: with_properties(p, EncryptionAlgorithm=0x6801),
        {},
        BAD_ENCRYPTION,
    ),
    ("other level", ENCRYPTED, lambda p: with_properties(p, PrivacyLevel=3), {}, BAD_ENCRYPTION),
    ("unknown level", ENCRYPTED, lambda p: with_properties(p, PrivacyLevel=2), {}, BAD_ENCRYPTION),
    ("no private key of the provider", ENCRYPTED, None, {"encryption_keys": {}}, BAD_ENCRYPTION),
    (
        "another private key",
        ENCRYPTED,
        None,
        {"encryption_keys": KEYS | {AES_PROVIDER: rsa_key(1024)}},
        BAD_ENCRYPTION,
    ),
]


@pytest.mark.parametrize(
    ("asked", "change", "receiving", "message_class"), [one[1:] for one in WRONG], ids=[one[0] for one in WRONG]
)
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_message_with_security_defect_is_refused_with_its_message_class(
    asked, change, receiving, message_class, transactional
):
    sender, receiver = secure_pair(receiver=receiver_config(**receiving))
    refused = refusals(receiver)
    if change is not None:
        alter(sender, change)
    sender.send(TRANSACTIONAL_2 if transactional else PLAIN_2, body=b"body", transactional=transactional, **asked)
    assert refused == [message_class]
    assert arrived(receiver, TRANSACTIONAL if transactional else PLAIN) == []
    sender.tamper = lambda data: data
    sender.send(PLAIN_2, body=b"next")
    assert receiver.bodies() == ["next"], "the session goes on"


def refusals(host):
    """Record the classes with which the security checks of a host refuse messages from now on; return the list."""
    classes = []

    def noting(check):
        def noted(*arguments):
            outcome = check(*arguments)
            if isinstance(outcome, MessageClass):
                classes.append(outcome)
            return outcome

        return noted

    for check in (SecurityOnReceipt.check_security, SecurityOnReceipt.check_queue_security_demands):
        replace_part_by_subclass(host.core, override_method(check, noting))
    return classes


@pytest.mark.parametrize(
    ("asked", "change", "message_class", "body"),
    [
        (SIGNED, _flipped("Signature"), BAD_SIGNATURE, "body"),
        (ENCRYPTED, _flipped("EncryptionKey"), BAD_ENCRYPTION, ""),
    ],
    ids=["signed", "encrypted"],
)
@pytest.mark.parametrize("insecure", [False, True])
def test_security_refusal_is_sent_only_when_insecure_nacks_are_enabled(asked, change, message_class, body, insecure):
    """The receiver sends a negative acknowledgment for a failed security check only if SendInsecureNacks is TRUE
    (3.1.1.3); it contains the body unless the body was encrypted (3.1.7.15).
    """
    sender, _ = secure_pair(send_insecure_nacks=insecure)
    alter(sender, change)
    sender.send(PLAIN_2, acks={"negative_arrival"}, admin_queue=direct(1), **asked)
    nacks = [(one["class"], one["body"]) for one in arrived(sender)]
    assert nacks == ([(message_class.name, body)] if insecure else [])


@pytest.mark.parametrize(
    ("demands", "asked", "message_class"),
    [
        ({"authenticated": True}, {}, BAD_SIGNATURE),
        ({"authenticated": True}, {"sender": "alice"}, BAD_SIGNATURE),
        ({"authenticated": True}, ENCRYPTED, BAD_SIGNATURE),
        ({"authenticated": True}, SIGNED, None),
        ({"privacy": PrivacyLevel.BODY}, {}, BAD_ENCRYPTION),
        ({"privacy": PrivacyLevel.BODY}, SIGNED, BAD_ENCRYPTION),
        ({"privacy": PrivacyLevel.BODY}, ENCRYPTED, None),
        ({"privacy": PrivacyLevel.NONE}, ENCRYPTED, BAD_ENCRYPTION),
        ({"privacy": PrivacyLevel.NONE}, SIGNED, None),
        ({"privacy": PrivacyLevel.OPTIONAL}, ENCRYPTED, None),
        ({"authenticated": True, "privacy": PrivacyLevel.BODY}, SIGNED | ENCRYPTED, None),
    ],
)
def test_queue_accepts_only_the_signed_or_encrypted_messages_that_it_demands(demands, asked, message_class):
    """A queue refuses messages without the signature or encryption that its Authentication and PrivacyLevel demand,
    whether a message comes from another computer or not. MS-MQDMPR 3.1.1.2.
    """
    sender, receiver = secure_pair(queues=(QueueSettings(PLAIN, **demands),))
    refused = refusals(receiver)
    sender.send(PLAIN_2, **asked)
    assert refused == ([] if message_class is None else [message_class])
    assert len(arrived(receiver)) == (message_class is None)


@pytest.mark.parametrize(
    ("demands", "asked", "message_class"),
    [
        ({"authenticated": True}, {}, BAD_SIGNATURE),
        ({"authenticated": True}, SIGNED, None),
        ({"privacy": PrivacyLevel.BODY}, {}, BAD_ENCRYPTION),
        ({"privacy": PrivacyLevel.NONE}, ENCRYPTED, BAD_ENCRYPTION),
        ({"privacy": PrivacyLevel.BODY}, ENCRYPTED, None),
    ],
)
def test_queue_checks_security_of_locally_sent_messages(demands, asked, message_class):
    config = replace(sender_config(), accounts=(ALICE,))
    _, host = secure_pair(receiver=config, queues=(QueueSettings(PLAIN, **demands),))
    request = SendMessage("DIRECT=OS:.\\private$\\plain", **asked)
    if message_class is None:
        host.ask(request)
    else:
        assert host.refusal(request).endswith(f"does not accept the message: {message_class.name}")
    assert len(arrived(host)) == (message_class is None)
