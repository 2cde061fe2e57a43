"""MS-MQMQ 2.2.20.6 SecurityHeader: the items of SecurityData that the receiving application gets."""

from __future__ import annotations

import base64
from typing import Any

from harness.errors import ConformanceFailure
from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB
from harness.wire import ProviderInfo
from harness.wire.protection import ADVANCED_PROVIDER, ENHANCED_PROVIDER, PROVIDER_TYPE_BY_NAME, SIG10, SIG20
from suites.mqqb.steps.secured import SENDER_TYPE_OF_QUEUE_MANAGER, SecuredMessageSender, sign_message

SHOWN_SECURITY_ITEMS = ("sender_type", "sender", "certificate_base64", "provider")
"""The names of the items of SecurityData on the control channel."""


def _build_provider_info(name: str) -> dict[str, Any]:
    return {"DE": 0, "ProviderInfo": bytes(ProviderInfo(ProviderType=PROVIDER_TYPE_BY_NAME[name], ProviderName=name))}


@needs("security", "receive")
@covers("MQMQ-2.2.20.6-D02", "MQMQ-2.2.20.6-D03")
def test_received_message_has_items_of_security_data(peer, sut, judge):
    """Messages from users and from a queue manager arrive; some are signed, and some name a provider. The application
    gets the sender, certificate and provider of each message.
    """
    secured = SecuredMessageSender(peer, sut)
    guid = peer.identifier
    queue_manager = {"ST": SENDER_TYPE_OF_QUEUE_MANAGER, "SecurityID": guid.bytes_le, "SenderCert": b""}
    packets = {
        "user": secured.message(ALICE),
        "user with provider": secured.message(BOB, security=_build_provider_info(ENHANCED_PROVIDER)),
        "user, signed": sign_message(secured.message(ALICE), SIG10),
        "user with provider, signed": sign_message(
            secured.message(BOB, security=_build_provider_info(ADVANCED_PROVIDER)), SIG20, BOB.key
        ),
        "queue manager": secured.message(security=queue_manager),
    }
    alice, bob = (("sid", user.sid, base64.b64encode(user.certificate).decode()) for user in (ALICE, BOB))
    expected = {
        "user": (*alice, None),
        "user with provider": (*bob, ENHANCED_PROVIDER),
        "user, signed": (*alice, None),
        "user with provider, signed": (*bob, ADVANCED_PROVIDER),
        "queue manager": ("queue_manager", str(guid), "", None),
    }
    for name, found in secured.send_and_read_dispositions(packets).items():
        if found.found is None:
            if "signed" in name:
                continue
            raise ConformanceFailure(f"message {name} did not arrive in its queue")
        shown = found.found.get("security")
        if sut.reads_remotely or not shown:
            judge.give_up(
                Verdict.NOT_OBSERVABLE, "the control channel does not show the security properties of messages"
            )
            return
        whole = dict(zip(SHOWN_SECURITY_ITEMS, expected[name], strict=True))
        seen = {item: shown.get(item) for item in SHOWN_SECURITY_ITEMS}
        judge.all(
            expected=whole, observed=seen, case=f"security properties of the message ({name})", evidence=found.frames
        )
