"""MS-MQQB 3.1.7.1.4 Signing the Packet, from the command to the receiver's queue."""

from dataclasses import replace

import pytest
from core_secure import (
    ALICE,
    DEADLETTER,
    MALLORY,
    PLAIN_2,
    arrived,
    secure_pair,
    sender_config,
    user_messages,
)

from reference_qm.codec import SecurityHeader
from reference_qm.surface.commands import SendMessage


def test_signed_packet_has_sender_certificate_and_signature_without_authenticated_flag():
    """A signed packet contains the sender's certificate and the signature, and its bits AU and AS are 0, because only
    the receiver sets them (MS-MQDMPR 3.1.7.1.32).
    """
    sender, _ = secure_pair()
    sender.send(PLAIN_2, authentication_level="sig20")
    (packet,) = user_messages(sender)
    header = packet.SecurityHeader
    assert header.Flags == SecurityHeader.flags(ST=1, DE=1, AI=1)
    assert header.SecurityData.SecurityID == ALICE.SecurityIdentifier.build()
    assert header.SecurityData.SenderCert == ALICE.certificates[0]
    assert header.SignatureSize == 128
    assert packet.UserHeader.SH == 1


def test_msmq_3_signature_is_in_the_multi_queue_format_header():
    sender, _ = secure_pair()
    sender.send(PLAIN_2, authentication_level="sig30")
    (packet,) = user_messages(sender)
    assert packet.MultiQueueFormatHeader.Signature.Size == 128
    assert packet.MultiQueueFormatHeader.Destination.ElementCount == 1
    assert packet.SecurityHeader.SignatureSize == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"authentication_level": "sig40"}, "authentication_level"),
        ({"authentication_level": "sig20", "hash_algorithm": "sha3"}, "hash_algorithm"),
        ({"authentication_level": "sig20", "sender": "bob"}, "sender"),
        ({"authentication_level": "sig20", "certificate": "bob"}, "certificate"),
        ({"privacy_level": "total"}, "privacy_level"),
    ],
)
def test_unsupported_security_option_is_refused_by_name(arguments, named):
    sender, _ = secure_pair()
    said = sender.refusal(SendMessage(PLAIN_2, **arguments))
    assert said.startswith(f"{named}: ")


def test_a_sender_without_private_key_cannot_sign():
    sender, _ = secure_pair(sender_config(accounts=(replace(ALICE, key=None),)))
    said = sender.refusal(SendMessage(PLAIN_2, authentication_level="sig20"))
    assert "'alice' has no certificate with a local private key" in said


def test_a_message_that_cannot_be_signed_any_more_is_not_sent():
    """A message that cannot be signed, because its hash does not fit the key, is not sent; it becomes a dead letter,
    like a message that cannot be encrypted.
    """
    small = replace(ALICE, key=sender_config().encryption_keys["Microsoft Base Cryptographic Provider v1.0"])
    sender, receiver = secure_pair(sender_config(accounts=(small,)))
    sender.send(PLAIN_2, body=b"lost", authentication_level="sig20", hash_algorithm="sha512", journal={"negative"})
    sender.send(PLAIN_2, body=b"next")
    assert receiver.bodies() == ["next"]
    assert sender.bodies(DEADLETTER) == ["lost"]


def test_a_local_message_is_signed_and_checked_as_well():
    sender, _ = secure_pair()
    sender.send("DIRECT=OS:.\\private$\\plain", body=b"here", authentication_level="sig20")
    (message,) = arrived(sender)
    assert message["security"]["authentication_level"] == "sig20"
    said = sender.refusal(
        SendMessage("DIRECT=OS:.\\private$\\plain", authentication_level="sig20", certificate=MALLORY.name)
    )
    assert "not registered for its SecurityID" in said
