"""Faults that break rules of MS-MQQB 3.1.5.8.3 Security for a later certificate, user or message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install
from harness.faults.timed_caches import AnyTimedCache, replace_cache
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue
from reference_qm.security import Ace, AceType, Acl, QueueAccess, ReceivedMessageRefused, Sid, authorize_sender
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_express, is_transactional
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    BAD_SIGNATURE_CLASS,
    MessageSelectionCondition,
    is_encrypted,
    register_faults_written_without_knowing_checks,
)

PRINCIPAL_SELF_SID = Sid(5, (10,))
CERTIFICATE_CACHE_NAME = "UserCertCache"


def _has_signature_and_sender(packet: UserMessagePacket) -> bool:
    header = packet.SecurityHeader
    return header is not None and bool(header.AS) and bool(header.ST)


@fault("receiver-user-not-looked-up-after-refused-certificate", breaks="MQQB-3.1.5.8.3-24", blind=True)
class ReceiverUserNotLookedUpAfterRefusedCertificate(SecurityOnReceipt):
    """After the receiver has refused a certificate of a user, the receiver does not look up this user again."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        refused = self.__dict__.setdefault("refused_users", set())
        user = b"" if packet.SecurityHeader is None else packet.SecurityHeader.SecurityData.SecurityID
        if _has_signature_and_sender(packet) and user in refused:
            raise ReceivedMessageRefused(BAD_SIGNATURE_CLASS, "a fault does not look up the user again")
        try:
            super().verify_sender(packet, now)
        except ReceivedMessageRefused:
            refused.add(user)
            raise


@fault("receiver-certificates-of-second-user-not-looked-up", breaks="MQQB-3.1.5.8.3-24", blind=True)
class ReceiverCertificatesOfSecondUserNotLookedUp(SecurityLookup):
    """While UserCertCache contains a certificate, the receiver looks up no certificates of another user."""

    def find_user_certificates(self, security_id: bytes) -> Any:
        cached = self.qm.caches.UserCertCache.entries
        if cached and all(entry.SecurityID != security_id for entry in cached):
            return None
        return super().find_user_certificates(security_id)


def _refuse_new_certificate(when: MessageSelectionCondition) -> Install:
    """Return an installer of a fault that refuses selected messages whose certificate is not cached yet."""

    def run(self: Any, original: Any, packet: UserMessagePacket, now: Now) -> None:
        before = len(self.qm.caches.UserCertCache)
        original(packet, now)
        if when(packet) and len(self.qm.caches.UserCertCache) != before:
            raise ReceivedMessageRefused(BAD_SIGNATURE_CLASS, "a fault refuses the message")

    return change_step(SecurityOnReceipt.verify_sender, run)


def _omit_caching_of_certificate(when: MessageSelectionCondition) -> Install:
    """Return an installer of a fault that does not cache the certificates of selected messages."""

    def run(self: Any, original: Any, packet: UserMessagePacket, now: Now) -> None:
        before = list(self.qm.caches.UserCertCache.entries)
        original(packet, now)
        if when(packet):
            self.qm.caches.UserCertCache.entries = before

    return change_step(SecurityOnReceipt.verify_sender, run)


class _CacheKeepingOnlyFirstCertificate(AnyTimedCache):
    def add(self, entry: Any) -> None:
        if not self.entries:
            super().add(entry)


class _CacheOfCertificatesSeenTwice(AnyTimedCache):
    def add(self, entry: Any) -> None:
        seen = self.__dict__.setdefault("seen", [])
        if (entry.UserCert, entry.SecurityID) in seen:
            super().add(entry)
        seen.append((entry.UserCert, entry.SecurityID))


