"""MS-MQQB 2.4.1 PUBLICKEYBLOB: the keys that the SUT publishes. See also MS-MQMQ 2.2.20.6; MS-MQQB 3.1.7.1.5,
3.1.7.1.5.2.
"""

from __future__ import annotations

import base64
import math

from harness.expectations import fields, holds
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire import protection
from suites.mqqb.steps.secured import CLEAR_BODY, SYMMETRIC_KEYS, SecuredMessageSender

CONSTANT_BLOB_PREFIX_HEX = "0602000000a4000052534131"
KEY_BITS_BY_PROVIDER = {
    protection.BASE_PROVIDER: 512,
    protection.ENHANCED_PROVIDER: 1024,
    protection.ADVANCED_PROVIDER: 1024,
}
CIPHER_BY_PRIVACY_LEVEL = {1: (protection.RC4, 40), 3: (protection.RC4, 128), 5: (protection.AES_256, 256)}
RULES_OF_CONSTANT_PART_OF_KEY_BLOB = ("MQQB-2.4.1-D01", "MQQB-3.1.7.1.5-11", "MQQB-3.1.7.1.5.2-02", "MQMQ-2.2.20.6-28")
"""Rules about the constant part of a PUBLICKEYBLOB."""
RULES_OF_KEY_SIZES = (
    "MQQB-2.4.1-01",
    "MQQB-2.4.1-04",
    "MQMQ-2.2.20.6-29",
    "MQMQ-2.2.20.6-30",
    "MQMQ-2.2.20.6-34",
    "MQMQ-2.2.20.6-35",
)
"""Rules about the length of the modulus, in bits."""
RULES_OF_EXPONENT_AND_MODULUS = (
    "MQQB-2.4.1-02",
    "MQQB-2.4.1-03",
    "MQMQ-2.2.20.6-31",
    "MQMQ-2.2.20.6-32",
    "MQMQ-2.2.20.6-33",
    "MQDMPR-3.1.3-23",
)
"""Rules about the exponent and the modulus."""
SIGNING_KEY_RULES = (
    "MQMQ-2.2.20.6-28",
    "MQMQ-2.2.20.6-29",
    "MQMQ-2.2.20.6-30",
    "MQMQ-2.2.20.6-32",
    "MQMQ-2.2.20.6-33",
    "MQMQ-2.2.20.6-34",
    "MQMQ-2.2.20.6-35",
)
"""Rules about the fields of a published key for signing."""
CONSTANT_SIGNING_BLOB_PREFIX_HEX = "0602000000240000" + CONSTANT_BLOB_PREFIX_HEX[16:]
BIT_LENGTH_OFFSET, EXPONENT_OFFSET, MODULUS_OFFSET = 12, 16, 20
"""Offsets of fields in a PUBLICKEYBLOB."""
LEAST_PUBLIC_EXPONENT = 3
PRODUCT_OF_SMALL_FACTORS = math.prod(range(2, 500))
"""A number that has every prime below 500 as a factor. An RSA modulus has none of these factors."""
RULES_OF_PUBLISHED_KEY_LIST = ("MQDMPR-3.1.3-21", "MQDMPR-3.1.3-22", "MQDMPR-3.1.3-D07")
"""Rules about the list of keys: the list contains one key of the specified length for each provider."""


