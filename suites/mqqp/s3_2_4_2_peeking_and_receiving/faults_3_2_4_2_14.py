"""Faults that break the rule MQQP-3.2.4.2-14."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.faults.parts import fault, override_method, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import INFINITE_MS
from suites.mqqp.s3_2_4_2_peeking_and_receiving.fault_steps import PreviousAnswerRecorder, ReadDescriptionChanger


def _increment_read_field(name: str) -> Install:
    """Build a fault in which the client adds one to a field of REMOTEREADDESC."""

    class ReadFieldIncrementer(ClientMessageReading):
        def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
            described = super().build_start_receive_description(read)
            return described | {name: described[name] + 1}

    return replace_part(ReadFieldIncrementer)


for _name, _breaks, _field in (
    (
        "client-read-h-remote-queue-one-too-high",
        (
            "MQQP-3.2.4.2-14",
            "MQQP-3.2.4.2-24",
            "MQQP-3.2.4.3-14",
            "MQQP-3.2.4.3-24",
            "MQQP-3.2.4.5-14",
            "MQQP-3.2.4.5-24",
            "MQQP-3.2.4.6-13",
            "MQQP-3.2.4.6-23",
            "MQQP-3.1.4.10-06",
        ),
        "hRemoteQueue",
    ),
    (
        "client-read-dw-queue-one-too-high",
        (
            "MQQP-3.2.4.2-15",
            "MQQP-3.2.4.2-25",
            "MQQP-3.2.4.3-15",
            "MQQP-3.2.4.3-25",
            "MQQP-3.2.4.5-15",
            "MQQP-3.2.4.5-25",
            "MQQP-3.2.4.6-14",
            "MQQP-3.2.4.6-24",
        ),
        "dwQueue",
    ),
    (
        "client-read-h-cursor-one-too-high",
        (
            "MQQP-3.2.4.2-18",
            "MQQP-3.2.4.2-28",
            "MQQP-3.2.4.3-16",
            "MQQP-3.2.4.3-26",
            "MQQP-3.2.4.5-16",
            "MQQP-3.2.4.5-26",
            "MQQP-3.2.4.6-15",
            "MQQP-3.2.4.6-25",
        ),
        "hCursor",
    ),
    (
        "client-read-ul-timeout-one-too-high",
        (
            "MQQP-3.2.4.2-20",
            "MQQP-3.2.4.2-30",
            "MQQP-3.2.4.3-20",
            "MQQP-3.2.4.3-30",
            "MQQP-3.2.4.5-20",
            "MQQP-3.2.4.5-30",
            "MQQP-3.2.4.6-19",
            "MQQP-3.2.4.6-29",
        ),
        "ulTimeout",
    ),
    (
        "client-read-dw-request-id-one-too-high",
        (
            "MQQP-3.2.4.2-21",
            "MQQP-3.2.4.2-31",
            "MQQP-3.2.4.3-21",
            "MQQP-3.2.4.3-31",
            "MQQP-3.2.4.5-21",
            "MQQP-3.2.4.5-31",
            "MQQP-3.2.4.6-20",
            "MQQP-3.2.4.6-30",
        ),
        "dwRequestID",
    ),
):
    add(
        _name,
        _breaks,
        f"The client sends a read with a {_field} that is greater by 1 than the right value.",
        _increment_read_field(_field),
    )


@dataclass(frozen=True)
class _ReadKind:
    """A kind of read, with the rules about each field for RemoteQMStartReceive and for RemoteQMStartReceive2."""

    name: str
    receives: bool
    by_cursor: bool
    rules: dict[str, tuple[str, str]]

    def includes_read(self, read: RemoteRead) -> bool:
        """Return whether a read is of the kind that this object represents."""
        return read.LookupId is None and (read.receives, bool(read.CursorHandle)) == (self.receives, self.by_cursor)


READ_KINDS = (
    _ReadKind(
        "peek",
        receives=False,
        by_cursor=False,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.2-14", "MQQP-3.2.4.2-24"),
            "dwQueue": ("MQQP-3.2.4.2-15", "MQQP-3.2.4.2-25"),
            "dwSize": ("MQQP-3.2.4.2-16", "MQQP-3.2.4.2-26"),
            "lpBuffer": ("MQQP-3.2.4.2-17", "MQQP-3.2.4.2-27"),
            "hCursor": ("MQQP-3.2.4.2-18", "MQQP-3.2.4.2-28"),
            "ulTimeout": ("MQQP-3.2.4.2-20", "MQQP-3.2.4.2-30"),
            "dwRequestID": ("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31"),
        },
    ),
    _ReadKind(
        "receive",
        receives=True,
        by_cursor=False,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.3-14", "MQQP-3.2.4.3-24"),
            "dwQueue": ("MQQP-3.2.4.3-15", "MQQP-3.2.4.3-25"),
            "hCursor": ("MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26"),
            "dwSize": ("MQQP-3.2.4.3-17", "MQQP-3.2.4.3-27"),
            "lpBuffer": ("MQQP-3.2.4.3-18", "MQQP-3.2.4.3-28"),
            "ulTimeout": ("MQQP-3.2.4.3-20", "MQQP-3.2.4.3-30"),
            "dwRequestID": ("MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"),
        },
    ),
    _ReadKind(
        "peek-by-cursor",
        receives=False,
        by_cursor=True,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.5-14", "MQQP-3.2.4.5-24"),
            "dwQueue": ("MQQP-3.2.4.5-15", "MQQP-3.2.4.5-25"),
            "hCursor": ("MQQP-3.2.4.5-16", "MQQP-3.2.4.5-26"),
            "dwSize": ("MQQP-3.2.4.5-17", "MQQP-3.2.4.5-27"),
            "lpBuffer": ("MQQP-3.2.4.5-18", "MQQP-3.2.4.5-28"),
            "ulTimeout": ("MQQP-3.2.4.5-20", "MQQP-3.2.4.5-30"),
            "dwRequestID": ("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31"),
        },
    ),
    _ReadKind(
        "receive-by-cursor",
        receives=True,
        by_cursor=True,
        rules={
            "hRemoteQueue": ("MQQP-3.2.4.6-13", "MQQP-3.2.4.6-23"),
            "dwQueue": ("MQQP-3.2.4.6-14", "MQQP-3.2.4.6-24"),
            "hCursor": ("MQQP-3.2.4.6-15", "MQQP-3.2.4.6-25"),
            "dwSize": ("MQQP-3.2.4.6-16", "MQQP-3.2.4.6-26"),
            "lpBuffer": ("MQQP-3.2.4.6-17", "MQQP-3.2.4.6-27"),
            "ulTimeout": ("MQQP-3.2.4.6-19", "MQQP-3.2.4.6-29"),
            "dwRequestID": ("MQQP-3.2.4.6-20", "MQQP-3.2.4.6-30"),
        },
    ),
)


ReadFieldChange = Callable[[Any, RemoteRead], Any]


def _add_fault_of_read_field(kind: _ReadKind, field: str, wrong: str, says: str, change: ReadFieldChange) -> None:
    def make_changed_description(original: Callable[..., Any]) -> Callable[..., Any]:
        def describe_changed_read(qm: Any, read: RemoteRead) -> Any:
            given = original(qm, read)
            return {**given, field: change(qm, read)} if kind.includes_read(read) else given

        return describe_changed_read

    add(
        f"client-{kind.name}-{field.lower()}-{wrong}",
        kind.rules[field],
        f"The client sets {field} of a {kind.name.replace('-', ' ')} to {says}.",
        replace_part(override_method(ClientMessageReading.build_start_receive_description, make_changed_description)),
    )


def _cut_handle_to_16_bits(qm: Any, read: RemoteRead) -> int:
    return read.queue.QueueHandle & 0xFFFF


def _cut_descriptor_to_31_bits(qm: Any, read: RemoteRead) -> int:
    return read.queue.QueueDescriptor & 0x7FFFFFFF


for _kind in READ_KINDS:
    _add_fault_of_read_field(
        _kind,
        "hRemoteQueue",
        "of-last-opened-queue",
        "the handle of the queue that was opened last",
        lambda qm, read: list(qm.remote_client.queues.values())[-1].QueueHandle,
    )
    _add_fault_of_read_field(
        _kind,
        "hRemoteQueue",
        "in-16-bits",
        "the low 16 bits of the handle",
        _cut_handle_to_16_bits,
    )
    _add_fault_of_read_field(
        _kind,
        "dwQueue",
        "of-first-opened-queue",
        "the value of the queue that was opened first",
        lambda qm, read: next(iter(qm.remote_client.queues.values())).QueueDescriptor,
    )
    _add_fault_of_read_field(
        _kind,
        "dwQueue",
        "in-31-bits",
        "the low 31 bits of dwpQueue",
        _cut_descriptor_to_31_bits,
    )
    _add_fault_of_read_field(
        _kind,
        "ulTimeout",
        "rounded-to-seconds",
        "the timeout rounded up to seconds",
        lambda qm, read: read.TimeOut if read.TimeOut == INFINITE_MS else -(-read.TimeOut // 1000) * 1000,
    )
    _add_fault_of_read_field(
        _kind, "ulTimeout", "in-16-bits", "at most 0xFFFF", lambda qm, read: min(read.TimeOut, 0xFFFF)
    )
    _add_fault_of_read_field(
        _kind,
        "ulTimeout",
        "of-endless-read-in-31-bits",
        "0x7FFFFFFF when the application sets no time limit",
        lambda qm, read: min(read.TimeOut, 0x7FFFFFFF),
    )
    _add_fault_of_read_field(
        _kind, "ulTimeout", "0-as-1", "1 when the timeout is 0", lambda qm, read: max(read.TimeOut, 1)
    )
    _add_fault_of_read_field(
        _kind,
        "dwRequestID",
        "of-first-pending-read",
        "the RequestId of the first pending read of the same queue",
        lambda qm, read: next(
            one.RequestId for one in qm.remote_client.PendingRemoteReadEntryCollection if one.queue is read.queue
        ),
    )
    if _kind.by_cursor:
        _add_fault_of_read_field(
            _kind,
            "hCursor",
            "of-last-opened-cursor",
            "the cursor that was opened last",
            lambda qm, read: list(qm.remote_client.queue_and_handle_by_cursor.values())[-1][1],
        )
        _add_fault_of_read_field(
            _kind, "hCursor", "in-16-bits", "the low 16 bits of the cursor", lambda qm, read: read.CursorHandle & 0xFFFF
        )
    else:
        _add_fault_of_read_field(
            _kind,
            "hCursor",
            "of-open-cursor",
            "a cursor that is open on the same queue",
            lambda qm, read: next(
                (
                    handle
                    for queue, handle in qm.remote_client.queue_and_handle_by_cursor.values()
                    if queue is read.queue
                ),
                0,
            ),
        )


def _list_rules_of_field(field: str) -> tuple[str, ...]:
    return tuple(rule for kind in READ_KINDS for rule in kind.rules[field])


@fault("client-read-lpbuffer-not-null-in-second-read", breaks=_list_rules_of_field("lpBuffer"))
class ClientReadLpbufferNotNullInSecondRead(PreviousAnswerRecorder):
    """When the client has read a message, it sets lpBuffer of later reads to an empty buffer instead of NULL."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        return {**super().build_start_receive_description(read), **({"lpBuffer": b""} if self.last_packet_size else {})}


