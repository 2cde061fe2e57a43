"""Faults that break rules of MS-MQQB 3.1.1.3 for a later entry, algorithm or request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import PingPacket, UserMessagePacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import CachedUserCert, ReceivedMessageRefused, UserSignCert
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_transactional


@fault("receiver-caches-certificate-that-it-could-not-verify", breaks="MQQB-3.1.1.3-03", blind=True)
class ReceiverCachesCertificateThatItCouldNotVerify(SecurityOnReceipt):
    """The receiver adds a certificate to UserCertCache even if it could not verify the certificate."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        try:
            super().verify_sender(packet, now)
        except ReceivedMessageRefused:
            assert packet.SecurityHeader is not None
            data = packet.SecurityHeader.SecurityData
            known = UserSignCert(Certificate=data.SenderCert)
            self.qm.caches.UserCertCache.add(CachedUserCert(known, data.SecurityID, now.utc_s))
            raise


@fault("receiver-certificate-of-transactional-message-not-kept", breaks="MQQB-3.1.1.3-03", blind=True)
class ReceiverCertificateOfTransactionalMessageNotKept(SecurityOnReceipt):
    """The receiver does not keep the verified certificate of a transactional message in UserCertCache."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        before = list(self.qm.caches.UserCertCache.entries)
        super().verify_sender(packet, now)
        if is_transactional(packet):
            self.qm.caches.UserCertCache.entries = before


def _replace_advanced_algorithm(choose: Callable[[int], int]) -> Install:
    """Return an installer of a fault that encrypts with an algorithm other than PreferredAdvancedAlgorithm."""

    def run(self: Any, original: Any, *arguments: Any) -> UserMessagePacket:
        caches = self.qm.caches
        settings = caches.settings
        caches.settings = replace(settings, PreferredAdvancedAlgorithm=choose(settings.PreferredAdvancedAlgorithm))
        try:
            encrypted: UserMessagePacket = original(*arguments)
        finally:
            caches.settings = settings
        return encrypted

    return change_step(MessageSecuring.encrypt_body, run)


def _replace_algorithm_number(given: int, used: int, value: int) -> int:
    return used if value == given else value


for _bits, _given, _used in (("128", 0x660E, 0x6610), ("192", 0x660F, 0x6610), ("256", 0x6610, 0x660F)):
    add(
        f"sender-preferred-aes-{_bits}-ignored",
        "MQQB-3.1.1.3-17",
        f"The sender does not use AES with a key of {_bits} bits if PreferredAdvancedAlgorithm names this algorithm.",
        _replace_advanced_algorithm(partial(_replace_algorithm_number, _given, _used)),
        blind=True,
    )


@fault("initiator-third-ping-request-with-first-cookie", breaks="MQQB-3.1.1.3-26", blind=True)
class InitiatorThirdPingRequestWithFirstCookie(PingHandling):
    """The initiator's third Ping Request has the Cookie of the first Ping Request."""

    def build_request(self) -> PingPacket:
        sent = self.__dict__.setdefault("cookies", [])
        sent.append(self.qm.adm.PingCookie)
        if len(sent) == 3:
            self.qm.adm.PingCookie = sent[0]
        return super().build_request()


@fault("initiator-cookie-repeated-while-other-ping-is-unanswered", breaks="MQQB-3.1.1.3-26", blind=True)
class InitiatorCookieRepeatedWhileOtherPingIsUnanswered(PingHandling):
    """While an earlier Ping Request is unanswered, the initiator sends a further Ping Request with the Cookie of the
    earlier one.
    """

    def build_request(self) -> PingPacket:
        waiting = [
            one.ping_cookie for one in self.qm.sessions.values() if one.awaited_opening_event.name == "PING_RESPONSE"
        ]
        if len(waiting) > 1:
            self.qm.adm.PingCookie = min(waiting)
        return super().build_request()


class _CacheLimitedPerQueueManager(AnyTimedCache):
    """A cache whose configured size limits the entries of each remote queue manager separately, instead of all entries
    together.
    """

    def add(self, entry: Any) -> None:
        mine = [kept for kept in self.entries if kept.RemoteQMGuid == entry.RemoteQMGuid]
        if len(mine) < self._size:
            self.entries.append(entry)
        else:
            super().add(entry)


add(
    "receiver-symmetric-key-cache-size-per-remote-queue-manager",
    "MQQB-3.1.1.3-09",
    "The receiver keeps as many keys as ReceiveSymmetricKeyCacheSize for each remote queue manager.",
    replace_cache("ReceiveSymmetricKeyCache", _CacheLimitedPerQueueManager),
    blind=True,
)
