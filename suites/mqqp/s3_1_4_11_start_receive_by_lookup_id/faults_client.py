"""Faults of MS-MQQP 3.1.4.11: the calls of a client."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction
from reference_qm.core.remote.remote_reads import FIRST_LOOKUP_ID, LAST_LOOKUP_ID
from suites.mqqp.s3_1_4_01_start_receive.fault_steps import send_with_unknown_context_id

ZERO_TIMEOUT_RULES = ("MQQP-3.1.4.11-10", "MQQP-3.1.4.11-12", "MQQP-3.1.4.11-15", "MQQP-3.1.4.11-17")
ZERO_CURSOR_RULES = ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-16")


class LookupDescriptionChanger(ClientMessageReading):
    """Change the REMOTEREADDESC of some reads by LookupId; a subclass selects which."""

    lookup_count = 0
    """The number of reads by LookupId that the client began."""
    timeout_ms = 0
    """The timeout of the last read without a LookupId."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        """Return the wrong fields of a read by LookupId."""
        raise NotImplementedError

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        if read.LookupId is None:
            self.timeout_ms = read.TimeOut
            return given
        self.lookup_count += 1
        return given | self.change(read)


@fault("client-h-cursor-of-read-by-lookup-id-is-newest-cursor", breaks=ZERO_CURSOR_RULES, blind=True)
class ClientHCursorOfReadByLookupIdIsNewestCursor(LookupDescriptionChanger):
    """The client sets hCursor of a read by LookupId to the cursor that it opened last."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        handles = [handle for _, handle in self.qm.remote_client.queue_and_handle_by_cursor.values()]
        return {"hCursor": handles[-1]} if handles else {}


@fault("client-h-cursor-of-lookup-is-low-half-of-lookup-id", breaks=ZERO_CURSOR_RULES, blind=True)
class ClientHCursorOfLookupIsLowHalfOfLookupId(LookupDescriptionChanger):
    """The client sets hCursor of a read by LookupId to the low half of LookupId."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hCursor": (read.LookupId or 0) & 0xFFFFFFFF}


@fault("client-h-cursor-1-in-second-read-by-lookup-id", breaks=ZERO_CURSOR_RULES, blind=True)
class ClientHCursor1InSecondReadByLookupId(LookupDescriptionChanger):
    """The client sets hCursor to 1 in its second read by LookupId."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hCursor": 1} if self.lookup_count == 2 else {}


@fault("client-ul-timeout-of-lookup-copied-from-earlier-read", breaks=ZERO_TIMEOUT_RULES, blind=True)
class ClientUlTimeoutOfLookupCopiedFromEarlierRead(LookupDescriptionChanger):
    """The client sets ulTimeout of a read by LookupId to the timeout of the last read without LookupId."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": self.timeout_ms}


@fault("client-second-lookup-ul-timeout-infinite", breaks=ZERO_TIMEOUT_RULES, blind=True)
class ClientSecondLookupUlTimeoutInfinite(LookupDescriptionChanger):
    """The client sets ulTimeout to 0xFFFFFFFF in its second read by LookupId."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": INFINITE_MS} if self.lookup_count == 2 else {}


@fault("client-ul-timeout-1-in-lookup-at-end-of-queue", breaks=ZERO_TIMEOUT_RULES, blind=True)
class ClientUlTimeout1InLookupAtEndOfQueue(LookupDescriptionChanger):
    """The client sets ulTimeout to 1 in a read whose LookupId stands for an end of the queue."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": 1} if read.LookupId in (FIRST_LOOKUP_ID, LAST_LOOKUP_ID) else {}


@fault("client-ul-timeout-1-in-lookup-receive-prev-beside-pending-read", breaks="MQQP-3.1.4.11-15", blind=True)
class ClientUlTimeout1InLookupReceivePrevBesidePendingRead(LookupDescriptionChanger):
    """The client sets ulTimeout to 1 in a LOOKUP_RECEIVE_PREV while another read of the client is pending."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        pending = len(self.qm.remote_client.PendingRemoteReadEntryCollection) > 1
        return {"ulTimeout": 1} if pending and read.Action is ReadAction.MQ_LOOKUP_RECEIVE_PREV else {}


# -- presentation contexts

START_RECEIVE_BY_LOOKUP_ID_OPNUM = 10

add(
    "client-second-start-receive-by-lookup-id-on-unknown-context",
    "MQQP-3.1.4.11-01",
    "The p_cont_id of the second read of the client by a lookup identifier is an unknown number.",
    send_with_unknown_context_id(START_RECEIVE_BY_LOOKUP_ID_OPNUM, lambda reads: len(reads) == 2),
    blind=True,
)
add(
    "client-receive-by-lookup-id-on-unknown-context",
    "MQQP-3.1.4.11-01",
    "The p_cont_id of a receive of the client by a lookup identifier is an unknown number.",
    send_with_unknown_context_id(
        START_RECEIVE_BY_LOOKUP_ID_OPNUM, lambda reads: reads[-1][2] >= ReadAction.MQ_LOOKUP_RECEIVE_CURRENT
    ),
    blind=True,
)
add(
    "client-peek-previous-by-lookup-id-on-unknown-context",
    "MQQP-3.1.4.11-01",
    "The p_cont_id of a LOOKUP_PEEK_PREV of the client is an unknown number.",
    send_with_unknown_context_id(
        START_RECEIVE_BY_LOOKUP_ID_OPNUM, lambda reads: reads[-1][2] == ReadAction.MQ_LOOKUP_PEEK_PREV
    ),
    blind=True,
)