REMOTE_QUEUE_HANDLE_RULES = (
    *("MQQP-3.2.4.2-14", "MQQP-3.2.4.2-24", "MQQP-3.2.4.3-14", "MQQP-3.2.4.3-24"),
    *("MQQP-3.2.4.5-14", "MQQP-3.2.4.5-24", "MQQP-3.2.4.6-13", "MQQP-3.2.4.6-23"),
)


@fault("client-h-remote-queue-of-later-read-is-that-of-first-queue", breaks=REMOTE_QUEUE_HANDLE_RULES)
class ClientHRemoteQueueOfLaterReadIsThatOfFirstQueue(ReadDescriptionChanger):
    """The client sets hRemoteQueue to the phQueue of the queue that it opened first."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hRemoteQueue": next(iter(self.qm.remote_client.queues.values())).QueueHandle}


@fault("client-h-remote-queue-is-pdw-context-in-every-second-read", breaks=REMOTE_QUEUE_HANDLE_RULES)
class ClientHRemoteQueueIsPdwContextInEverySecondRead(ReadDescriptionChanger):
    """The client sets hRemoteQueue to pdwContext in every second read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {} if self.count % 2 else {"hRemoteQueue": read.queue.OpenContext}


@fault("client-peek-with-handle-of-last-opened-queue", breaks="MQQP-3.2.4.2-14", blind=True)
class ClientPeekWithHandleOfLastOpenedQueue(ClientMessageReading):
    """A client that peeks with RemoteQMStartReceive sets hRemoteQueue to the handle of the queue opened last."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        description = self.build_start_receive_description(read)
        if not read.receives:
            last = self.qm.remote_client.RemoteOpenQueueEntryCollection[-1]
            description["hRemoteQueue"] = last.OpenQueueDescriptorHandle
        return (yield from self._call_start_method(read, "RemoteQMStartReceive", {"lpRemoteReadDesc": description}))
