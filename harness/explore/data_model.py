"""Describe the abstract data model of a system in the terms of the model of queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.model.agreement import ExpectedValueThatSystemCannotShow

_QUEUE_ELEMENTS = ("Active", "Transactional", "Journaling", "Label", "BasePriority", "JournalQuota")
STEPS_AFTER_WHICH_DATA_MODEL_IS_READ = frozenset(
    (
        *("peek_at", "peek_next", "receive_at", "open_cursor", "close_cursor", "move", "create", "delete", "close"),
        *("commit", "prepare", "restart", "set_queue", "pause", "read_remote_at", "end_read", "close_remote", "vanish"),
    )
)
"""The steps after which the data model is compared. It is not compared after every step, because an inspection takes as
long as a step.
"""


def describe_data_model(adm: Mapping[str, Any], paths: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the elements of the abstract data model for the queues and transactions of the model. ``paths``: the
    name of each queue by its path name. ``names``: the name of each transaction by its identifier.
    """
    manager = adm.get("QueueManager", {})
    queues = {paths.get(str(one.get("Pathname")).lower()): one for one in manager.get("QueueCollection", ())}
    begun = {names.get(str(one.get("Identifier")).lower()): one for one in manager.get("TransactionCollection", ())}
    return {
        **{name: _describe_queue(one) for name, one in queues.items() if name is not None},
        **{name: _describe_operations(one, paths) for name, one in begun.items() if name is not None},
    }


def list_modify_times(adm: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, Any]:
    """Return ModifyTime and CreateTime of each queue of the model."""
    queues = adm.get("QueueManager", {}).get("QueueCollection", ())
    found = {paths.get(str(one.get("Pathname")).lower()): one for one in queues}
    return {name: (one.get("ModifyTime"), one.get("CreateTime")) for name, one in found.items() if name is not None}


def _describe_queue(queue: Mapping[str, Any]) -> dict[str, Any]:
    opened = queue.get("OpenQueueDescriptorCollection")
    return {
        **{name: queue.get(name, ExpectedValueThatSystemCannotShow()) for name in _QUEUE_ELEMENTS},
        "descriptors": ExpectedValueThatSystemCannotShow()
        if opened is None
        else [_describe_descriptor(one) for one in opened],
    }


def _describe_descriptor(descriptor: Mapping[str, Any]) -> dict[str, Any]:
    waiting = descriptor.get("WaitingMessageReadOperationCollection")
    return {
        "AccessType": descriptor.get("AccessType", ExpectedValueThatSystemCannotShow()),
        "ShareMode": descriptor.get("ShareMode", ExpectedValueThatSystemCannotShow()),
        "cursors": [one.get("CursorState") for one in descriptor.get("CursorCollection", ())],
        "waiting": ExpectedValueThatSystemCannotShow()
        if waiting is None
        else [{"receives": one["DestructiveRead"], "by cursor": one["CursorReference"] is not None} for one in waiting],
    }


def _describe_operations(transaction: Mapping[str, Any], paths: Mapping[str, str]) -> list[dict[str, Any]]:
    found = transaction.get("TransactionalOperationCollection", ())
    return [
        {"type": one.get("OperationType"), "target": paths.get(str(one.get("TargetQueueReference")).lower())}
        for one in found
    ]
