"""Steps that several fault files of this section share."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening

WRONG_GUID = UUID(int=0xBAD)


class OpenQueueParameterChanger(ClientQueueOpening):
    """Replace parameters of RemoteQMOpenQueue with values that depend on the correct parameters."""

    def change(self, queue: RemoteQueue, given: dict[str, Any]) -> dict[str, Any]:
        """Return the wrong parameters of RemoteQMOpenQueue."""
        return {}

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        given = super().build_open_queue_arguments(queue)
        return {**given, **self.change(queue, given)}


class OpenQueueValueReplacer(ClientQueueOpening):
    """Change the parameters of RemoteQMOpenQueue."""

    def change(self, queue: RemoteQueue) -> dict[str, Any]:
        raise NotImplementedError

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        return super().build_open_queue_arguments(queue) | self.change(queue)
