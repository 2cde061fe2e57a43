"""MS-MQQB 3.1.7.1.5: provider, algorithm and key for each PrivacyLevel, the send cache, and the resulting packet."""

from dataclasses import replace

import pytest
from security_made import (
    NOW,
    PROVIDERS,
    RECEIVER_QM,
    SENDER_QM,
    entropy,
    message,
    remote_keys,
    rsa_key,
    sender,
)

from reference_qm.codec import DirectQueueFormatName, ProviderInfo, UserHeader, parse_packet
from reference_qm.security import (
    AES_PROVIDER,
    BASE_PROVIDER,
    ENHANCED_PROVIDER,
    PrivacyLevel,
    SecurityError,
    SecuritySettings,
    encrypt_message,
)
from reference_qm.security.algorithms import EncryptionAlgorithm
from reference_qm.security.ciphers import decrypt
from reference_qm.security.key_exchange import decrypt_symmetric_key
from reference_qm.security.sending import select_encryption

LEVELS = (PrivacyLevel.BASE, PrivacyLevel.ENHANCED, PrivacyLevel.ADVANCED)


def encrypted(packet, settings=None, caches=None, keys=None, remote=RECEIVER_QM, now=NOW):
    return encrypt_message(packet, remote, keys or remote_keys(), caches or sender(settings), entropy(), now)


@pytest.mark.parametrize(
    ("level", "settings", "expected"),
    [
        (1, {}, (BASE_PROVIDER, EncryptionAlgorithm.RC4, 40, 5)),
        (1, {"PreferredBaseAlgorithm": 0x6602}, (BASE_PROVIDER, EncryptionAlgorithm.RC2, 40, 5)),
        (3, {}, (ENHANCED_PROVIDER, EncryptionAlgorithm.RC4, 128, 16)),
        (3, {"PreferredEnhancedAlgorithm": 0x6602}, (ENHANCED_PROVIDER, EncryptionAlgorithm.RC2, 128, 16)),
        (3, {"SendEnhancedRC2Using40BitKeys": True}, (ENHANCED_PROVIDER, EncryptionAlgorithm.RC4, 128, 16)),
        (
            3,
            {"PreferredEnhancedAlgorithm": 0x6602, "SendEnhancedRC2Using40BitKeys": True},
            (ENHANCED_PROVIDER, EncryptionAlgorithm.RC2, 40, 16),
        ),
        (5, {}, (AES_PROVIDER, EncryptionAlgorithm.AES256, 256, 32)),
        (5, {"PreferredAdvancedAlgorithm": 0x660E}, (AES_PROVIDER, EncryptionAlgorithm.AES128, 128, 16)),
        (5, {"PreferredAdvancedAlgorithm": 0x660F}, (AES_PROVIDER, EncryptionAlgorithm.AES192, 192, 24)),
    ],
)
def test_privacy_level_selects_algorithm_and_provider(level, settings, expected):
    chosen = select_encryption(level, remote_keys(), SecuritySettings(**settings))
    assert (chosen.UseCSP, chosen.UseAlgorithm, chosen.UseSymmKeyLength, len(chosen.make_key(entropy()))) == expected
    assert chosen.UsePublicKey.bitLen == rsa_key(PROVIDERS[chosen.UseCSP][1]).key_size


def test_rc2_key_reduced_to_40_bits_ends_with_88_zero_bits():
    settings = SecuritySettings(PreferredEnhancedAlgorithm=0x6602, SendEnhancedRC2Using40BitKeys=True)
    key = select_encryption(3, remote_keys(), settings).make_key(entropy())
    assert any(key[:5])
    assert key[5:] == bytes(11)


@pytest.mark.parametrize("level", LEVELS)
def test_encryption_for_remote_without_public_key_is_refused(level):
    with pytest.raises(SecurityError, match="the remote queue manager has no key"):
        select_encryption(level, remote_keys(*(set(PROVIDERS) - {_provider(level)})), SecuritySettings())


