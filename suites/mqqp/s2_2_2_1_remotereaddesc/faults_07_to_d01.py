"""Faults that break the rules MQQP-2.2.2.1-07 to MQQP-2.2.2.1-D01."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import READ_STARTER_BY_ACTION, ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now
from suites.mqqp.s2_2_2_1_remotereaddesc.fault_steps import (
    ReadAnswerChanger,
    ReadDescriptionChangerOfAnswersWithMessage,
    ReadRefuser,
    ReadTimeoutChanger,
    make_call_with_changed_description,
    refuse_answer_with_other_field_value,
    refuse_nonzero_field,
)


@fault("server-answer-dw-arrive-time-zero", breaks="MQQP-2.2.2.1-07")
class ServerAnswerDwArriveTimeZero(RemoteReads):
    """The server returns dwArriveTime 0."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"dwArriveTime": 0}


@fault("server-answer-dw-arrive-time-is-sent-time", breaks="MQQP-2.2.2.1-07", blind=True)
class ServerAnswerDwArriveTimeIsSentTime(RemoteReads):
    """The server returns SentTime of the message in dwArriveTime."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        return super().describe_remote_message(position) | {"dwArriveTime": position.MessageReference.SentTime}


def _return_request_time_as_arrival_time(
    original: Callable[..., dict[str, Any]],
    qm: QueueManager,
    call: Call,
    status: Status,
    entry: RemoteReadEntry | None = None,
) -> Callable[..., dict[str, Any]]:
    def describe_at_request_time(qm: QueueManager, position: MessagePosition) -> dict[str, Any]:
        described = original(qm, position)
        if entry is not None and entry.Action not in READ_STARTER_BY_ACTION:
            del described["dwArriveTime"]
        return described

    return describe_at_request_time


add(
    "server-arrive-time-of-read-by-lookup-id-not-set",
    "MQQP-2.2.2.1-07",
    "In the answer to RemoteQMStartReceiveByLookupId, the server returns the dwArriveTime that the client sent.",
    replace_method_during(
        RemoteReads.answer_read, RemoteReads.describe_remote_message, _return_request_time_as_arrival_time
    ),
    blind=True,
)


@fault("server-sets-dw-arrive-time-to-time-of-receive", breaks="MQQP-2.2.2.1-07")
class ServerSetsDwArriveTimeToTimeOfReceive(RemoteReads):
    """The server sets dwArriveTime of a receive to the time of the receive."""

    time_of_read_s = 0

    def remote_receive(self, entry: RemoteReadEntry, descriptor: Any, cursor: Any, now: Now) -> None:
        self.time_of_read_s = now.utc_s
        super().remote_receive(entry, descriptor, cursor, now)
        self.time_of_read_s = 0

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        given = super().describe_remote_message(position)
        return {**given, "dwArriveTime": self.time_of_read_s or given["dwArriveTime"]}


@fault("server-returns-dw-arrive-time-0-for-read-that-waited", breaks="MQQP-2.2.2.1-07")
class ServerReturnsDwArriveTime0ForReadThatWaited(ReadAnswerChanger):
    """The server sets dwArriveTime to 0 for a read that waited for its message."""

    def change(
        self, desc: ReadDescription, call: Call, entry: RemoteReadEntry | None, status: Status
    ) -> dict[str, Any]:
        return {"dwArriveTime": 0} if entry is not None and entry.Timeout else {}


@fault("server-sets-dw-arrive-time-to-sent-time", breaks="MQQP-2.2.2.1-07")
class ServerSetsDwArriveTimeToSentTime(RemoteReads):
    """The server sets dwArriveTime to the SentTime of the message."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        given = super().describe_remote_message(position)
        return {**given, "dwArriveTime": position.MessageReference.SentTime}


@fault("server-dw-arrive-time-of-later-read-is-that-of-first-message", breaks="MQQP-2.2.2.1-07")
class ServerDwArriveTimeOfLaterReadIsThatOfFirstMessage(ReadDescriptionChangerOfAnswersWithMessage):
    """For each later message of a queue, the server returns the dwArriveTime of the first message that it returned."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[str, int] = {}

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        return {"dwArriveTime": self.first.setdefault(position.QueueReference.Pathname, found["dwArriveTime"])}


@fault("server-dw-arrive-time-is-that-of-last-message-in-queue", breaks="MQQP-2.2.2.1-07")
class ServerDwArriveTimeIsThatOfLastMessageInQueue(ReadDescriptionChangerOfAnswersWithMessage):
    """The server returns the dwArriveTime of the last message of the queue."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        times = [one.MessageReference.ArrivalTime for one in position.QueueReference.MessagePositionList]
        return {"dwArriveTime": max([found["dwArriveTime"], *times])}


