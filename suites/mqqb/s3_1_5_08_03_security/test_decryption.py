"""MS-MQQB 3.1.5.8.3 Security: bodies that are encrypted. MS-MQQB 3.1.1.3 RejectEnhancedRC2Using40BitKeys."""

from __future__ import annotations

from harness.expectations import facts, one_of
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.sut.provisioning import ALICE
from harness.wire.protection import (
    AES_128,
    AES_192,
    AES_256,
    LEVELS,
    RC2,
    RC4,
    SIG20,
    listed_keys,
    signature,
    simple_blob,
)
from suites.mqqb.steps.secured import CLEAR, KEY, Secured, judge_dispositions, secret

ARRIVED, BAD, BAD_SIGNATURE = "ACK_REACH_QUEUE", "NACK_BAD_ENCRYPTION", "NACK_BAD_SIGNATURE"
GONE = "not in its queue"
BASE, ENHANCED, ADVANCED = 1, 3, 5
NEEDS = needs("security", "receive")
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
BODIES = (
    *(("MQQB-3.1.5.8.3-45", name, "body", TEXT) for name in WAYS),
    *(("MQQB-3.1.5.8.3-46", name, "body", TEXT) for name in WAYS),
    *(("MQQB-3.1.5.8.3-64", name, "body", TEXT) for name in WAYS),
    *(("MQQB-3.1.5.8.3-65", name, "body", TEXT) for name in WAYS),
    *(("MQQB-3.1.5.8.3-70", name, "body", TEXT) for name in WAYS),
    *(("MQQB-3.1.5.8.3-79", name, "body", TEXT) for name in WAYS),
    *(("MQQB-3.1.5.8.3-80", name, "body", TEXT) for name in WAYS if "AES" in name),
    *(("MQDMPR-3.1.7.1.31-D03", name, "body", TEXT) for name in WAYS),
    *(("MQDMPR-3.1.7.1.31-D10", name, "body", TEXT) for name in WAYS),
    *(("MQDMPR-3.1.7.1.31-D13", name, "body", TEXT) for name in WAYS),
    *(("MQQB-3.1.5.8.3-45", name, "answer", ARRIVED) for name in WAYS),
    *(("MQQB-3.1.5.8.3-81", name, "answer", ARRIVED) for name in WAYS),
    *(("MQMQ-2.2.20.6-06", name, "body", TEXT) for name in WAYS),
    *(("MQSO-7.4.1.3-03", name, "body", TEXT) for name in WAYS),
    *(("MQSO-7.4.1.4.3-D02", name, "body", TEXT) for name in WAYS),
    ("MQQB-3.1.5.8.3-56", "a key that is known already", "body", TEXT),
    ("MQQB-3.1.5.8.3-45", "signed, then encrypted", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-45", "signed, then encrypted", "body", TEXT),
    ("MQQB-3.1.5.8.3-45", "EB is not set", "body", TEXT),
)


@NEEDS
@covers(*(rule for rule, *_ in BODIES))
def test_bodies_are_decrypted(peer, sut, judge):
    """Bodies under every level and algorithm arrive in clear; one that is not encrypted is left alone."""
    secured = Secured(peer, sut)
    secured.agree_on_signatures()

    def way(level, algorithm, bits):
        return secret(sut, secured.message(body=CLEAR), level, algorithm, KEY[bits])

    packets = {name: way(*parts) for name, parts in WAYS.items()}
    dispositions = secured.dispositions(packets)
    both = secured.message(body=CLEAR)
    both["SecurityHeader"].Signature = signature(_with_level(both.copy()), SIG20, ALICE.key)
    packets = {
        "a key that is known already": way(ENHANCED, RC4, 128),
        "signed, then encrypted": secret(sut, both, ADVANCED, AES_256, KEY[256]),
        "EB is not set": secured.message(body=CLEAR, PrivacyLevel=ADVANCED, EncryptionAlgorithm=AES_256),
    }
    judge_dispositions(judge, secured, dispositions | secured.dispositions(packets), BODIES)


@NEEDS
@covers("MQQB-3.1.5.8.3-45")
def test_the_body_of_a_transactional_message_is_decrypted(peer, sut, judge):
    """A transactional message arrives in clear as others do."""
    secured = Secured(peer, sut)
    packet = secret(sut, secured.message(queue="transactional", body=CLEAR), ENHANCED, RC4, KEY[128])
    found = secured.dispositions({"transactional": packet}, "transactional")
    judge_dispositions(judge, secured, found, [("MQQB-3.1.5.8.3-45", "transactional", "body", TEXT)])


def _with_level(packet):
    packet["MessagePropertiesHeader"].PrivacyLevel = ADVANCED
    return packet


EITHER = one_of(BAD, BAD_SIGNATURE)
REFUSALS = (
    ("MQQB-3.1.5.8.3-47", "PrivacyLevel 2", "answer", EITHER),
    ("MQQB-3.1.5.8.3-48", "PrivacyLevel 2", "answer", EITHER),
    ("MQQB-3.1.5.8.3-54", "PrivacyLevel 2", "kept", GONE),
    ("MQQB-3.1.5.8.3-47", "PrivacyLevel 7", "answer", EITHER),
    ("MQQB-3.1.5.8.3-48", "PrivacyLevel 2, NA is not set", "answer", "silence"),
    ("MQQB-3.1.5.8.3-63", "no SIMPLEBLOB", "answer", BAD),
    ("MQQB-3.1.5.8.3-81", "no SIMPLEBLOB", "answer", BAD),
    ("MQQB-3.1.5.8.3-65", "a blob for another key", "answer", BAD),
    ("MQQB-3.1.5.8.3-81", "a blob for another key", "answer", BAD),
    ("MQQB-3.1.5.8.3-81", "no whole blocks", "answer", BAD),
    ("MQQB-3.1.5.8.3-82", "no whole blocks", "answer", BAD),
    ("MQDMPR-3.1.1.12-D17", "no whole blocks", "answer", BAD),
    ("MQQB-3.1.5.8.3-88", "no whole blocks", "kept", GONE),
    ("MQQB-3.1.5.8.3-81", "no padding", "answer", BAD),
    ("MQQB-3.1.5.8.3-82", "no padding", "answer", BAD),
    ("MQDMPR-3.1.1.12-D17", "no padding", "answer", BAD),
    ("MQQB-3.1.5.8.3-88", "no padding", "kept", GONE),
    ("MQQB-3.1.5.8.3-82", "no whole blocks, NA is not set", "answer", "silence"),
    ("MQDMPR-3.1.1.12-D17", "no whole blocks, NA is not set", "answer", "silence"),
)


@malforms("MQMQ-2.2.19.3-20", "MQQB-2.4.2-01", "MQQB-2.4.2-D01")
@sut_survives()
@NEEDS
@covers(*(rule for rule, *_ in REFUSALS))
def test_what_cannot_be_decrypted_is_refused(peer, sut, judge):
    """A level that is none, a blob that is none, a body that is none of its algorithm's: refused."""
    secured = Secured(peer, sut)
    keys = listed_keys(sut.receiving_keys)

    def message(level=ADVANCED, algorithm=AES_256, bits=256, *, na=1, **changes):
        return secret(sut, secured.message(body=CLEAR, NA=na), level, algorithm, KEY[bits], **changes)

    dispositions = secured.dispositions(
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
    judge_dispositions(judge, secured, dispositions, REFUSALS)


WEAK = (
    ("MQQB-3.1.5.8.3-71", "88 zero bits", "answer", BAD),
    ("MQQB-3.1.5.8.3-72", "88 zero bits", "answer", BAD),
    ("MQQB-3.1.5.8.3-78", "88 zero bits", "kept", GONE),
    ("MQQB-3.1.5.8.3-72", "88 zero bits, NA is not set", "answer", "silence"),
    ("MQQB-3.1.5.8.3-71", "another key of RC2", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-71", "88 zero bits with RC4", "answer", ARRIVED),
    ("MQQB-3.1.5.8.3-71", "RC2 of the Base provider", "answer", ARRIVED),
)


@needs("security", "receive", "configure")
@covers(*(rule for rule, *_ in WEAK), "MQQB-3.1.1.3-19")
def test_rc2_with_40_bits_is_rejected_when_configured(peer, sut, judge):
    """RejectEnhancedRC2Using40BitKeys refuses Enhanced RC2 keys that end with 88 zero bits, and no others."""
    secured = Secured(peer, sut, reject_enhanced_rc2_using_40_bit_keys=True)

    def message(level, algorithm, key, na=1):
        return secret(sut, secured.message(body=CLEAR, NA=na), level, algorithm, key)

    dispositions = secured.dispositions(
        {
            "88 zero bits": message(ENHANCED, RC2, PADDED_RC2),
            "88 zero bits, NA is not set": message(ENHANCED, RC2, PADDED_RC2, 0),
            "another key of RC2": message(ENHANCED, RC2, KEY[128]),
            "88 zero bits with RC4": message(ENHANCED, RC4, PADDED_RC2),
            "RC2 of the Base provider": message(BASE, RC2, KEY[40]),
        }
    )
    judge_dispositions(judge, secured, dispositions, WEAK)
    sut.configure(reject_enhanced_rc2_using_40_bit_keys=False)
    allowed = secured.dispositions({"": message(ENHANCED, RC2, PADDED_RC2)})[""]
    observed = {"TRUE": dispositions["88 zero bits"].answer, "FALSE": allowed.answer}
    evidence = [*dispositions["88 zero bits"].frames, *allowed.frames]
    judge(
        "MQQB-3.1.1.3-19",
        "MQQB-3.1.5.8.3-71",
        expected=facts(TRUE=BAD, FALSE=ARRIVED),
        observed=observed,
        evidence=evidence,
    )


FINALS = (
    ("MQQB-3.1.5.8.3-51", "decrypted", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-85", "decrypted", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-51", "decrypted", "body", TEXT),
    ("MQQB-3.1.5.8.3-85", "decrypted", "body", TEXT),
    ("MQQB-3.1.5.8.3-51", "PrivacyLevel 2", "final", EITHER),
    ("MQQB-3.1.5.8.3-85", "no whole blocks", "final", BAD),
)
WEAK_FINALS = (
    ("MQQB-3.1.5.8.3-75", "decrypted", "final", "no FinalAck"),
    ("MQQB-3.1.5.8.3-75", "decrypted", "body", TEXT),
    ("MQQB-3.1.5.8.3-75", "88 zero bits", "final", BAD),
)


@malforms("MQMQ-2.2.19.3-20")
@NEEDS
@covers(*(rule for rule, *_ in FINALS))
def test_a_final_ack_tells_of_a_transactional_message_that_is_not_decrypted(peer, sut, judge):
    """Transactional messages that cannot be decrypted are refused by FinalAcks, too."""
    secured = Secured(peer, sut)
    dispositions = secured.dispositions(
        {
            "decrypted": _transactional(secured, ADVANCED, AES_256, KEY[256]),
            "PrivacyLevel 2": _transactional(secured, 2, RC4, KEY[40], for_level=BASE),
            "no whole blocks": _transactional(secured, ADVANCED, AES_256, KEY[256], body=b"\x11" * 47),
        },
        "transactional",
    )
    judge_dispositions(judge, secured, dispositions, FINALS)


@needs("security", "receive", "configure")
@covers(*(rule for rule, *_ in WEAK_FINALS))
def test_a_final_ack_tells_of_a_transactional_message_whose_key_is_too_weak(peer, sut, judge):
    """RejectEnhancedRC2Using40BitKeys refuses a transactional message by a FinalAck, too."""
    secured = Secured(peer, sut, reject_enhanced_rc2_using_40_bit_keys=True)
    dispositions = secured.dispositions(
        {
            "decrypted": _transactional(secured, ADVANCED, AES_256, KEY[256]),
            "88 zero bits": _transactional(secured, ENHANCED, RC2, PADDED_RC2),
        },
        "transactional",
    )
    judge_dispositions(judge, secured, dispositions, WEAK_FINALS)


def _transactional(secured, level, algorithm, key, **changes):
    packet = secured.message(queue="transactional", body=CLEAR)
    return secret(secured.sut, packet, level, algorithm, key, **changes)
