"""Take the steps of the area `queues` on a system with the verbs of the control protocol."""

from __future__ import annotations

import base64
import re
from collections.abc import Set
from typing import Any
from uuid import UUID

from harness.explore.data_model import STEPS_AFTER_WHICH_DATA_MODEL_IS_READ, describe_data_model, list_modify_times
from harness.explore.worlds import StepObservation
from harness.model.agreement import ExpectedRefusal, ExpectedValueThatSystemCannotShow
from harness.model.queues.base import ADMIN_QUEUE_NAME
from harness.model.queues.data_model import DATA_MODEL_KEY
from harness.model.steps import Step
from harness.sut.control import ControlRefused
from harness.sut.sut import Sut

_STATUS_NAME_PATTERN = re.compile(r"MQ_ERROR_\w+")
_MAX_LISTED_MESSAGES = 1_000
LOOKUP_ID_NOT_SHOWN_BY_SYSTEM = 0
"""The lookup identifier to use for a message whose identifier the system has not shown."""
_CLASS_PREFIX = "MQMSG_CLASS_"


class DrivenQueues:
    """A system with applications that use its queues. The class translates the names in the model into names and
    identifiers of the system, and vice versa.
    """

    def __init__(self, sut: Sut) -> None:
        self._sut = sut
        self._admin = sut.queue("admin")
        self._began_ms = sut.environment.now().monotonic_ms
        self._queues: set[str] = set()
        self._messages: dict[str, str] = {}
        """The names of the messages, by their message ids and by the identifiers that acknowledgments contain."""
        self._handles: dict[str, int] = {}
        self._cursors: dict[str, int] = {}
        self._transactions: dict[str, str] = {}
        self._reads: dict[str, int] = {}
        """The ids of the requests for reads that the system has not answered yet."""
        self._listed_state: dict[str, Any] = {}
        """The queues and messages that the system listed after the last step."""
        self._came: dict[str, Any] = {}
        """The answers to reads that have arrived since the last step."""
        self._modify_times: dict[str, Any] = {}
        """ModifyTime and CreateTime of each queue, as the system showed them after the last request that changed them.
        """
        self._compares_data_model = False
        """Whether to compare the abstract data model after this step."""
        self._lookup_ids: dict[str, int] = {}
        """The lookup identifiers of the messages."""

    def elapsed_ms(self) -> int | None:
        """Return the real time since the start (int ms), or None in virtual time, where only steps take time."""
        environment = self._sut.environment
        return None if environment.is_time_virtual else environment.now().monotonic_ms - self._began_ms

    def idle(self, ms: int) -> None:
        """Let real time pass."""
        self._sut.environment.run_until(lambda: False, ms)

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        """Take a step by calling the verb that corresponds to the step."""
        answers: dict[str, Any] = {}
        try:
            answer = getattr(self, f"_perform_{step.name}")(**step.arguments)
        except ControlRefused as refusal:
            answer = _read_refusal(refusal)
        if answer is not None:
            answers["answer"] = answer
        self._await_answers(awaited - {"answer"})
        answers |= self._came
        self._came = {}
        self._compares_data_model = step.name in STEPS_AFTER_WHICH_DATA_MODEL_IS_READ and self._sut.has("inspect")
        return StepObservation(answers, self._read_visible_state())

    # -- steps ----------------------------------------------------------------------------------------------------

    def _perform_create(self, queue: str, **properties: Any) -> str:
        given = {name: value for name, value in properties.items() if value is not None}
        self._sut.create_queue(self._get_queue_path(queue), **given)
        self._queues.add(queue)
        return "done"

    def _perform_create_subqueue(self, queue: str, part: str) -> str:
        self._sut.create_queue(self._get_queue_path(f"{queue};{part}"))
        self._queues.add(f"{queue};{part}")
        return "done"

    def _perform_set_queue(self, queue: str, **properties: Any) -> str:
        self._modify_times.pop(queue, None)
        given = {name: value for name, value in properties.items() if value is not None}
        return self._call_verb("set_queue", name=self._get_queue_path(queue), **given)

    def _perform_delete(self, queue: str) -> str:
        self._modify_times.pop(queue, None)
        self._sut.delete_queue(self._get_queue_path(queue))
        self._queues = {one for one in self._queues if one.partition(";")[0] != queue}
        return "done"

    def _perform_purge(self, queue: str) -> dict[str, int]:
        return {"purged": self._sut.control.call("purge", queue=self._get_queue_path(queue))["purged"]}

    def _perform_send(
        self,
        message: str,
        queue: str,
        size: int,
        life_s: int,
        transaction: str | None,
        acks: list[str],
        **properties: Any,
    ) -> str:
        fields = {**properties, "label": message, "body": "b" * size, "acks": acks, "time_to_be_received_s": life_s}
        if acks:
            fields["admin_queue"] = self._format_direct_name(self._admin)
        if transaction is not None:
            fields["transaction"] = self._transactions[transaction]
        self.store_message_name(
            self._sut.send(self._format_direct_name(self._get_queue_path(queue)), **fields), message
        )
        return "done"

    def _perform_move(self, message: str, queue: str, to: str, transaction: str | None) -> str:
        asked = {
            "queue": self._get_queue_path(queue),
            "lookup_id": self._lookup_ids.get(message, LOOKUP_ID_NOT_SHOWN_BY_SYSTEM),
            "to": self._get_queue_path(to),
        }
        self._lookup_ids[message] = self._sut.control.call(
            "move", **asked, **self._build_transaction_argument(transaction)
        )["lookup_id"]
        return "done"

    def _perform_begin(self, transaction: str, external: bool) -> str:
        begun = self._sut.control.call("begin", **({"external": True} if external else {}))
        self._transactions[transaction] = begun["transaction"].lower()
        return "done"

    def _perform_prepare(self, transaction: str, single_phase: bool) -> dict[str, str]:
        return self._end_transaction("prepare", transaction, **({"single_phase": True} if single_phase else {}))

    def _perform_commit(self, transaction: str) -> dict[str, str]:
        return self._end_transaction("commit", transaction)

    def _perform_abort(self, transaction: str) -> dict[str, str]:
        return self._end_transaction("abort", transaction)

    def _perform_reject(self, transaction: str, message: str, queue: str) -> str:
        within = self._build_transaction_argument(transaction)
        return self._call_verb(
            "reject",
            queue=self._get_queue_path(queue),
            lookup_id=self._lookup_ids.get(message, LOOKUP_ID_NOT_SHOWN_BY_SYSTEM),
            **within,
        )

    def _perform_open(self, handle: str, queue: str, access: str, deny_receive: bool) -> str:
        opened = self._sut.control.call(
            "open_queue", queue=self._get_queue_path(queue), access=access, deny_receive=deny_receive
        )
        self._handles[handle] = opened["handle"]
        return "done"

    def _perform_close(self, handle: str) -> str:
        return self._call_verb("close_queue", handle=self._handles[handle])

    def _perform_open_cursor(self, cursor: str, handle: str) -> str:
        self._cursors[cursor] = self._sut.control.call("open_cursor", handle=self._handles[handle])["cursor"]
        return "done"

    def _perform_close_cursor(self, cursor: str) -> str:
        return self._call_verb("close_cursor", cursor=self._cursors[cursor])

    def _perform_receive(self, read: str, queue: str, wait_ms: int, transaction: str | None) -> None:
        self._begin_read(
            read, "receive", wait_ms, queue=self._get_queue_path(queue), **self._build_transaction_argument(transaction)
        )

    def _perform_peek(self, read: str, queue: str, wait_ms: int) -> None:
        self._begin_read(read, "peek_message", wait_ms, queue=self._get_queue_path(queue))

    def _perform_receive_through(self, read: str, handle: str, wait_ms: int, transaction: str | None) -> None:
        self._begin_read(
            read, "receive", wait_ms, handle=self._handles[handle], **self._build_transaction_argument(transaction)
        )

    def _perform_peek_through(self, read: str, handle: str, wait_ms: int) -> None:
        self._begin_read(read, "peek_message", wait_ms, handle=self._handles[handle])

    def _perform_receive_at(self, read: str, cursor: str, wait_ms: int, transaction: str | None) -> None:
        self._begin_read(
            read, "receive", wait_ms, cursor=self._cursors[cursor], **self._build_transaction_argument(transaction)
        )

    def _perform_peek_at(self, read: str, cursor: str, wait_ms: int) -> None:
        self._begin_read(read, "peek_message", wait_ms, cursor=self._cursors[cursor])

    def _perform_peek_next(self, read: str, cursor: str, wait_ms: int) -> None:
        self._begin_read(read, "peek_next", wait_ms, cursor=self._cursors[cursor])

    def _perform_look_up(
        self, read: str, queue: str, message: str, seek: str, receives: bool, transaction: str | None
    ) -> None:
        verb = "receive_by_lookup_id" if receives else "peek_by_lookup_id"
        asked = {
            "queue": self._get_queue_path(queue),
            "lookup_id": self._lookup_ids.get(message, LOOKUP_ID_NOT_SHOWN_BY_SYSTEM),
            "seek": seek,
        }
        self._reads[read] = self._sut.control.begin(verb, **asked, **self._build_transaction_argument(transaction))

    def _perform_cancel(self, read: str) -> str:
        return self._call_verb("cancel", request=self._reads[read])

    def _perform_pause(self, ms: int) -> None:
        self._sut.environment.run_until(lambda: False, ms)

    def _perform_elapse(self, ms: int) -> None:
        """Send nothing to the system. The step exists because the model must count time that has passed."""

    def _perform_restart(self) -> str:
        self._sut.restart()
        self._reads.clear()
        return "done"

    def store_message_name(self, message_id: str, name: str) -> None:
        """Store the name that the model gives to a message."""
        self._messages[message_id.lower()] = self._messages[_format_correlation_id(message_id)] = name

    # -- how steps are taken --------------------------------------------------------------------------------------

    def _call_verb(self, verb: str, **arguments: Any) -> str:
        self._sut.control.call(verb, **arguments)
        return "done"

    def _begin_read(self, name: str, verb: str, wait_ms: int, **asked: Any) -> None:
        self._reads[name] = self._sut.control.begin(verb, timeout_ms=wait_ms, **asked)

    def _build_transaction_argument(self, transaction: str | None) -> dict[str, str]:
        return {} if transaction is None else {"transaction": self._transactions[transaction]}

    def _end_transaction(self, verb: str, transaction: str, **arguments: Any) -> dict[str, str]:
        answer = self._sut.control.call(verb, transaction=self._transactions[transaction], **arguments)
        return {"outcome": answer["outcome"]}

    def _get_queue_path(self, queue: str) -> str:
        if queue == ADMIN_QUEUE_NAME:
            return self._admin
        name, separator, part = queue.partition(";")
        return f"private$\\mqc-{self._sut.own}-{name}{separator}{part}"

    def _format_direct_name(self, path: str) -> str:
        return self._sut.direct_name(path)

    def _await_answers(self, awaited: Set[str]) -> None:
        """Wait until the expected answers have arrived."""
        environment = self._sut.environment
        within_ms = 0 if environment.is_time_virtual else self._sut.response_timeout_ms

        def have_answers_arrived() -> bool:
            self._take_answers()
            return not environment.is_time_virtual and awaited <= self._came.keys()

        environment.run_until(have_answers_arrived, within_ms)

    def _take_answers(self) -> None:
        for name, request in list(self._reads.items()):
            answer = self._sut.control.answer(request)
            if answer is not None:
                del self._reads[name]
                self._came[name] = self._read_answer(answer)

    def _read_answer(self, answer: dict[str, Any]) -> Any:
        if answer.get("ok") is not True:
            return ExpectedRefusal(_find_statuses(str(answer.get("error", ""))))
        message = answer["message"]
        return {"message": None if message is None else self._describe_message_answer(message)}

    # -- visible state --------------------------------------------------------------------------------------------

    def _read_visible_state(self) -> dict[str, Any]:
        control = self._sut.control
        self._listed_state = listed = control.call("list")
        own = {self._get_queue_path(name).lower(): name for name in self._queues}
        whole = sorted(own[one["name"].lower()] for one in listed["queues"] if one["name"].lower() in own)
        names = {identifier: name for name, identifier in self._transactions.items()}
        seen: dict[str, Any] = {
            "queues": whole,
            "transactions": {
                names[one["transaction"].lower()]: {"state": one["state"], "operations": one["operations"]}
                for one in listed["transactions"]
                if one["transaction"].lower() in names
            },
            ADMIN_QUEUE_NAME: self._describe_messages(ADMIN_QUEUE_NAME),
        }
        seen[DATA_MODEL_KEY] = (
            self._describe_data_model(names) if self._compares_data_model else ExpectedValueThatSystemCannotShow()
        )
        for name in self._queues:
            seen[name] = self._describe_messages(name)
            if ";" in name:
                shown = self._call_or_get_refusal("get_queue", name=self._get_queue_path(name))
                size = (
                    ExpectedValueThatSystemCannotShow()
                    if isinstance(shown, ExpectedRefusal)
                    else shown.get("bytes", ExpectedValueThatSystemCannotShow())
                )
                seen[f"{name} size"] = {"bytes": size}
            else:
                seen[f"{name};journal"] = self._describe_messages(f"{name};journal")
                shown = self._call_or_get_refusal("get_queue", name=self._get_queue_path(name))
                unknown = dict.fromkeys(_QUEUE_PROPERTIES, ExpectedValueThatSystemCannotShow())
                seen[f"{name} properties"] = shown if isinstance(shown, ExpectedRefusal) else unknown | shown
        return seen

    def _describe_data_model(self, transactions: dict[str, str]) -> dict[str, Any]:
        paths = {self._get_queue_path(name).lower(): name for name in self._queues}
        adm = self._sut.inspect()
        described = describe_data_model(adm, paths, transactions)
        for name, times in list_modify_times(adm, paths).items():
            described[name]["changed without a request"] = self._modify_times.setdefault(name, times) != times
        return described

    def _describe_messages(self, queue: str) -> list[dict[str, Any]] | ExpectedRefusal:
        peeked = self._call_or_get_refusal("peek", queue=self._get_queue_path(queue), limit=_MAX_LISTED_MESSAGES)
        return (
            peeked
            if isinstance(peeked, ExpectedRefusal)
            else [self._describe_message_answer(one) for one in peeked["messages"]]
        )

    def _call_or_get_refusal(self, verb: str, **arguments: Any) -> dict[str, Any] | ExpectedRefusal:
        try:
            return self._sut.control.call(verb, **arguments)
        except ControlRefused as refusal:
            return _read_refusal(refusal)

    def _find_queue_name(self, format_name: str | None) -> str | None:
        """Return the name of a queue in the model, given the queue's direct format name in the system."""
        path = (format_name or "").rpartition("\\private$\\mqc-")[2]
        return path.removeprefix(f"{self._sut.own}-") or None

    def _describe_message_answer(self, message: dict[str, Any]) -> dict[str, Any]:
        cls = message["class"].removeprefix(_CLASS_PREFIX)
        identifier = message["correlation_id"] if cls != "NORMAL" else message["message_id"]
        name = self._messages.get(identifier.lower(), message["label"])
        if cls == "NORMAL":
            self._lookup_ids[name] = message["lookup_id"]
        return {
            **{name: value for name, value in message.items() if name in _COMPARED_PROPERTIES},
            "message": name,
            "class": cls,
            "size": len(base64.b64decode(message["body_base64"])),
            "acks": sorted(message.get("acks", [])),
            "answers_to": self._find_queue_name(message.get("response_queue")),
            "journal": sorted(message.get("journal", [])),
        }


_COMPARED_PROPERTIES = frozenset(
    {
        "body_type",
        "extension_base64",
        "correlation_id",
        "priority",
        "delivery",
        "application_tag",
        "time_to_be_received_s",
        "time_to_reach_queue_s",
    }
)


_QUEUE_PROPERTIES = ("label", "type", "base_priority", "quota_kb", "journal_quota_kb", "count", "bytes")
"""The properties of a queue that a system need not show. They are compared only if the system shows them."""


def _read_refusal(refusal: ControlRefused) -> ExpectedRefusal:
    return ExpectedRefusal(_find_statuses(str(refusal)))


def _find_statuses(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_STATUS_NAME_PATTERN.findall(text)))


def _format_correlation_id(message_id: str) -> str:
    """Return a message id in the form that the correlation id of an acknowledgment has: the GUID as in a packet,
    followed by a u32 LE.
    """
    guid, _, ordinal = message_id.rpartition("\\")
    return (UUID(guid).bytes_le + int(ordinal).to_bytes(4, "little")).hex()
