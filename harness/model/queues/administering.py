"""Create, change, purge and delete queues. Spec: MS-MQDMPR 3.1.7.1.3, 3.1.7.1.4, 3.1.7.1.7."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.base import ADMIN_QUEUE_NAME, QueuesBase
from harness.model.queues.state import AVAILABLE_MESSAGE_STATE, NO_QUEUE_TYPE, PURGE_PENDING_MESSAGE_STATE, Queue
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

QUEUE_NAMES, SUBQUEUE_NAMES = ("one", "two", "three"), ("sub", "part")
"""The names of the queues that the model uses, and the names of the subqueues that each of these queues may have."""
TOO_LONG_SUBQUEUE_NAME = "part" * 9
"""A name that is longer than the name of a subqueue may be (MS-MQMQ 2.1.1)."""
QUEUE_QUOTAS_TO_DRAW_FROM_KB = (None, None, None, 8)
JOURNAL_QUOTAS_TO_DRAW_FROM_KB = (None, None, 5)
QUEUE_LABELS_TO_DRAW_FROM = (None, None, "", "a label", "l" * 124)
QUEUE_TYPE_GUIDS = (None, None, "0b6c1f0e-5b7d-4c55-9d3e-8a53f0f2a101", "ffffffff-ffff-ffff-ffff-fffffffffffe")
BASE_PRIORITIES_TO_DRAW_FROM = (None, None, 1, -32_768, 32_767)


class AdministrationTransitions(QueuesBase):
    """The transitions in which an administrator changes the queues."""

    @transition(
        "MQDMPR-3.1.7.1.3-06",
        "MQDMPR-3.1.7.1.3-D01",
        "MQDMPR-3.1.7.1.3-D07",
        needs=("queue_control",),
        weight=3,
        transactional=False,
        journaling=False,
        quota_kb=None,
        journal_quota_kb=None,
        label=None,
        type=None,
        base_priority=None,
    )
    def create(
        self,
        queue: str,
        transactional: bool,
        journaling: bool,
        quota_kb: int | None,
        journal_quota_kb: int | None,
        label: str | None,
        type: str | None,  # noqa: A002 - the name of the argument of the verb
        base_priority: int | None,
    ) -> None:
        if queue in self.queues:
            self.answer_with_refusal("MQ_ERROR_QUEUE_EXISTS")
            return
        shown = (label or "", type or NO_QUEUE_TYPE, base_priority or 0)
        made = Queue(queue, transactional, journaling, quota_kb, journal_quota_kb, *shown)
        made.journal = Queue(f"{queue};journal")
        self.queues[queue] = made
        self.answer_with_success()

    def draw_create(self, chance: Random) -> dict[str, Any]:
        missing = [name for name in QUEUE_NAMES if name not in self.queues]
        return {
            "queue": chance.choice(missing if missing and chance.random() < 0.9 else QUEUE_NAMES),
            "transactional": chance.random() < 0.5,
            "journaling": chance.random() < 0.4,
            "quota_kb": chance.choice(QUEUE_QUOTAS_TO_DRAW_FROM_KB),
            "journal_quota_kb": chance.choice(JOURNAL_QUOTAS_TO_DRAW_FROM_KB),
            "label": chance.choice(QUEUE_LABELS_TO_DRAW_FROM),
            "type": chance.choice(QUEUE_TYPE_GUIDS),
            "base_priority": chance.choice(BASE_PRIORITIES_TO_DRAW_FROM),
        }

    @transition("MQDMPR-3.1.7.1.3-06", "MQDMPR-3.1.7.1.3-07", needs=("queue_control", "subqueues"), weight=3)
    def create_subqueue(self, queue: str, part: str) -> None:
        parent = self.find(self.queues, queue)
        name = f"{queue};{part}"
        if part == TOO_LONG_SUBQUEUE_NAME:
            self.cite_rules("MQDMPR-3.1.7.1.3-05")
            self.answer_with_refusal()
            return
        if name in self.queues:
            self.answer_with_refusal("MQ_ERROR_QUEUE_EXISTS")
            return
        made = Queue(name, parent.transactional, parent=parent)
        parent.subqueues.append(made)
        self.queues[name] = made
        self.answer_with_success()

    def draw_create_subqueue(self, chance: Random) -> dict[str, Any]:
        whole = [one for one in self.queues.values() if one.parent is None]
        begun = [one for one in whole if len(one.subqueues) == 1]
        queue = draw_one_value_or_refuse_step(chance, begun if begun and chance.random() < 0.5 else whole).name
        return {"queue": queue, "part": chance.choice((*SUBQUEUE_NAMES * 4, TOO_LONG_SUBQUEUE_NAME))}

    @transition(
        "MQDMPR-3.1.1.2-D03",
        "MQDMPR-3.1.1.2-D05",
        needs=("queue_control",),
        weight=1,
        quota_kb=None,
        journaling=False,
        label=None,
    )
    def set_queue(self, queue: str, journaling: bool, quota_kb: int | None, label: str | None) -> None:
        changed = self.find(self.queues, queue)
        if changed.parent is not None:
            raise ImpossibleStep
        changed.journaling = journaling
        if quota_kb is not None:
            changed.quota_kb = quota_kb
        changed.label = changed.label if label is None else label
        self.answer_with_success()

    def draw_set_queue(self, chance: Random) -> dict[str, Any]:
        queue = draw_one_value_or_refuse_step(chance, (name for name, one in self.queues.items() if one.parent is None))
        quota_kb, label = chance.choice(QUEUE_QUOTAS_TO_DRAW_FROM_KB), chance.choice(QUEUE_LABELS_TO_DRAW_FROM)
        return {"queue": queue, "journaling": chance.random() < 0.5, "quota_kb": quota_kb, "label": label}

    @transition("MQDMPR-3.1.7.1.7-07", needs=("receive",), weight=2)
    def purge(self, queue: str) -> None:
        emptied = self.admin if queue == ADMIN_QUEUE_NAME else self.find(self.queues, queue)
        purged = 0
        for position in list(emptied.positions):
            if position.state == AVAILABLE_MESSAGE_STATE:
                self.delete_position(position, "NACK_Q_PURGED")
                purged += 1
            else:
                self.cite_rules("MQDMPR-3.1.7.1.7-05")
                position.state = PURGE_PENDING_MESSAGE_STATE
        self.answers["answer"] = {"purged": purged}

    def draw_purge(self, chance: Random) -> dict[str, Any]:
        full = [name for name, one in self.queues.items() if len(one.positions) > 1]
        if len(self.admin.positions) > 4:
            full.append(ADMIN_QUEUE_NAME)
        return {"queue": draw_one_value_or_refuse_step(chance, full)}

    @transition("MQDMPR-3.1.7.1.4-05", "MQDMPR-3.1.7.1.4-17", "MQDMPR-3.1.7.1.4-11", needs=("queue_control",), weight=1)
    def delete(self, queue: str) -> None:
        deleted = self.find(self.queues, queue)
        self.check_no_pending_move_to(deleted.list_queue_and_parts())
        for one in deleted.list_queue_and_parts():
            for position in list(one.positions):
                self.delete_position(position, "NACK_Q_DELETED")
            one.exists = False
            for handle in one.handles:
                self.cite_rules("MQDMPR-3.1.7.1.4-10")
                handle.queue = None
                for reader in list(handle.readers):
                    self.end_read_without_message(
                        reader, "MQ_ERROR_QUEUE_NOT_AVAILABLE", "MQ_ERROR_OPERATION_CANCELLED"
                    )
            one.handles.clear()
            self.queues.pop(one.name, None)
        if deleted.parent is not None:
            deleted.parent.subqueues.remove(deleted)
        self.answer_with_success()

    def check_no_pending_move_to(self, queues: list[Queue]) -> None:
        """Raise ImpossibleStep if an open transaction moves a message to the queue that is to be deleted, because the
        documents leave open what happens in this case.
        """
        moves = (one for transaction in self.transactions.values() for one in transaction.operations if one.target)
        if any(one.target in queues for one in moves):
            raise ImpossibleStep

    def draw_delete(self, chance: Random) -> dict[str, Any]:
        used = [one.name for one in self.queues.values() if one.handles or one.positions]
        changed = [one.position.queue for each in self.transactions.values() for one in each.operations]
        pending = [one.name for one in changed if one.exists and one.name in self.queues]
        if chance.random() < 0.4:
            raise ImpossibleStep
        return {"queue": draw_one_value_or_refuse_step(chance, pending or used or self.queues)}
