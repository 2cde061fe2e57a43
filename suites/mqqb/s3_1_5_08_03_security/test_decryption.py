"""MS-MQQB 3.1.5.8.3 Security: bodies that are encrypted. MS-MQQB 3.1.1.3 RejectEnhancedRC2Using40BitKeys."""

from __future__ import annotations

from harness.run.marks import needs
from harness.sut.provisioning import ALICE
from harness.wire.protection import AES_128, AES_192, AES_256, LEVELS, RC2, RC4, listed_keys, signature, simple_blob
from suites.mqqb.steps.opening import OneOf
from suites.mqqb.steps.secured import CLEAR, KEY, SIG20, Secured, secret
from suites.mqqb.steps.tables import covers_table, judged

ARRIVED, BAD, BAD_SIGNATURE = "ACK_REACH_QUEUE", "NACK_BAD_ENCRYPTION", "NACK_BAD_SIGNATURE"
GONE = "not in its queue"
BASE, ENHANCED, ADVANCED = 1, 3, 5
NEEDS = needs("security", "receive", "configure")
PADDED_RC2 = KEY[40] + bytes(11)
"""40 bits and 88 zero bits (3.1.7.1.5)."""
TEXT = CLEAR.decode()


WAYS = {
    "Base, RC2": (BASE, RC2, 40),
    "Base, RC4": (BASE, RC4, 40),
    "Enhanced, RC2": (ENHANCED, RC2, 128),
    "Enhanced, RC4": (ENHANCED, RC4, 128),
    "Advanced, AES 128": (ADVANCED, AES_128, 128),
    "Advanced, AES 192": (ADVANCED, AES_192, 192),
    "Advanced, AES 256": (ADVANCED, AES_256, 256),
}
BODIES = [
    *((name, "body", TEXT, "45 46 64 65 70 79" + " 80" * ("AES" in name)) for name in WAYS),
    *((name, "answer", ARRIVED, "45 81") for name in WAYS),
    ("a key that is known already", "body", TEXT, "56"),
    ("signed, then encrypted", "answer", ARRIVED, "45"),
    ("signed, then encrypted", "body", TEXT, "45"),
    ("EB is not set", "body", TEXT, "45"),
]


@NEEDS
@covers_table(BODIES, "MQMQ-2.2.20.6-06")
def test_bodies_are_decrypted(peer, sut, judge):
    """Bodies under every level and algorithm arrive in clear; one that is not encrypted is left alone."""
    secured = Secured(peer, sut)

    def way(level, algorithm, bits):
        return secret(sut, secured.message(body=CLEAR), level, algorithm, KEY[bits])

    packets = {name: way(*parts) for name, parts in WAYS.items()}
    first = secured.fates(packets)
    both = secured.message(body=CLEAR)
    both["SecurityHeader"].Signature = signature(_with_level(both.copy()), SIG20, ALICE.key)
    second = {
        "a key that is known already": way(ENHANCED, RC4, 128),
        "signed, then encrypted": secret(sut, both, ADVANCED, AES_256, KEY[256]),
        "EB is not set": secured.message(body=CLEAR, PrivacyLevel=ADVANCED, EncryptionAlgorithm=AES_256),
    }
    judged(judge, first | secured.fates(second), BODIES)
    for name, fate in first.items():
        judge("MQMQ-2.2.20.6-06", expected=f"{name}: {TEXT}", observed=f"{name}: {fate.body}", evidence=fate.frames)


def _with_level(packet):
    packet["MessagePropertiesHeader"].PrivacyLevel = ADVANCED
    return packet


EITHER = OneOf(BAD, BAD_SIGNATURE)
REFUSALS = [
    ("PrivacyLevel 2", "answer", EITHER, "47 48"),
    ("PrivacyLevel 2", "kept", GONE, "54"),
    ("PrivacyLevel 7", "answer", EITHER, "47"),
    ("PrivacyLevel 2, NA is not set", "answer", "silence", "48"),
    ("no SIMPLEBLOB", "answer", BAD, "63 81"),
    ("a blob for another key", "answer", BAD, "65 81"),
    ("no whole blocks", "answer", BAD, "81 82"),
    ("no whole blocks", "kept", GONE, "88"),
    ("no padding", "answer", BAD, "81 82"),
    ("no padding", "kept", GONE, "88"),
    ("no whole blocks, NA is not set", "answer", "silence", "82"),
]


