"""MS-MQQB 3.1.5.8.3 Security: encrypted bodies of transactional messages."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from harness.wire import protection
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    judge_dispositions,
)

CLEAR_BODY_TEXT = CLEAR_BODY.decode()
LEVEL_ALGORITHM_AND_KEY_BITS_BY_PROVIDER = {
    "Base": ((1, protection.RC2, 40), (1, protection.RC4, 40)),
    "Enhanced": ((3, protection.RC2, 128), (3, protection.RC4, 128)),
    "Advanced": ((5, protection.AES_128, 128), (5, protection.AES_192, 192), (5, protection.AES_256, 256)),
}
"""The kinds of encryption of each provider: PrivacyLevel, algorithm, and number of bits of the key."""
RULES_OF_TRANSACTIONAL_BODY = ("MQQB-3.1.5.8.3-46", "MQQB-3.1.5.8.3-79")


@needs("security", "receive")
@covers(*RULES_OF_TRANSACTIONAL_BODY, "MQQB-3.1.5.8.3-80")
@pytest.mark.parametrize("provider", LEVEL_ALGORITHM_AND_KEY_BITS_BY_PROVIDER)
def test_transactional_body_is_decrypted_with_each_algorithm(peer, sut, judge, provider):
    """The peer sends transactional messages whose bodies are encrypted with each algorithm of a provider: the bodies
    arrive decrypted.
    """
    secured = SecuredMessageSender(peer, sut)
    kinds = {f"{provider}, 0x{parts[1]:04X}": parts for parts in LEVEL_ALGORITHM_AND_KEY_BITS_BY_PROVIDER[provider]}
    packets = {
        name: encrypt_message(
            sut, secured.message(queue="transactional", body=CLEAR_BODY), level, algorithm, SYMMETRIC_KEYS[bits]
        )
        for name, (level, algorithm, bits) in kinds.items()
    }
    rules = (*RULES_OF_TRANSACTIONAL_BODY, *["MQQB-3.1.5.8.3-80"] * (provider == "Advanced"))
    table = [(rule, name, "body", CLEAR_BODY_TEXT) for rule in rules for name in kinds]
    judge_dispositions(judge, secured, secured.send_and_read_dispositions(packets, "transactional"), table)
    if provider != "Advanced":
        judge.mark_not_exercised("MQQB-3.1.5.8.3-80", reason="the provider does not have AES")
