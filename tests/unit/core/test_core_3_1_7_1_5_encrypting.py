"""MS-MQQB 3.1.7.1.5, 3.1.7.1.5.1: encrypting the message body, from the command to the queue of the receiver."""

import pytest
from core_network import direct, guid
from core_secure import (
    DEADLETTER,
    PLAIN_2,
    TRANSACTIONAL_2,
    arrived,
    arrived_transactional,
    remote_keys,
    secure_pair,
    sender_config,
    user_messages,
)

from harness.faults.parts import changed
from reference_qm.codec import MAX_PACKET_SIZE
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.replacing import put_in_place
from reference_qm.security import ENHANCED_PROVIDER, MqdsPublicKeys, SecuritySettings, SignatureType

RC2, RC4, AES128, AES192, AES256 = 0x6602, 0x6801, 0x660E, 0x660F, 0x6610
CIPHERS = [
    ("base", {"PreferredBaseAlgorithm": RC2}, "rc2"),
    ("base", {"PreferredBaseAlgorithm": RC4}, "rc4"),
    ("enhanced", {"PreferredEnhancedAlgorithm": RC2}, "rc2"),
    ("enhanced", {"PreferredEnhancedAlgorithm": RC2, "SendEnhancedRC2Using40BitKeys": True}, "rc2"),
    ("enhanced", {"PreferredEnhancedAlgorithm": RC4}, "rc4"),
    ("advanced", {"PreferredAdvancedAlgorithm": AES128}, "aes128"),
    ("advanced", {"PreferredAdvancedAlgorithm": AES192}, "aes192"),
    ("advanced", {"PreferredAdvancedAlgorithm": AES256}, "aes256"),
    ("advanced", {"base_caches": True}, "aes256"),
    ("base", {"base_caches": True}, "rc4"),
]
BODY = b"nobody on the way may read this"


@pytest.mark.parametrize("kind", ["none", *(kind.name.lower() for kind in SignatureType)])
@pytest.mark.parametrize(("level", "preferred", "cipher"), CIPHERS)
def test_a_body_is_secret_on_the_wire_and_clear_in_the_queue(level, preferred, cipher, kind):
    sender, receiver = secure_pair(settings=SecuritySettings(**preferred))
    sender.send(PLAIN_2, body=BODY, privacy_level=level, authentication_level=kind)
    (packet,) = user_messages(sender)
    assert BODY not in packet.build()
    assert packet.MessagePropertiesHeader.AllocationBodySize == len(packet.MessagePropertiesHeader.MessageBody)
    (message,) = arrived(receiver)
    assert message["body"] == BODY.decode()
    security = message["security"]
    assert (security["privacy_level"], security["encryption_algorithm"]) == (level, cipher)
    assert security["authentication_level"] == kind


def test_transactional_messages_are_encrypted_in_sequence():
    sender, receiver = secure_pair()
    for body in (b"one", b"two"):
        sender.send(TRANSACTIONAL_2, body=body, transactional=True, privacy_level="advanced")
    assert [one["body"] for one in arrived_transactional(receiver)] == ["one", "two"]


def test_one_symmetric_key_serves_a_remote_queue_manager_while_it_is_cached():
    sender, _ = secure_pair()
    for _ in range(2):
        sender.send(PLAIN_2, privacy_level="advanced")
    blobs = {packet.SecurityHeader.SecurityData.EncryptionKey for packet in user_messages(sender)}
    assert len(blobs) == 1
    sender.network.advance(1_300_000)
    sender.send(PLAIN_2, privacy_level="advanced")
    assert user_messages(sender)[-1].SecurityHeader.SecurityData.EncryptionKey not in blobs


def test_the_public_keys_of_the_session_are_read_once():
    sender, _ = secure_pair()
    asked = []
    put_in_place(
        sender.core,
        changed(
            SecurityLookup.find_public_keys,
            lambda original: lambda qm, remote, now: asked.append(remote) or original(qm, remote, now),
        ),
    )
    for _ in range(2):
        sender.send(PLAIN_2, privacy_level="advanced")
    assert asked == [guid(2)]
    assert MqdsPublicKeys.parse(bytes.fromhex(sender.session("initiator")["RemoteQMPublicKey"])) == remote_keys()


@pytest.mark.parametrize(
    ("to", "config"),
    [
        (direct(2), {}),
        (PLAIN_2, {"remote_keys": {}}),
        (PLAIN_2, {"remote_keys": {guid(2): remote_keys(ENHANCED_PROVIDER)}}),
        (PLAIN_2, {"settings": SecuritySettings(PreferredAdvancedAlgorithm=RC4)}),
    ],
    ids=["a direct name", "no keys known", "no such provider", "an algorithm of another provider"],
)
@pytest.mark.parametrize("journal", [frozenset(), frozenset({"negative"})])
def test_a_message_that_cannot_be_encrypted_is_deleted_and_logged(to, config, journal):
    sender, receiver = secure_pair(sender_config(**config))
    sender.send(to, body=b"secret", privacy_level="advanced", journal=journal)
    sender.send(to, body=b"open")
    assert receiver.bodies() == ["open"]
    assert sender.bodies(DEADLETTER) == (["secret"] if journal else [])
    assert b"secret" not in b"".join(data for _, data in sender.sent)
    (queue,) = sender.adm()["OutgoingQueues"]
    last = queue["ConnectionHistory"][-1]
    assert (last["Status"], last["AddressList"]) == ("CertificateValidationFailure", "10.0.0.2")
    assert last["Error"] & 0x80000000


def test_a_transactional_message_that_cannot_be_encrypted_leaves_no_gap():
    sender, receiver = secure_pair(sender_config(remote_keys={}))
    for body, level in ((b"1", "none"), (b"2", "base"), (b"3", "none")):
        sender.send(TRANSACTIONAL_2, body=body, transactional=True, privacy_level=level, journal={"negative"})
    assert [one["body"] for one in arrived_transactional(receiver)] == ["1", "3"]
    assert sender.bodies("system$;deadxact") == ["2"]


def test_a_body_that_fits_a_packet_only_in_clear_is_not_sent():
    sender, receiver = secure_pair()
    sender.send(PLAIN_2, body=bytes(MAX_PACKET_SIZE - 400), privacy_level="advanced", sender="none")
    sender.send(PLAIN_2, body=b"small")
    assert receiver.bodies() == ["small"]


def test_a_message_kept_over_a_restart_is_encrypted_and_signed_when_it_is_sent():
    sender, receiver = secure_pair()
    receiver.reachable = False
    sender.send(PLAIN_2, body=BODY, recoverable=True, privacy_level="advanced", authentication_level="sig20")
    sender.restart()
    receiver.reachable = True
    sender.network.advance(600_000)
    (message,) = arrived(receiver)
    assert message["body"] == BODY.decode()
    assert message["security"]["authentication_level"] == "sig20"
    assert BODY not in b"".join(data for _, data in sender.sent)