@NEEDS
@covers_table(REFUSALS)
def test_what_cannot_be_decrypted_is_refused(peer, sut, judge):
    """A level that is none, a blob that is none, a body that is none of its algorithm's: refused."""
    secured = Secured(peer, sut)
    keys = listed_keys(sut.encryption_keys)

    def message(level=ADVANCED, algorithm=AES_256, bits=256, *, na=1, **changes):
        return secret(sut, secured.message(body=CLEAR, NA=na), level, algorithm, KEY[bits], **changes)

    fates = secured.fates(
        {
            "PrivacyLevel 2": message(2, for_level=BASE),
            "PrivacyLevel 7": message(7, for_level=BASE),
            "PrivacyLevel 2, NA is not set": message(2, na=0, for_level=BASE),
            "no SIMPLEBLOB": message(blob=b"\7" * 268),
            "a blob for another key": message(blob=simple_blob(AES_256, KEY[256], keys[LEVELS[ENHANCED]])),
            "no whole blocks": message(body=b"\x11" * 47),
            "no padding": message(body=bytes(48)),
            "no whole blocks, NA is not set": message(na=0, body=b"\x11" * 47),
        }
    )
    judged(judge, fates, REFUSALS)


WEAK = [
    ("88 zero bits", "answer", BAD, "71 72"),
    ("88 zero bits", "kept", GONE, "78"),
    ("88 zero bits, NA is not set", "answer", "silence", "72"),
    ("another key of RC2", "answer", ARRIVED, "71"),
    ("88 zero bits with RC4", "answer", ARRIVED, "71"),
    ("RC2 of the Base provider", "answer", ARRIVED, "71"),
]


@NEEDS
@covers_table(WEAK, "MQQB-3.1.1.3-19")
def test_rc2_with_40_bits_is_rejected_when_configured(peer, sut, judge):
    """RejectEnhancedRC2Using40BitKeys refuses Enhanced RC2 keys that end with 88 zero bits, and no others."""
    secured = Secured(peer, sut, reject_enhanced_rc2_using_40_bit_keys=True)

    def message(level, algorithm, key, na=1):
        return secret(sut, secured.message(body=CLEAR, NA=na), level, algorithm, key)

    fates = secured.fates(
        {
            "88 zero bits": message(ENHANCED, RC2, PADDED_RC2),
            "88 zero bits, NA is not set": message(ENHANCED, RC2, PADDED_RC2, 0),
            "another key of RC2": message(ENHANCED, RC2, KEY[128]),
            "88 zero bits with RC4": message(ENHANCED, RC4, PADDED_RC2),
            "RC2 of the Base provider": message(BASE, RC2, KEY[40]),
        }
    )
    judged(judge, fates, WEAK)
    sut.configure(reject_enhanced_rc2_using_40_bit_keys=False)
    allowed = secured.fates({"": message(ENHANCED, RC2, PADDED_RC2)})[""]
    observed = f"TRUE: {fates['88 zero bits'].answer}, FALSE: {allowed.answer}"
    evidence = [*fates["88 zero bits"].frames, *allowed.frames]
    for rule in ("MQQB-3.1.1.3-19", "MQQB-3.1.5.8.3-71"):
        judge(rule, expected=f"TRUE: {BAD}, FALSE: {ARRIVED}", observed=observed, evidence=evidence)


FINALS = [
    ("decrypted", "final", "no FinalAck", "51 75 85"),
    ("decrypted", "body", TEXT, "51 75 85"),
    ("PrivacyLevel 2", "final", EITHER, "51"),
    ("88 zero bits", "final", BAD, "75"),
    ("no whole blocks", "final", BAD, "85"),
]


@NEEDS
@covers_table(FINALS)
def test_a_final_ack_tells_of_a_transactional_message_that_is_not_decrypted(peer, sut, judge):
    """Transactional messages that cannot or must not be decrypted are told of by FinalAcks, too."""
    secured = Secured(peer, sut, reject_enhanced_rc2_using_40_bit_keys=True)

    def message(level, algorithm, key, **changes):
        packet = secured.message(queue="transactional", body=CLEAR)
        return secret(sut, packet, level, algorithm, key, **changes)

    fates = secured.fates(
        {
            "decrypted": message(ADVANCED, AES_256, KEY[256]),
            "PrivacyLevel 2": message(2, RC4, KEY[40], for_level=BASE),
            "88 zero bits": message(ENHANCED, RC2, PADDED_RC2),
            "no whole blocks": message(ADVANCED, AES_256, KEY[256], body=b"\x11" * 47),
        },
        "transactional",
    )
    judged(judge, fates, FINALS)