@fault("server-dw-arrive-time-of-transactional-message-is-sent-time", breaks="MQQP-2.2.2.1-07")
class ServerDwArriveTimeOfTransactionalMessageIsSentTime(ReadDescriptionChangerOfAnswersWithMessage):
    """The server returns SentTime as dwArriveTime of a message of a transactional queue."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        sent = position.MessageReference.SentTime
        return {"dwArriveTime": sent} if position.QueueReference.Transactional else {}


@fault("server-dw-arrive-time-of-express-message-is-sent-time", breaks="MQQP-2.2.2.1-07")
class ServerDwArriveTimeOfExpressMessageIsSentTime(ReadDescriptionChangerOfAnswersWithMessage):
    """The server returns SentTime as dwArriveTime of an express message."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        message = position.MessageReference
        return {"dwArriveTime": message.SentTime} if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS else {}


@fault("server-sets-dw-arrive-time-of-nacked-message-to-time-of-nack", breaks="MQQP-2.2.2.1-07", blind=True)
class ServerSetsDwArriveTimeOfNackedMessageToTimeOfNack(RemoteReads):
    """When the receive of a message ended with RR_NACK, the server returns a dwArriveTime that is one second too late
    in the next receive.
    """

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        seen = self.__dict__.setdefault("seen", set())
        if id(position) in seen:
            return {**found, "dwArriveTime": found["dwArriveTime"] + 1}
        return found

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(call, status, entry)
        if entry is not None and entry.UserMessagePacket is not None and entry.Action in RECEIVE_ACTIONS:
            self.__dict__.setdefault("seen", set()).add(id(entry.UserMessagePacket))


@fault("server-returns-dw-arrive-time-0-for-peek", breaks="MQQP-2.2.2.1-07", blind=True)
class ServerReturnsDwArriveTime0ForPeek(RemoteReads):
    """The server sets dwArriveTime to 0 for a peek."""

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if entry is not None and not status and entry.Action not in RECEIVE_ACTIONS:
            call = make_call_with_changed_description(call, dwArriveTime=0)
        super().answer_read(call, status, entry)


