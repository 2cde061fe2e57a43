"""Steps that several fault files of this section share."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from harness.faults.rpc_calls import change_answer_values
from reference_qm.codec import FormatError
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call


def refuse_nonzero_field(name: str) -> Install:
    """Build a fault in which the server refuses a REMOTEREADDESC with a nonzero value in a field that servers must
    ignore.
    """

    class ReadRefuser(RemoteReadStarting):
        def check_read_description(self, desc: ReadDescription | None) -> Status:
            if desc is not None and desc[name]:
                return Status.MQ_ERROR_INVALID_PARAMETER
            return super().check_read_description(desc)

    return replace_part(ReadRefuser)


def refuse_answer_with_other_field_value(name: str, usual: int) -> Install:
    """Build a fault in which the client treats a response as malformed if a field that clients must ignore has a value
    other than the expected one.
    """

    class AnswerFieldChecker(ClientMessageReading):
        def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
            both = results.get("lpRemoteReadDesc2") or {"pRemoteReadDesc": results.get("lpRemoteReadDesc")}
            if both["pRemoteReadDesc"][name] != usual:
                raise FormatError(name, 0, "a fault", f"the value is not {usual}")
            return super().reconstruct_message(results, server)

    return replace_part(AnswerFieldChecker)


class ReadAnswerChanger(RemoteReads):
    """Change the answers to reads."""

    def change(
        self, desc: ReadDescription, call: Call, entry: RemoteReadEntry | None, status: Status
    ) -> dict[str, Any]:
        """Return the fields of the answer that get wrong values."""
        return {}

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        def change_description(given: ReadDescription | None) -> ReadDescription | None:
            return given if given is None else {**given, **self.change(given, call, entry, status)}

        def change_description2(given: dict[str, Any]) -> dict[str, Any]:
            return {**given, "pRemoteReadDesc": change_description(given["pRemoteReadDesc"])}

        if "lpRemoteReadDesc2" in call.arguments:
            call = change_answer_values(call, lpRemoteReadDesc2=change_description2)
        else:
            call = change_answer_values(call, lpRemoteReadDesc=change_description)
        super().answer_read(call, status, entry)


class ReadDescriptionChangerOfAnswersWithMessage(RemoteReads):
    """Change the REMOTEREADDESC of an answer that contains a message."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        return found | self.change(position, found)


class ReadTimeoutChanger(RemoteReadStarting):
    """Change the timeout of a read."""

    def compute_timeout_ms(self, entry: RemoteReadEntry, desc: ReadDescription) -> int:
        raise NotImplementedError

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        entry.Timeout = self.compute_timeout_ms(entry, desc)
        return entry


class ReadRefuser(RemoteReadStarting):
    """Refuse some reads; a subclass selects which."""

    def is_refused(self, desc: ReadDescription) -> bool:
        raise NotImplementedError

    def check_open_queue(self, desc: ReadDescription) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if self.is_refused(desc) else super().check_open_queue(desc)


def make_call_with_changed_description(call: Call, **fields: Any) -> Call:
    """Return a call whose answer has the given fields in the REMOTEREADDESC."""
    if "lpRemoteReadDesc2" in call.arguments:

        def change_second_description(old: dict[str, Any]) -> dict[str, Any]:
            return {**old, "pRemoteReadDesc": {**old["pRemoteReadDesc"], **fields}}

        return change_answer_values(call, lpRemoteReadDesc2=change_second_description)
    return change_answer_values(call, lpRemoteReadDesc=lambda old: {**old, **fields})
