"""Faults that break the rule MQQB-3.1.5.8.3-23."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install
from harness.faults.timed_caches import (
    AnyTimedCache,
    CacheFullOneEntryEarly,
    CacheLosingHalfAndOneEntry,
    CacheLosingOnlyOldestEntry,
    make_cache_ignoring_fields,
    replace_cache,
    scale_cleanup_timer,
    store_field_of_first_entry,
)
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import Ace, AceType, Acl, QueueAccess, SecurityDescriptor
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_express, is_transactional
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    ACCESS_DENIED_CLASS,
    accept_refused_messages,
    has_destination_list,
    is_encrypted,
    refuse_selected_messages_in_security_step,
    register_faults_written_without_knowing_checks,
    skip_security_step_for_selected_messages,
)


@fault("receiver-cached-certificate-accepted-for-any-user-of-same-domain", breaks="MQQB-3.1.5.8.3-23", blind=True)
class ReceiverCachedCertificateAcceptedForAnyUserOfSameDomain(SecurityOnReceipt):
    """The receiver accepts a cached certificate for any user of the domain to which the user of the cache entry
    belongs.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        header = packet.SecurityHeader
        if header is not None and header.AS and header.ST:
            data = header.SecurityData
            for known in self.qm.caches.UserCertCache.entries:
                if known.UserCert.Certificate == data.SenderCert and known.SecurityID[:-4] == data.SecurityID[:-4]:
                    return
        super().verify_sender(packet, now)