@fault("server-answer-dw-arrive-time-in-minutes", breaks="MQQP-2.2.2.1-08")
class ServerAnswerDwArriveTimeInMinutes(RemoteReads):
    """The server returns dwArriveTime in minutes, not in seconds."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        described = super().describe_remote_message(position)
        return described | {"dwArriveTime": described["dwArriveTime"] // 60}


@fault("server-dw-arrive-time-in-local-time-instead-of-utc", breaks="MQQP-2.2.2.1-08", blind=True)
class ServerDwArriveTimeInLocalTimeInsteadOfUtc(RemoteReads):
    """The server sets dwArriveTime to the local time of a time zone that is one hour ahead of UTC."""

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        return {**found, "dwArriveTime": found["dwArriveTime"] + 3600}


add(
    "server-nonzero-e-ack-nack-refused",
    "MQQP-2.2.2.1-09",
    "The server refuses a read whose eAckNack is not 0.",
    refuse_nonzero_field("eAckNack"),
)


add(
    "client-refuses-read-answer-with-nonzero-e-ack-nack",
    "MQQP-2.2.2.1-09",
    "The client treats a response whose eAckNack is not 0 as malformed.",
    refuse_answer_with_other_field_value("eAckNack", 0),
)


@fault("server-ends-receive-whose-request-has-rr-ack", breaks="MQQP-2.2.2.1-09")
class ServerEndsReceiveWhoseRequestHasRrAck(RemoteReads):
    """The server removes the message of a receive at once when eAckNack of the request is RR_ACK."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        super().complete_remote_read(entry, status, position)
        desc = entry.call.arguments.get("lpRemoteReadDesc")
        desc = desc or entry.call.arguments["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if position is not None and desc["eAckNack"] == 2 and position.State.name == "LOCKED":
            position.QueueReference.MessagePositionList.remove(position)


@fault("client-ends-no-receive-whose-answer-has-rr-ack", breaks="MQQP-2.2.2.1-09")
class ClientEndsNoReceiveWhoseAnswerHasRrAck(ClientMessageReading):
    """The client does not end a receive when eAckNack of the answer is RR_ACK."""

    is_receive_acknowledged = False

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        self.is_receive_acknowledged = desc["eAckNack"] == 2
        return super().reconstruct_message(results, server)

    def call_end_receive(self, entry: Any, ack: Any) -> RemoteCallSequence:
        if not self.is_receive_acknowledged:
            yield from super().call_end_receive(entry, ack)


@fault("server-refuses-read-by-cursor-with-e-ack-nack-1", breaks="MQQP-2.2.2.1-09")
class ServerRefusesReadByCursorWithEAckNack1(ReadRefuser):
    """The server refuses a read by a cursor whose eAckNack is RR_NACK."""

    def is_refused(self, desc: ReadDescription) -> bool:
        return desc["eAckNack"] == 1 and bool(desc["hCursor"])


@fault("server-unlocks-message-of-receive-with-e-ack-nack-1-at-once", breaks="MQQP-2.2.2.1-09")
class ServerUnlocksMessageOfReceiveWithEAckNack1AtOnce(RemoteReads):
    """The server returns the message of a receive to the queue at once when eAckNack of the request is RR_NACK."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        second = entry.call.arguments.get("lpRemoteReadDesc2")
        desc = entry.call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        super().complete_remote_read(entry, status, position)
        if position is not None and desc["eAckNack"] == 1 and entry.Action in RECEIVE_ACTIONS:
            self.qm.message_positions.unlock_message(position)


@fault("server-lookup-with-eacknack-refused", breaks="MQQP-2.2.2.1-09", blind=True)
class ServerLookupWithEacknackRefused(RemoteReadStarting):
    """The server refuses a read by LookupIdentifier whose eAckNack is not 0."""

    def check_lookup_queue(self, desc: ReadDescription) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["eAckNack"] else super().check_lookup_queue(desc)


@fault("client-fails-receive-whose-answer-has-rr-nack", breaks="MQQP-2.2.2.1-09", blind=True)
class ClientFailsReceiveWhoseAnswerHasRrNack(ClientMessageReading):
    """The client treats a receive as failed if eAckNack of the answer is RR_NACK."""

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> Any:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if desc["eAckNack"] == 1:
            desc["lpBuffer"] = None
        return super().reconstruct_message(results, server)


@fault("server-returns-packet-of-first-read-for-every-later-message", breaks=("MQQP-2.2.2.1-10", "MQQP-2.2.2.1-D04"))
class ServerReturnsPacketOfFirstReadForEveryLaterMessage(ReadDescriptionChangerOfAnswersWithMessage):
    """For every later message, the server returns the packet of the first message that it read."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: dict[int, bytes] = {}

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        self.seen.setdefault(id(position), found["lpBuffer"])
        data = next(iter(self.seen.values()))
        again = len(self.seen) > 1
        return {"lpBuffer": data, "dwSize": len(data)} if again else {}


@fault("server-reads-ul-timeout-of-peek-as-seconds", breaks="MQQP-2.2.2.1-D01")
class ServerReadsUlTimeoutOfPeekAsSeconds(ReadTimeoutChanger):
    """The server interprets ulTimeout of a peek as a number of seconds."""

    def compute_timeout_ms(self, entry: RemoteReadEntry, desc: ReadDescription) -> int:
        finite = entry.Timeout != INFINITE_MS and entry.Action not in RECEIVE_ACTIONS
        return entry.Timeout * 1000 if finite else entry.Timeout


@fault("server-gives-second-waiting-read-ul-timeout-of-first-read", breaks="MQQP-2.2.2.1-D01")
class ServerGivesSecondWaitingReadUlTimeoutOfFirstRead(ReadTimeoutChanger):
    """The server gives a read the timeout of the read that already waits on the same handle."""

    def compute_timeout_ms(self, entry: RemoteReadEntry, desc: ReadDescription) -> int:
        first = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(entry.OpenQueueDescriptorHandle)[0]
        return first.Timeout


@fault("server-read-by-cursor-waits-at-least-5-seconds", breaks="MQQP-2.2.2.1-D01")
class ServerReadByCursorWaitsAtLeast5Seconds(ReadTimeoutChanger):
    """The server lets a read by a cursor wait at least five seconds."""

    def compute_timeout_ms(self, entry: RemoteReadEntry, desc: ReadDescription) -> int:
        return max(entry.Timeout, 5000) if desc["hCursor"] and entry.Timeout else entry.Timeout


@fault(
    "server-restarts-call-timers-when-message-arrives-for-other-read",
    breaks=("MQQP-2.2.2.1-D01", "MQQP-3.1.2-03"),
    blind=True,
)
class ServerRestartsCallTimersWhenMessageArrivesForOtherRead(WaitingReads):
    """When a message arrives for one waiting read, the server restarts the Call Timers of the other waiting reads of
    the queue.
    """

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        super().pass_new_message_to_waiting_readers(position)
        for descriptor in position.QueueReference.OpenQueueDescriptorCollection.values():
            for reader in descriptor.WaitingMessageReadOperationCollection:
                key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
                if self.qm.timers.is_running(key):
                    self.qm.timers.start(key, self.qm.timers._running[key].due_ms, 2000)