@pytest.mark.parametrize("level", [0, 2, 4, 6, 0xFFFFFFFF])
def test_encryption_with_unknown_privacy_level_is_refused(level):
    with pytest.raises(SecurityError, match="PrivacyLevel"):
        select_encryption(level, remote_keys(), SecuritySettings())


def test_preferred_algorithm_of_a_foreign_provider_is_refused():
    with pytest.raises(SecurityError, match="none of RC2, RC4"):
        select_encryption(3, remote_keys(), SecuritySettings(PreferredEnhancedAlgorithm=0x6610))


@pytest.mark.parametrize("level", LEVELS)
def test_encrypted_packet_names_algorithm_and_flags(level):
    """An encrypted packet names its algorithm and sets its flags; the receiver's private key decrypts the SIMPLEBLOB,
    and the key in the SIMPLEBLOB decrypts the body.
    """
    packet = parse_packet(encrypted(message(level=level)).build())
    header, properties = packet.SecurityHeader, packet.MessagePropertiesHeader
    provider = _provider(level)
    assert (header.EB, header.AI, header.DE, header.ST) == (1, 1, 0, 1)
    expected = ProviderInfo(PROVIDERS[provider][0], provider)
    assert ProviderInfo.parse(header.SecurityData.ProviderInfo) == expected
    assert properties.AllocationBodySize == len(properties.MessageBody)
    assert properties.MessageBody != b"a body of no block"
    chosen = select_encryption(level, remote_keys(), SecuritySettings())
    assert properties.EncryptionAlgorithm == chosen.UseAlgorithm
    private = rsa_key(PROVIDERS[provider][1])
    key = decrypt_symmetric_key(
        private, chosen.UseAlgorithm, header.SecurityData.EncryptionKey, chosen.UseSymmKeyLength
    )
    assert decrypt(chosen.UseAlgorithm, key, properties.MessageBody) == b"a body of no block"


def test_message_without_privacy_level_is_not_encrypted():
    packet = message()
    assert encrypted(packet) is packet


def test_encryption_adds_a_missing_security_header():
    bare = message(level=5)
    bare = replace(
        bare,
        UserHeader=replace(bare.UserHeader, Flags=bare.UserHeader.Flags & ~UserHeader.flags(SH=1)),
        SecurityHeader=None,
    )
    made = parse_packet(encrypted(bare).build())
    assert (made.UserHeader.SH, made.SecurityHeader.EB) == (1, 1)


def test_message_to_a_direct_name_cannot_be_encrypted():
    packet = message(level=5)
    direct = replace(
        packet.UserHeader,
        Flags=packet.UserHeader.Flags | UserHeader.flags(DQ=7),
        DestinationQueue=DirectQueueFormatName("OS:a\\q"),
    )
    with pytest.raises(SecurityError, match="neither a public nor a private format name"):
        encrypted(replace(packet, UserHeader=direct))


def test_cached_symmetric_key_is_reused_only_for_its_remote_queue_manager():
    caches = sender()
    blobs = [
        encrypted(message(level=5), caches=caches, remote=remote).SecurityHeader.SecurityData.EncryptionKey
        for remote in (RECEIVER_QM, RECEIVER_QM, SENDER_QM)
    ]
    assert blobs[0] == blobs[1]
    assert len(caches.SendSymmetricKeyCache) == 2
    encrypted(message(level=3), caches=caches)
    assert len(caches.SendSymmetricKeyCache) == 3


def test_base_provider_keys_have_a_separate_cache_when_configured():
    caches = sender(SecuritySettings(has_separate_base_caches=True))
    encrypted(message(level=1), caches=caches)
    encrypted(message(level=3), caches=caches)
    assert (len(caches.SendBaseSymmetricKeyCache), len(caches.SendSymmetricKeyCache)) == (1, 1)


def _provider(level):
    return {1: BASE_PROVIDER, 3: ENHANCED_PROVIDER, 5: AES_PROVIDER}[level]
