"""MS-MQQP 3.1.4.1, 3.1.4.10: the security properties of a message that is read (MS-MQDMPR 3.1.7.1.32)."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.sut.releases import does_release_lack_method
from harness.wire import ProviderInfo
from harness.wire.protection import ADVANCED_PROVIDER, PROVIDER_TYPE_BY_NAME
from harness.wire.rpc_qm2qm import Action, LookupId, Method
from suites.mqqb.steps.secured import NO_SIGNATURE_ACCEPTED_REASON, SENDER_TYPE_OF_SENDER_WITH_SID, SHA512, sign_message
from suites.mqqp.steps.methods import parametrize_by_method_with_rules
from suites.mqqp.steps.whole import build_message_without_default_values

SECURITY_HEADER_FIELD_NAMES = ("ST", "SecurityID", "Signature", "SenderCert", "ProviderInfo")
DEFAULT_PROVIDER_FLAG, NAMED_PROVIDER_FLAG = 1, 0
"""Values of SecurityHeader.DE: the default provider made the signature, or the provider in ProviderInfo made it."""
EXPECTED_SIGNED_FLAGS = {"SecurityHeader": True, "UserHeader.Flags.SH": 1}


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"buffer": ["MQQP-3.1.4.1-14", "MQQP-3.1.4.1-16"]},
        Method.START_RECEIVE2: {"buffer": ["MQQP-3.1.4.10-45", "MQQP-3.1.4.10-47"]},
    }
)
@needs("qm2qm", "security")
@covers("MQDMPR-3.1.7.1.30-D02")
def test_read_returns_security_properties_of_signed_message(remote, judge, by, rules):
    """Two signed messages arrive; the second names a cryptographic provider. Receives return both messages with their
    sender, certificate, signature and provider. The packet that each peek, lookup and receive returns has a
    SecurityHeader and the flag SH.
    """
    queue = remote.open("plain")
    provider = bytes(
        ProviderInfo(ProviderType=PROVIDER_TYPE_BY_NAME[ADVANCED_PROVIDER], ProviderName=ADVANCED_PROVIDER)
    )
    sent = []
    for default, info in ((DEFAULT_PROVIDER_FLAG, b""), (NAMED_PROVIDER_FLAG, provider)):
        claims = {
            "ST": SENDER_TYPE_OF_SENDER_WITH_SID,
            "DE": default,
            "SecurityID": ALICE.security_id,
            "SenderCert": ALICE.certificate,
        }
        security = claims | {"ProviderInfo": info}
        sent.append(
            sign_message(
                build_message_without_default_values(
                    remote.peer, f"DE {default}", HashAlgorithm=SHA512, security=security
                )
            )
        )
    remote.send_messages_and_require_acks(sent)
    for packet in sent:
        reads = [queue.peek(by=by)]
        if not does_release_lack_method(remote.sut, Method.START_RECEIVE_BY_LOOKUP_ID):
            reads.append(queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST))
        read = queue.receive(by=by)
        if read.outcome != "MQ_OK":
            raise ConformanceFailure(f"{NO_SIGNATURE_ACCEPTED_REASON}: {read.outcome}")
        reads = [*(one for one in reads if one.packet is not None), read]
        judge(
            "MQDMPR-3.1.7.1.30-D02",
            expected=each(EXPECTED_SIGNED_FLAGS),
            observed=[_read_security_flag(one.packet) for one in reads],
            evidence=reads,
            errata="E81",
        )
        judge(
            *rules["buffer"],
            expected=_read_security_fields(packet),
            observed=_read_security_fields(read.packet),
            evidence=read.evidence,
            errata="E81",
        )


def _read_security_flag(packet):
    """Return whether a packet has a SecurityHeader, and the value of its flag SH."""
    return {"SecurityHeader": packet.haslayer("SecurityHeader") == 1, "UserHeader.Flags.SH": packet["UserHeader"].SH}


def _read_security_fields(packet):
    """Return the security properties of a message by field."""
    if packet is None or not packet.haslayer("SecurityHeader"):
        return {}
    return {name: getattr(packet["SecurityHeader"], name) for name in SECURITY_HEADER_FIELD_NAMES}
