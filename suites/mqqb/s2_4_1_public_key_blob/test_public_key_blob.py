"""MS-MQQB 2.4.1 PUBLICKEYBLOB, as the SUT publishes its keys; MS-MQMQ 2.2.20.6; MS-MQQB 3.1.7.1.5, 3.1.7.1.5.2."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire.protection import (
    ADVANCED,
    AES_256,
    BASE,
    ENHANCED,
    LEVELS,
    RC4,
    RsaKey,
    encrypted,
    listed_blobs,
    simple_blob,
)
from suites.mqqb.steps.secured import CLEAR, KEY, Secured

CONSTANT = "0602000000a4000052534131"
BITS = {BASE: 512, ENHANCED: 1024, ADVANCED: 1024}
KEYS, PRINTED = "MQQB-2.4.1-", "MQMQ-2.2.20.6-"
WAYS = {1: (RC4, 40), 3: (RC4, 128), 5: (AES_256, 256)}
RULES = (
    *(f"{KEYS}{number}" for number in ("01", "02", "03", "04")),
    *(f"{PRINTED}{number}" for number in ("28", "29", "30", "31", "32", "33", "34", "35")),
    *(f"MQQB-3.1.7.1.5{number}" for number in ("-10", "-11", ".2-02")),
)


@needs("security", "receive", "configure")
@covers(*RULES)
def test_published_keys_are_those_that_decrypt(peer, sut, judge):
    """Each blob is what is printed; a body under its numbers, read little-endian, arrives in clear."""
    secured = Secured(peer, sut)
    blobs = listed_blobs(sut.encryption_keys)
    sizes = {name: 8 * (len(blob) - 20) for name, blob in blobs.items()}
    packets = {}
    for level, (algorithm, bits) in WAYS.items():
        blob = blobs.get(LEVELS[level], b"").ljust(84, b"\0")
        key = RsaKey(int.from_bytes(blob[20:], "little"), int.from_bytes(blob[16:20], "little"))
        packet = secured.message(body=encrypted(CLEAR, algorithm, KEY[bits]), PrivacyLevel=level)
        packet["MessagePropertiesHeader"].EncryptionAlgorithm = algorithm
        packet["SecurityHeader"].EB = 1
        usable = key.modulus > 1 << 8 * (len(KEY[bits]) + 12)
        packet["SecurityHeader"].EncryptionKey = simple_blob(algorithm, KEY[bits], key) if usable else b"\0" * 268
        packets[LEVELS[level]] = packet
    fates = secured.dispositions(packets)
    evidence = [frame for fate in fates.values() for frame in fate.frames]
    judge("MQQB-3.1.7.1.5-10", expected=BITS, observed=sizes, evidence=evidence)
    for name, blob in blobs.items():
        modulus, told = int.from_bytes(blob[20:], "little"), int.from_bytes(blob[12:16], "little")
        for rule in ("MQQB-3.1.7.1.5-11", "MQQB-3.1.7.1.5.2-02", f"{PRINTED}28"):
            judge(rule, expected=f"{name}: {CONSTANT}", observed=f"{name}: {blob[:12].hex()}", evidence=evidence)
        for rule in (f"{KEYS}01", f"{KEYS}04", f"{PRINTED}29", f"{PRINTED}30", f"{PRINTED}34", f"{PRINTED}35"):
            observed = f"{told} and {modulus.bit_length()}"
            judge(rule, expected=f"{sizes[name]} and {sizes[name]}", observed=observed, evidence=evidence)
        for rule in (f"{KEYS}02", f"{KEYS}03", f"{PRINTED}31", f"{PRINTED}32", f"{PRINTED}33"):
            judge(rule, expected=CLEAR.decode(), observed=fates[name].body, evidence=fates[name].frames)