@fault("receiver-cached-certificate-accepted-for-other-user", breaks="MQQB-3.1.5.8.3-23")
class ReceiverCachedCertificateAcceptedForOtherUser(SecurityOnReceipt):
    """The receiver accepts a cached certificate in a message of any user."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        certificate = None if security is None else security.SecurityData.SenderCert
        if certificate and self.qm.caches.UserCertCache.find(lambda known: known.UserCert.Certificate == certificate):
            return
        super().verify_sender(packet, now)


WRITE_MESSAGE_RIGHT = QueueAccess.MQSEC_WRITE_MESSAGE


CERTIFICATE_CACHE_NAME = "UserCertCache"


RECEIVED_KEY_CACHE_NAME = "ReceiveSymmetricKeyCache"


def _change_queue_security(change: Callable[[SecurityDescriptor], SecurityDescriptor]) -> Install:
    def run(self: Any, original: Any, queue: Any) -> SecurityDescriptor:
        return change(original(queue))

    return change_step(SecurityLookup.find_queue_security, run)


def _change_access_control_entries(change: Callable[[tuple[Ace, ...]], tuple[Ace, ...]]) -> Install:
    def run(descriptor: SecurityDescriptor) -> SecurityDescriptor:
        acl = descriptor.Dacl
        return descriptor if acl is None else replace(descriptor, Dacl=Acl(change(acl.Aces)))

    return _change_queue_security(run)


def _grant_write_right_to_holder_of_other_right(right: int) -> Install:
    return _change_access_control_entries(
        lambda aces: tuple(
            replace(ace, Mask=ace.Mask | WRITE_MESSAGE_RIGHT)
            if ace.Mask & right and ace.AceType is AceType.ACCESS_ALLOWED
            else ace
            for ace in aces
        )
    )


def _change_user_groups(change: Callable[[Any, Any, Any], Any]) -> Install:
    def run(self: Any, original: Any, sid: Any) -> Any:
        groups = original(sid)
        return None if groups is None else change(self, sid, groups)

    return change_step(SecurityLookup.find_groups, run)


def _authorize_as_first_user(self: Any, original: Any, packet: UserMessagePacket, queue: Any) -> None:
    header = packet.SecurityHeader
    if header is not None and header.ST == 1:
        kept = self.__dict__.setdefault("user", header.SecurityData.SecurityID)
        data = replace(header.SecurityData, SecurityID=kept, Padding=None)
        packet = replace(packet, SecurityHeader=replace(header, SecurityData=data))
    original(packet, queue)


def _replace_sender_type(old: int, new: int) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, queue: Any) -> None:
        header = packet.SecurityHeader
        if header is not None and old == header.ST:
            flags = header.Flags & ~type(header).flags(ST=0xF) | type(header).flags(ST=new)
            packet = replace(packet, SecurityHeader=replace(header, Flags=flags))
        original(packet, queue)

    return change_step(SecurityOnReceipt.authorize_sender, run)


class CacheRenewingFoundEntry(AnyTimedCache):
    """A cache that renews CachedTime of an entry when the entry is found."""

    def find(self, matches: Any) -> Any:
        found = super().find(matches)
        if found is not None:
            self.entries.remove(found)
            newest = max((entry.CachedTime for entry in self.entries), default=found.CachedTime)
            found = replace(found, CachedTime=max(newest, found.CachedTime))
            self.entries.append(found)
        return found


class CacheKeepingOnlyFirstEntry(AnyTimedCache):
    """A cache that stores only its first entry."""

    def add(self, entry: Any) -> None:
        if not self.entries:
            super().add(entry)


def _make_cache_replacing_entry_of_equal_field(field: str) -> type[AnyTimedCache]:
    """Return a cache whose new entry replaces an entry with the same value in a field."""

    class CacheOfUniqueField(AnyTimedCache):
        def add(self, entry: Any) -> None:
            self.entries = [kept for kept in self.entries if getattr(kept, field) != getattr(entry, field)]
            super().add(entry)

    return CacheOfUniqueField


_RULES_BY_SECURITY_CACHE = (
    ("certificate", CERTIFICATE_CACHE_NAME, "MQQB-3.1.5.8.3-34", "MQQB-3.1.5.8.3-35", "MQQB-3.1.5.8.3-36"),
    ("symmetric-key", RECEIVED_KEY_CACHE_NAME, "MQQB-3.1.5.8.3-58", "MQQB-3.1.5.8.3-68", "MQQB-3.1.5.8.3-69"),
)


register_faults_written_without_knowing_checks(
    *(
        (
            f"receiver-access-of-{label}-not-checked",
            ("MQQB-3.1.5.8.3-89", "MQQB-3.1.5.8.3-120"),
            f"The receiver does not check the access of the sender of {words}.",
            skip_security_step_for_selected_messages("authorize_sender", when),
        )
        for label, words, when in (
            ("encrypted-message", "an encrypted message", is_encrypted),
            ("express-message", "an express message", is_express),
            ("message-to-list", "a message with a list of destinations", has_destination_list),
            ("signed-message", "an authenticated message", lambda packet: packet.SecurityHeader.AS != 0),
            ("acknowledgment", "an acknowledgment", lambda packet: packet.MessagePropertiesHeader.MessageClass != 0),
        )
    ),
    (
        "receiver-access-of-queue-manager-unlimited",
        "MQQB-3.1.5.8.3-97",
        "The receiver grants a queue manager (ST 2) access to every queue.",
        skip_security_step_for_selected_messages("authorize_sender", lambda packet: packet.SecurityHeader.ST == 2),
    ),
    (
        "receiver-access-of-express-message-of-queue-manager-denied",
        "MQQB-3.1.5.8.3-97",
        "The receiver denies a queue manager (ST 2) access when the message is express.",
        refuse_selected_messages_in_security_step(
            "authorize_sender", lambda packet: packet.SecurityHeader.ST == 2 and is_express(packet), ACCESS_DENIED_CLASS
        ),
    ),
    (
        "receiver-access-of-user-as-first-user",
        "MQQB-3.1.5.8.3-98",
        "The receiver checks the access of each user as if the user were the first user who sent a message.",
        change_step(SecurityOnReceipt.authorize_sender, _authorize_as_first_user),
    ),
    (
        "receiver-access-of-user-as-anonymous",
        "MQQB-3.1.5.8.3-98",
        "The receiver checks the access of a user as if the user were anonymous.",
        _replace_sender_type(1, 0),
    ),
    (
        "receiver-access-denials-first",
        "MQQB-3.1.5.8.3-99",
        "The receiver applies the denying entries of an access control list before the allowing entries.",
        _change_access_control_entries(
            lambda aces: tuple(sorted(aces, key=lambda ace: ace.AceType is not AceType.ACCESS_DENIED))
        ),
    ),
    (
        "receiver-access-denials-last",
        "MQQB-3.1.5.8.3-99",
        "The receiver applies the denying entries of an access control list after the allowing entries.",
        _change_access_control_entries(
            lambda aces: tuple(sorted(aces, key=lambda ace: ace.AceType is AceType.ACCESS_DENIED))
        ),
    ),
    (
        "receiver-access-with-empty-dacl-granted",
        "MQQB-3.1.5.8.3-99",
        "The receiver grants access to a queue whose security descriptor has an empty DACL.",
        _change_queue_security(
            lambda found: replace(found, Dacl=None) if found.Dacl is not None and not found.Dacl.Aces else found
        ),
    ),
    (
        "receiver-access-by-inherit-only-entry",
        "MQQB-3.1.5.8.3-99",
        "The receiver applies an entry of an access control list that is only for inheritance.",
        _change_access_control_entries(lambda aces: tuple(replace(ace, AceFlags=ace.AceFlags & ~8) for ace in aces)),
    ),
    (
        "receiver-access-by-inherited-entry-ignored",
        "MQQB-3.1.5.8.3-99",
        "The receiver ignores an inherited entry of an access control list.",
        _change_access_control_entries(lambda aces: tuple(ace for ace in aces if not ace.AceFlags & 0x10)),
    ),
    (
        "receiver-access-generic-rights-ignored",
        "MQQB-3.1.5.8.3-99",
        "The receiver ignores the generic rights in an access control list.",
        _change_access_control_entries(lambda aces: tuple(replace(ace, Mask=ace.Mask & 0x0FFFFFFF) for ace in aces)),
    ),
    (
        "receiver-access-by-first-entry-only",
        "MQQB-3.1.5.8.3-99",
        "The receiver applies only the first entry of an access control list.",
        _change_access_control_entries(lambda aces: aces[:1]),
    ),
    (
        "receiver-access-of-owner-granted",
        "MQQB-3.1.5.8.3-99",
        "The receiver grants the owner of a queue the right to write.",
        _change_queue_security(
            lambda found: (
                found
                if found.Dacl is None or found.Owner is None
                else replace(
                    found, Dacl=Acl((Ace(AceType.ACCESS_ALLOWED, WRITE_MESSAGE_RIGHT, found.Owner), *found.Dacl.Aces))
                )
            )
        ),
    ),
    (
        "receiver-access-denial-of-other-right-denies-write",
        "MQQB-3.1.5.8.3-117",
        "The receiver denies a sender to write to whom an entry denies a different right.",
        _change_access_control_entries(
            lambda aces: tuple(
                replace(ace, Mask=ace.Mask | WRITE_MESSAGE_RIGHT) if ace.AceType is AceType.ACCESS_DENIED else ace
                for ace in aces
            )
        ),
    ),
    *(
        (
            f"receiver-access-by-right-{right:05x}",
            "MQQB-3.1.5.8.3-117",
            f"The receiver lets a sender with the right 0x{right:05X} write.",
            _grant_write_right_to_holder_of_other_right(right),
        )
        for right in (0x1, 0x8, 0x10, 0x20, 0x10000, 0x20000, 0x40000, 0x80000)
    ),
    (
        "receiver-access-of-malformed-sid-granted",
        "MQQB-3.1.5.8.3-102",
        "The receiver grants access to a sender whose SecurityID is malformed.",
        accept_refused_messages(
            "authorize_sender", lambda packet: len(packet.SecurityHeader.SecurityData.SecurityID) < 12
        ),
    ),
    (
        "receiver-access-of-empty-sid-as-anonymous",
        "MQQB-3.1.5.8.3-102",
        "The receiver grants access to a sender with an empty SecurityID.",
        skip_security_step_for_selected_messages(
            "authorize_sender", lambda packet: not packet.SecurityHeader.SecurityData.SecurityID
        ),
    ),
    (
        "receiver-account-of-second-sid-not-found",
        ("MQQB-3.1.5.8.3-105", "MQQB-3.1.5.8.3-110"),
        "The receiver finds the account only of the first SID that it looks up.",
        change_step(
            SecurityLookup.find_groups,
            lambda self, original, sid: original(sid) if self.__dict__.setdefault("first_sid", sid) == sid else None,
        ),
    ),
    (
        "receiver-account-of-unknown-sid-first-account",
        ("MQQB-3.1.5.8.3-105", "MQQB-3.1.5.8.3-110"),
        "The receiver takes the account that it found last for a SID without an account.",
        change_step(
            SecurityLookup.find_groups,
            lambda self, original, sid: (
                self.__dict__.__setitem__("last", original(sid) or self.__dict__.get("last")) or self.__dict__["last"]
            ),
        ),
    ),
    (
        "receiver-groups-of-first-user-for-all",
        ("MQQB-3.1.5.8.3-114", "MQQB-3.1.5.8.3-115"),
        "The receiver puts the groups of the first user into the token of each user.",
        _change_user_groups(lambda self, sid, groups: self.__dict__.setdefault("groups", groups)),
    ),
    *(
        (
            f"receiver-denied-{label}-inserted",
            ("MQQB-3.1.5.8.3-120", "MQQB-3.1.5.8.3-127"),
            f"The receiver accepts {words} whose sender has no access.",
            accept_refused_messages("authorize_sender", when),
        )
        for label, words, when in (
            ("transactional-message", "a transactional message", is_transactional),
            ("express-message", "an express message", is_express),
            ("message-without-na", "a message without NA", lambda packet: not packet.MessagePropertiesHeader.NA),
        )
    ),
    # -- caches ----------------------------------------------------------------------------------------------------
    *(
        (
            f"receiver-cached-{label}-{field.lower()}-of-first",
            rule,
            f"The receiver gives later entries of {cache} the {field} of the first entry.",
            store_field_of_first_entry(cache, field),
        )
        for label, cache, rules in (
            (
                "certificate",
                CERTIFICATE_CACHE_NAME,
                {"UserCert": "MQQB-3.1.5.8.3-30", "SecurityID": "MQQB-3.1.5.8.3-31", "CachedTime": "MQQB-3.1.5.8.3-32"},
            ),
            (
                "key",
                RECEIVED_KEY_CACHE_NAME,
                {
                    "CryptoServiceProvider": "MQQB-3.1.5.8.3-60",
                    "CryptoAlgorithm": "MQQB-3.1.5.8.3-61",
                    "EncryptedSymmetricKey": "MQQB-3.1.5.8.3-62",
                    "CachedTime": "MQQB-3.1.5.8.3-66",
                },
            ),
        )
        for field, rule in rules.items()
    ),
    *(
        (
            f"receiver-{label}-cache-{what}",
            full if is_full else added,
            f"The receiver's {cache} {words}.",
            replace_cache(cache, kind),
        )
        for label, cache, added, full, _timer in _RULES_BY_SECURITY_CACHE
        for what, words, kind, is_full in (
            ("loses-oldest-only", "loses only its oldest entry when it is full", CacheLosingOnlyOldestEntry, True),
            ("full-early", "is halved one entry early", CacheFullOneEntryEarly, True),
            ("loses-half-and-one", "loses one entry more than half when it is full", CacheLosingHalfAndOneEntry, True),
            ("renews-used-entries", "counts a used entry as new", CacheRenewingFoundEntry, True),
            ("ignores-second-entry", "stores only its first entry", CacheKeepingOnlyFirstEntry, False),
        )
    ),
    *(
        (
            f"receiver-{label}-cache-one-entry-for-{field.lower()}",
            rule,
            f"The receiver's {cache} has only one entry for each {field}.",
            replace_cache(cache, _make_cache_replacing_entry_of_equal_field(field)),
        )
        for label, cache, rule, field in (
            ("symmetric-key", RECEIVED_KEY_CACHE_NAME, "MQQB-3.1.5.8.3-58", "RemoteQMGuid"),
            ("symmetric-key", RECEIVED_KEY_CACHE_NAME, "MQQB-3.1.5.8.3-58", "CryptoAlgorithm"),
            ("symmetric-key", RECEIVED_KEY_CACHE_NAME, "MQQB-3.1.5.8.3-58", "CryptoServiceProvider"),
        )
    ),
    *(
        (
            f"receiver-{label}-found-for-any-{field.lower()}",
            rule,
            f"The receiver finds an entry of {cache} regardless of its {field}.",
            replace_cache(cache, make_cache_ignoring_fields(field)),
        )
        for label, cache, rule, field in (
            ("cached-certificate", CERTIFICATE_CACHE_NAME, "MQQB-3.1.5.8.3-23", "SecurityID"),
            ("cached-certificate", CERTIFICATE_CACHE_NAME, "MQQB-3.1.5.8.3-23", "UserCert"),
            ("cached-key", RECEIVED_KEY_CACHE_NAME, "MQQB-3.1.5.8.3-57", "EncryptedSymmetricKey"),
        )
    ),
    *(
        (
            f"receiver-{label}-cleanup-timer-{what}",
            timer,
            f"The receiver starts the cleanup timer of {cache} with {words} lifetime.",
            scale_cleanup_timer(cache, factor),
        )
        for label, cache, _added, _full, timer in _RULES_BY_SECURITY_CACHE
        for what, words, factor in (("twice", "twice the", 2.0), ("half", "half the", 0.5))
        if (label, what) != ("symmetric-key", "twice")  # the rule permits a longer time
    ),
)
