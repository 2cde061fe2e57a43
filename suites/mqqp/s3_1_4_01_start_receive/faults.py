"""Faults of MS-MQQP 3.1.4.1 RemoteQMStartReceive and 3.1.4.10 RemoteQMStartReceive2."""

from __future__ import annotations

from harness.faults.parts import fault, replaced
from harness.faults.primitives import both, skip
from harness.faults.registry import add
from harness.faults.rpc_calls import called_unbound
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.statuses import Status

# -- the call ---------------------------------------------------------------------------------------------------------

add(
    "rpc-unbound-RemoteQMStartReceive",
    "MQQP-3.1.4.1-04",
    "RemoteQMStartReceive is called on a context that was never agreed on.",
    called_unbound("RemoteQMStartReceive"),
)
add(
    "rpc-unbound-RemoteQMStartReceive2",
    "MQQP-3.1.4.10-01",
    "RemoteQMStartReceive2 is called on a context that was never agreed on.",
    called_unbound("RemoteQMStartReceive2"),
)

# -- what is refused --------------------------------------------------------------------------------------------------


@fault("remote-null-description-other-status", breaks="MQQP-3.1.4.10-13")
class NullDescriptionOtherStatus(RemoteStarting):
    """NULL for the description is an invalid parameter."""

    def check_description(self, desc: Desc | None) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc is None else super().check_description(desc)


@fault(
    "remote-cursor-demanded",
    breaks=(
        "MQQP-3.1.4.10-23",
        "MQQP-3.1.4.1-D13",
    ),
)
class CursorDemanded(RemoteStarting):
    """Every read needs a cursor."""

    def check_description(self, desc: Desc | None) -> Status:
        if desc is not None and not desc["hCursor"]:
            return Status.MQ_ERROR_INVALID_PARAMETER
        return super().check_description(desc)


add(
    "remote-queue-pointer-ignored",
    ("MQQP-3.1.4.10-14", "MQQP-3.1.4.1-D07"),
    "dwQueue is not looked at.",
    skip(RemoteStarting.check_dw_queue),
)


@fault(
    "remote-any-queue-for-none",
    breaks=("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-22"),
)
class AnyQueueForNone(RemoteStarting):
    """A hRemoteQueue of 0 is the first that is open."""

    def check_dw_queue(self, desc: Desc) -> Status:
        return self._use_first_queue(desc) if super().check_dw_queue(desc) else Status.MQ_OK

    def check_lookup_queue(self, desc: Desc) -> Status:
        return self._use_first_queue(desc) if super().check_lookup_queue(desc) else Status.MQ_OK

    def _use_first_queue(self, desc: Desc) -> Status:
        desc["hRemoteQueue"] = desc["dwQueue"] = next(iter(self.qm.descriptors))
        return Status.MQ_OK


add(
    "remote-request-used-twice",
    ("MQQP-3.1.4.1-12", "MQQP-3.1.4.10-15", "MQQP-2.2.2.1-05"),
    "A dwRequestID that is in use is taken.",
    skip(RemoteStarting.check_request_id),
)


@fault(
    "remote-request-used-anywhere",
    breaks=(
        "MQQP-3.1.4.10-16",
        "MQQP-3.1.4.1-D08",
    ),
)
class RequestUsedAnywhere(RemoteStarting):
    """A dwRequestID in use through another handle is refused."""

    def check_request_id(self, desc: Desc) -> Status:
        used = {read.RequestId for read in self.qm.remote.reads.values()}
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in used else Status.MQ_OK


@fault("remote-peek-next-without-cursor", breaks=("MQQP-3.1.4.1-D09", "MQQP-3.1.4.10-17"))
class PeekNextWithoutCursor(RemoteStarting):
    """PEEK_NEXT without a cursor is PEEK_CURRENT."""

    def check_peek_next_cursor(self, desc: Desc) -> Status:
        if super().check_peek_next_cursor(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


add(
    "remote-session-not-needed",
    (
        "MQQP-3.1.4.1-D10",
        "MQQP-3.1.4.10-18",
        "MQQP-3.1.4.10-19",
        "MQQP-3.1.4.11-25",
        "MQQP-3.1.4.11-26",
        "MQQP-3.1.4.4-07",
    ),
    "A queue is read that RemoteQMOpenQueue has not opened.",
    both(skip(RemoteStarting.check_open_queue), skip(RemoteOpening.close_open_queue_entry)),
)


class _UnknownActionPeeks(RemoteStarting):
    def check_start_action(self, desc: Desc) -> Status:
        if super().check_start_action(desc):
            desc["ulAction"] = ReadAction.MQ_ACTION_PEEK_CURRENT
        return Status.MQ_OK


add(
    "remote-unknown-action-peeks",
    (),
    "Tolerated: an ulAction that no client may ask for is PEEK_CURRENT.",
    replaced(_UnknownActionPeeks),
)