@needs("security", "receive")
@covers(
    "MQQB-3.1.7.1.5-10",
    *RULES_OF_CONSTANT_PART_OF_KEY_BLOB,
    *RULES_OF_KEY_SIZES,
    *RULES_OF_EXPONENT_AND_MODULUS,
    *RULES_OF_PUBLISHED_KEY_LIST,
)
def test_message_encrypted_with_a_published_key_arrives_decrypted(peer, sut, judge):
    """Each field of each published PUBLICKEYBLOB has the specified value. A body that the peer encrypts with the
    published key is in the queue in decrypted form.
    """
    if not sut.encryption_keys:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the SUT does not publish its public keys")
        return
    secured = SecuredMessageSender(peer, sut)
    blobs = protection.read_listed_blobs(sut.encryption_keys)
    sizes = {name: 8 * (len(blob) - 20) for name, blob in blobs.items()}
    packets = {}
    for level, (algorithm, bits) in CIPHER_BY_PRIVACY_LEVEL.items():
        blob = blobs.get(protection.PROVIDER_BY_PRIVACY_LEVEL[level], b"").ljust(84, b"\0")
        key = protection.RsaKey(int.from_bytes(blob[20:], "little"), int.from_bytes(blob[16:20], "little"))
        packet = secured.message(
            body=protection.encrypt_body(CLEAR_BODY, algorithm, SYMMETRIC_KEYS[bits]), PrivacyLevel=level
        )
        packet["MessagePropertiesHeader"].EncryptionAlgorithm = algorithm
        packet["SecurityHeader"].EB = 1
        usable = key.modulus > 1 << 8 * (len(SYMMETRIC_KEYS[bits]) + 12)
        packet["SecurityHeader"].EncryptionKey = (
            protection.encrypt_session_key(algorithm, SYMMETRIC_KEYS[bits], key) if usable else b"\0" * 268
        )
        packets[protection.PROVIDER_BY_PRIVACY_LEVEL[level]] = packet
    dispositions = secured.send_and_read_dispositions(packets)
    evidence = [frame for disposition in dispositions.values() for frame in disposition.frames]
    for name in blobs:
        judge(
            *RULES_OF_EXPONENT_AND_MODULUS,
            "MQQB-2.4.1-D01",
            expected=CLEAR_BODY.decode(),
            observed=dispositions[name].body,
            case=f"decrypted body ({name})",
            evidence=dispositions[name].frames,
        )
    if not sut.shown_keys:
        judge.give_up(
            Verdict.NOT_OBSERVABLE,
            "the keys come from the SUT file: the control channel shows no keys",
        )
        return
    judge(
        "MQQB-3.1.7.1.5-10",
        *RULES_OF_PUBLISHED_KEY_LIST,
        expected=KEY_BITS_BY_PROVIDER,
        observed=sizes,
        case="bits of the key",
        evidence=evidence,
    )
    for name, blob in blobs.items():
        modulus, length = int.from_bytes(blob[20:], "little"), int.from_bytes(blob[12:16], "little")
        judge(
            *RULES_OF_CONSTANT_PART_OF_KEY_BLOB,
            expected=CONSTANT_BLOB_PREFIX_HEX,
            observed=blob[:12].hex(),
            case=f"first 12 bytes of the key for {name}",
            evidence=evidence,
        )
        observed = {"bitLen": length, "bits of modulus": modulus.bit_length()}
        expected = fields({"bitLen": sizes[name], "bits of modulus": sizes[name]})
        judge(*RULES_OF_KEY_SIZES, expected=expected, observed=observed, case=f"key for {name}", evidence=evidence)


@needs("security")
@covers(*SIGNING_KEY_RULES)
def test_each_field_of_published_signing_keys_is_correct(sut, judge):
    """Each field of each published signing key has the specified value: the Key Type of a key for signing, the length
    that the provider of the key requires, and an odd exponent and modulus.
    """
    listed = base64.b64decode(sut.control.call("identity").get("public_signing_keys_base64") or "")
    if not listed:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the SUT shows no public signing keys")
        return
    for name, blob in protection.read_listed_blobs(listed).items():
        length, exponent = (int.from_bytes(blob[at : at + 4], "little") for at in (BIT_LENGTH_OFFSET, EXPONENT_OFFSET))
        modulus, bits = blob[MODULUS_OFFSET:], KEY_BITS_BY_PROVIDER.get(name, 8 * len(blob[MODULUS_OFFSET:]))
        judge(
            "MQMQ-2.2.20.6-28",
            expected=CONSTANT_SIGNING_BLOB_PREFIX_HEX,
            observed=blob[: len(CONSTANT_BLOB_PREFIX_HEX) // 2].hex(),
            case=f"first 12 bytes of the signing key for {name}",
        )
        observed = {"bitLen": length, "bits of Modulus": 8 * len(modulus)}
        judge(
            "MQMQ-2.2.20.6-29",
            "MQMQ-2.2.20.6-30",
            "MQMQ-2.2.20.6-34",
            "MQMQ-2.2.20.6-35",
            expected=fields({"bitLen": bits, "bits of Modulus": bits}),
            observed=observed,
            case=f"length of the signing key for {name}",
        )
        judge(
            "MQMQ-2.2.20.6-32",
            expected=holds("an odd number of at least 3", otherwise=str(exponent)),
            observed=exponent % 2 == 1 and exponent >= LEAST_PUBLIC_EXPONENT,
            case=f"Public Exponent of the signing key for {name}",
        )
        judge(
            "MQMQ-2.2.20.6-33",
            expected=holds("an odd number of full length without small factors", otherwise=modulus.hex()),
            observed=_is_possible_modulus(int.from_bytes(modulus, "little"), bits),
            case=f"Modulus of the signing key for {name}",
        )


def _is_possible_modulus(modulus, bits):
    """Return whether the number can be the product of two large primes."""
    return modulus.bit_length() == bits and math.gcd(modulus, PRODUCT_OF_SMALL_FACTORS) == 1
