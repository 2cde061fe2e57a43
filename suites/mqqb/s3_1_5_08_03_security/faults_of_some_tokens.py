"""Faults of MS-MQQB 3.1.5.8.3 Security: tokens of the senders of some messages only."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from typing import Any

from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Queue
from reference_qm.security import Sid
from suites.mqmq.steps.kinds_of_messages import is_transactional
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    PacketPredicate,
    accept_every_message,
    is_encrypted,
    is_recoverable,
)

FOREIGN_DOMAIN_AUTHORITY = 77


def change_groups_in_tokens(change: Callable[[Set[Sid]], Set[Sid] | None], when: PacketPredicate) -> Install:
    """Return an installer of a fault that changes the groups in the tokens of selected senders."""

    def make_changed_groups(original: Any, qm: QueueManager, packet: UserMessagePacket, queue: Queue) -> Any:
        def find_changed_groups(qm: QueueManager, sid: Sid) -> Set[Sid] | None:
            found: Set[Sid] | None = original(qm, sid)
            return found if found is None or not when(packet) else change(found)

        return find_changed_groups

    return replace_method_during(SecurityOnReceipt.authorize_sender, SecurityLookup.find_groups, make_changed_groups)


def move_groups_to_foreign_domain(groups: Set[Sid]) -> Set[Sid]:
    """Return groups whose SIDs begin with a foreign domain SID."""
    return {
        replace(one, SubAuthority=(*one.SubAuthority[:-2], FOREIGN_DOMAIN_AUTHORITY, one.SubAuthority[-1]))
        if len(one.SubAuthority) > 1
        else one
        for one in groups
    }


def keep_only_group_with_lowest_sid(groups: Set[Sid]) -> Set[Sid]:
    """Return the group with the lowest SID only."""
    return set(sorted(groups, key=str)[:1])


for _name, _rule, _says, _groups, _selected in (
    (
        "receiver-authorization-data-of-sender-of-transactional-message-not-obtained",
        "MQQB-3.1.5.8.3-114",
        "The receiver treats the account of the sender of a transactional message as unknown.",
        lambda groups: None,
        is_transactional,
    ),
    (
        "receiver-authorization-data-of-sender-of-encrypted-message-not-obtained",
        "MQQB-3.1.5.8.3-114",
        "The receiver treats the account of the sender of an encrypted message as unknown.",
        lambda groups: None,
        is_encrypted,
    ),
    (
        "receiver-authorization-data-of-sender-of-recoverable-message-without-groups",
        "MQQB-3.1.5.8.3-114",
        "The receiver obtains no groups of the account of the sender of a recoverable message.",
        lambda groups: frozenset(),
        is_recoverable,
    ),
    (
        "receiver-token-has-one-group",
        "MQQB-3.1.5.8.3-115",
        "The receiver puts only one group of the user into the token.",
        keep_only_group_with_lowest_sid,
        accept_every_message,
    ),
    (
        "receiver-token-of-sender-of-transactional-message-without-groups",
        "MQQB-3.1.5.8.3-115",
        "The receiver puts no groups into the token of the sender of a transactional message.",
        lambda groups: frozenset(),
        is_transactional,
    ),
    (
        "receiver-token-of-sender-of-encrypted-message-without-groups",
        "MQQB-3.1.5.8.3-115",
        "The receiver puts no groups into the token of the sender of an encrypted message.",
        lambda groups: frozenset(),
        is_encrypted,
    ),
    (
        "receiver-groups-of-sender-of-transactional-message-in-foreign-domain",
        "MQQB-3.1.5.8.3-116",
        "The receiver begins the SIDs of the groups of the sender of a transactional message with a foreign domain "
        "SID.",
        move_groups_to_foreign_domain,
        is_transactional,
    ),
    (
        "receiver-groups-of-sender-of-recoverable-message-in-foreign-domain",
        "MQQB-3.1.5.8.3-116",
        "The receiver begins the SIDs of the groups of the sender of a recoverable message with a foreign domain SID.",
        move_groups_to_foreign_domain,
        is_recoverable,
    ),
    (
        "receiver-groups-of-sender-of-encrypted-message-in-foreign-domain",
        "MQQB-3.1.5.8.3-116",
        "The receiver begins the SIDs of the groups of the sender of an encrypted message with a foreign domain SID.",
        move_groups_to_foreign_domain,
        is_encrypted,
    ),
):
    add(_name, _rule, _says, change_groups_in_tokens(_groups, _selected), blind=True)