def _replace_self_sid_in_descriptor(build: Any) -> Install:
    """Return an installer of a fault that replaces SELF in the entries of a descriptor. ``build`` is called with the
    SecurityHeader, and returns the function that changes an entry, or None if the entries stay unchanged.
    """

    def run(self: Any, original: Any, packet: UserMessagePacket, queue: Queue) -> None:
        substitute = build(packet.SecurityHeader)
        descriptor = self.qm.security_lookup.find_queue_security(queue)
        if substitute is None or descriptor.Dacl is None:
            original(packet, queue)
            return
        changed = replace(descriptor, Dacl=Acl(tuple(substitute(ace) for ace in descriptor.Dacl.Aces)))
        assert packet.SecurityHeader is not None
        authorize_sender(packet.SecurityHeader, self._build_receiver(), changed)

    return change_step(SecurityOnReceipt.authorize_sender, run)


def _replace_self_sid_in_denials_by_user(header: Any) -> Any:
    if header.ST != 1:
        return None
    user = Sid.parse(header.SecurityData.SecurityID)
    return lambda ace: (
        replace(ace, Sid=user) if ace.Sid == PRINCIPAL_SELF_SID and ace.AceType is AceType.ACCESS_DENIED else ace
    )


def _grant_rights_of_self_to_queue_managers(header: Any) -> Any:
    if header.ST != 2:
        return None
    return lambda ace: replace(ace, Sid=Sid(1, (0,))) if ace.Sid == PRINCIPAL_SELF_SID else ace


def _grant_rights_of_self_to_messages_without_sender(header: Any) -> Any:
    if header.ST:
        return None
    return lambda ace: (
        Ace(ace.AceType, int(QueueAccess.MQSEC_WRITE_MESSAGE), Sid(5, (7,))) if ace.Sid == PRINCIPAL_SELF_SID else ace
    )


register_faults_written_without_knowing_checks(
    (
        "receiver-new-certificate-of-transactional-message-not-looked-up",
        "MQQB-3.1.5.8.3-24",
        "The receiver refuses a transactional message whose certificate is not cached, and looks up no certificates.",
        _refuse_new_certificate(is_transactional),
    ),
    (
        "receiver-second-certificate-not-cached",
        "MQQB-3.1.5.8.3-28",
        "The receiver caches no registered certificate while UserCertCache contains another certificate.",
        replace_cache(CERTIFICATE_CACHE_NAME, _CacheKeepingOnlyFirstCertificate),
    ),
    (
        "receiver-express-message-with-new-certificate-refused",
        "MQQB-3.1.5.8.3-28",
        "The receiver caches the registered certificate of an express message, but then refuses the message.",
        _refuse_new_certificate(is_express),
    ),
    (
        "receiver-encrypted-message-with-new-certificate-refused",
        "MQQB-3.1.5.8.3-28",
        "The receiver caches the registered certificate of an encrypted message, but then refuses the message.",
        _refuse_new_certificate(is_encrypted),
    ),
    (
        "receiver-certificate-of-express-message-not-cached",
        "MQQB-3.1.5.8.3-29",
        "The receiver creates no CachedUserCert for the accepted certificate of an express message.",
        _omit_caching_of_certificate(is_express),
    ),
    (
        "receiver-certificate-cached-at-second-message",
        "MQQB-3.1.5.8.3-29",
        "The receiver creates the CachedUserCert of an accepted certificate only when the certificate arrives again.",
        replace_cache(CERTIFICATE_CACHE_NAME, _CacheOfCertificatesSeenTwice),
    ),
    (
        "receiver-self-denial-applied-to-sender",
        "MQQB-3.1.5.8.3-119",
        "The receiver applies an ACE that denies rights to SELF to the user who sent the message.",
        _replace_self_sid_in_descriptor(_replace_self_sid_in_denials_by_user),
    ),
    (
        "receiver-self-right-granted-to-queue-manager",
        "MQQB-3.1.5.8.3-119",
        "The receiver grants the rights of SELF to a message whose sender is a queue manager (ST 2).",
        _replace_self_sid_in_descriptor(_grant_rights_of_self_to_queue_managers),
    ),
    (
        "receiver-self-right-granted-to-anonymous-sender",
        "MQQB-3.1.5.8.3-119",
        "The receiver grants the rights of SELF to a message without a sender (ST 0).",
        _replace_self_sid_in_descriptor(_grant_rights_of_self_to_messages_without_sender),
    ),
)
