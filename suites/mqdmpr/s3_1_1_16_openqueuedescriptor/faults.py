"""Faults of MS-MQDMPR 3.1.1.16 OpenQueueDescriptor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip
from harness.faults.registry import Install, add
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.core.remote.qmcomm import Qmcomm
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.enums import QueueAccessType, QueueShareMode, RemoteReadState
from reference_qm.surface.clock import Now

OF_EVERYBODY = 0x77


def _opened_with(**values: int) -> Install:
    """Give every client the same numbers."""

    class OpenedWith(Qmcomm):
        def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
            return super().get_open_values(descriptor) | values

    return replace_part(OpenedWith)


add("descriptor-one-handle", "MQDMPR-3.1.1.16-02", "All openings have one handle.", _opened_with(phQueue=OF_EVERYBODY))
add(
    "descriptor-one-context",
    "MQDMPR-3.1.1.16-03",
    "All openings have one context value.",
    _opened_with(dwpQueue=OF_EVERYBODY, pdwContext=OF_EVERYBODY),
)


@fault("descriptor-ready-at-once", breaks="MQDMPR-3.1.1.16-12")
class ReadyAtOnce(Qmcomm):
    """What a client has opened is ReadyForRead before it reads through it."""

    def get_open_values(self, descriptor: OpenQueueDescriptor) -> dict[str, Any]:
        descriptor.RemoteReadState = RemoteReadState.READY_FOR_READ
        return super().get_open_values(descriptor)


add(
    "descriptor-never-ready",
    "MQDMPR-3.1.1.16-14",
    "What is read through remotely stays Opened.",
    skip(RemoteOpening.take_over_descriptor),
)


@fault("descriptor-always-to-receive", breaks="MQDMPR-3.1.1.16-04")
class AlwaysToReceive(QueueOpening):
    """Whoever wants to peek may receive."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> Opened:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None and required_access is QueueAccessType.PEEK:
            descriptor.AccessType = QueueAccessType.RECEIVE
        return status, descriptor


@fault("descriptor-all-multiple", breaks="MQDMPR-3.1.1.16-05")
class AllMultiple(QueueOpening):
    """A queue that is open alone counts as several."""

    def open_found_queue(
        self,
        queue: Queue,
        format_name: str,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode = QueueShareMode.DENY_NONE,
    ) -> Opened:
        status, descriptor = super().open_found_queue(queue, format_name, required_access, shared_mode)
        if descriptor is not None and required_access is not QueueAccessType.SEND:
            descriptor.Multiple = True
        return status, descriptor


def _several(change: Callable[[OpenQueueDescriptor], None]) -> Install:
    """Change what is open as several queues."""

    class Several(QueueOpening):
        def open_queue(
            self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
        ) -> Opened:
            status, descriptor = super().open_queue(format_name, required_access, shared_mode, now)
            if descriptor is not None and descriptor.Multiple:
                change(descriptor)
            return status, descriptor

    return replace_part(Several)


def _to_receive(several: OpenQueueDescriptor) -> None:
    several.AccessType = QueueAccessType.RECEIVE


def _for_remote_reading(several: OpenQueueDescriptor) -> None:
    several.RemoteReadState = RemoteReadState.OPENED


def _of_the_first(several: OpenQueueDescriptor) -> None:
    several.QueueReference = several.OpenQueueDescriptorCollection[0].QueueReference


for _name, _rule, _says, _change in (
    ("several-open-to-receive", "MQDMPR-3.1.1.16-06", "Several queues are open to receive.", _to_receive),
    (
        "several-open-remotely",
        "MQDMPR-3.1.1.16-07",
        "Several queues are open for remote reads.",
        _for_remote_reading,
    ),
    ("several-open-as-the-first", "MQDMPR-3.1.1.16-08", "Several queues refer to the first of them.", _of_the_first),
):
    add(_name, _rule, _says, _several(_change))
