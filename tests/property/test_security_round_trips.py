"""Decrypting, verifying, unwrapping and looking up return the original values, and each change of a signature is
detected.
"""

from functools import cache

from budgets import FEW, budget
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st

from reference_qm.security import (
    EVERYONE_SID,
    Ace,
    AceType,
    Acl,
    CachedSymmetricKey,
    EncryptionAlgorithm,
    HashAlgorithm,
    MqdsPublicKey,
    MqdsPublicKeys,
    QueueAccess,
    SecurityDescriptor,
    Sid,
    is_access_granted,
)
from reference_qm.security.caches import MS_PER_MINUTE, TimedCache
from reference_qm.security.ciphers import decrypt, encrypt
from reference_qm.security.hashing import is_valid_signature, sign_data
from reference_qm.security.key_exchange import decrypt_symmetric_key, encrypt_symmetric_key
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import SeededEntropy

LITTLE = budget(FEW)
KEYS = [
    (EncryptionAlgorithm.RC2, 40),
    (EncryptionAlgorithm.RC2, 128),
    (EncryptionAlgorithm.RC4, 40),
    (EncryptionAlgorithm.RC4, 128),
    (EncryptionAlgorithm.AES128, 128),
    (EncryptionAlgorithm.AES192, 192),
    (EncryptionAlgorithm.AES256, 256),
]
sids = st.builds(Sid, st.integers(0, 2**48 - 1), st.lists(st.integers(0, 0xFFFFFFFF), max_size=15).map(tuple))
aces = st.builds(Ace, st.sampled_from(AceType), st.integers(0, 0xFFFFFFFF), sids, st.integers(0, 255))
acls = st.builds(Acl, st.lists(aces, max_size=5).map(tuple), st.sampled_from([2, 4]))


@cache
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 1024)


@LITTLE
@given(chosen=st.sampled_from(KEYS), body=st.binary(max_size=200), seed=st.text(max_size=5))
def test_decrypted_body_equals_encrypted_body(chosen, body, seed):
    algorithm, bits = chosen
    symmetric = SeededEntropy(seed).token(bits // 8)
    assert decrypt(algorithm, symmetric, encrypt(algorithm, symmetric, body)) == body


@LITTLE
@given(chosen=st.sampled_from(KEYS), seed=st.text(max_size=5))
def test_session_key_read_from_simpleblob_equals_original(chosen, seed):
    algorithm, bits = chosen
    entropy = SeededEntropy(seed)
    symmetric = entropy.token(bits // 8)
    blob = encrypt_symmetric_key(key().public_key(), algorithm, symmetric, entropy).build()
    assert decrypt_symmetric_key(key(), algorithm, blob, bits) == symmetric


@LITTLE
@given(
    algorithm=st.sampled_from(HashAlgorithm),
    text=st.binary(max_size=100),
    place=st.integers(0, 127),
    change=st.integers(1, 255),
)
def test_changed_signature_is_invalid(algorithm, text, place, change):
    signature = bytearray(sign_data(key(), algorithm, text))
    assert is_valid_signature(key().public_key(), algorithm, text, bytes(signature))
    signature[place] ^= change
    assert not is_valid_signature(key().public_key(), algorithm, text, bytes(signature))


@LITTLE
@given(sid=sids)
def test_sid_equals_itself_after_text_and_wire_round_trip(sid):
    assert Sid.parse(sid.build()) == sid
    assert Sid.of(str(sid)) == sid


@LITTLE
@given(owner=st.none() | sids, group=st.none() | sids, dacl=st.none() | acls)
def test_security_descriptor_survives_round_trip(owner, group, dacl):
    read = SecurityDescriptor.parse(SecurityDescriptor(owner, group, dacl).build())
    assert (read.Owner, read.Group, read.Dacl) == (owner, group, dacl)


@LITTLE
@given(dacl=acls, sid=sids)
def test_denial_of_all_rights_to_everyone_wins_as_first_entry(dacl, sid):
    deny = Ace(AceType.ACCESS_DENIED, QueueAccess.MQSEC_QUEUE_GENERIC_ALL, EVERYONE_SID)
    closed = SecurityDescriptor(Dacl=Acl((deny, *dacl.Aces)))
    assert not is_access_granted(closed, {sid, EVERYONE_SID}, QueueAccess.MQSEC_WRITE_MESSAGE)


@LITTLE
@given(
    keys=st.lists(
        st.builds(
            MqdsPublicKey,
            st.integers(0, 0xFFFFFFFF),
            st.text(st.characters(min_codepoint=1, max_codepoint=0xD7FF), max_size=10),
            st.binary(max_size=30),
        ),
        max_size=4,
    )
)
def test_stored_keys_equal_themselves_after_reading(keys):
    assert MqdsPublicKeys.parse(MqdsPublicKeys(tuple(keys)).build()).aPublicKeys == tuple(keys)


@LITTLE
@given(size=st.integers(1, 9), steps=st.lists(st.integers(0, 400), max_size=40), lifetime_s=st.integers(1, 600))
def test_key_cache_never_exceeds_its_size_and_lifetime(size, steps, lifetime_s):
    """After deletion, no entry is older than the lifetime, and the cache requests a timer exactly while it
    has entries.
    """
    cached = TimedCache[CachedSymmetricKey](size, 1_000 * lifetime_s)
    now = Now(0, 0)
    for step in steps:
        now = Now(now.monotonic_ms + 1_000 * step, now.utc_s + step)
        again_ms = cached.delete_old_entries(now)
        old = now.utc_s - lifetime_s
        assert cached.find(lambda entry, old=old: entry.CachedTime < old) is None
        assert (again_ms is None) == (len(cached) == 0)
        assert again_ms is None or again_ms >= MS_PER_MINUTE
        cached.add(CachedSymmetricKey(None, "", 0, b"", b"", now.utc_s))
        assert 1 <= len(cached) <= size
