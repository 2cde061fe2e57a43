"""Define the areas that `mqconform explore` can explore. An area is a part of the protocol that has its own model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.explore.client_driven import DrivenClient
from harness.explore.connecting_driven import DrivenConnectingSystem
from harness.explore.queues_driven import DrivenQueues
from harness.explore.remote_driven import DrivenRemoteQueues
from harness.explore.sessions_driven import DrivenSessions
from harness.explore.transfer_driven import DrivenTransfer
from harness.explore.walk import DrivenSystem
from harness.model.client.area import ClientModel
from harness.model.connecting.area import ConnectingModel
from harness.model.queues.area import QueuesModel
from harness.model.remote.area import RemoteReadingModel
from harness.model.sessions.area import SessionsModel
from harness.model.steps import Model
from harness.model.transfer.area import TransferModel
from harness.peer.peer import Peer


@dataclass(frozen=True, slots=True)
class ExplorableArea:
    """An area that can be explored. ``model_class``: the model of the area. ``driven_system_class``: the class that
    takes the steps of the area on the system. ``walk_steps``: the number of steps in one walk (sequence of random
    steps). ``says``: a description of the area.
    """

    model_class: type[Model]
    driven_system_class: Callable[[Peer], DrivenSystem]
    walk_steps: int
    says: str


AREA_BY_NAME: Mapping[str, ExplorableArea] = MappingProxyType(
    {
        "client": ExplorableArea(
            ClientModel,
            DrivenClient,
            40,
            "applications of the system read queues of the peer, which serves them",
        ),
        "connecting": ExplorableArea(
            ConnectingModel,
            DrivenConnectingSystem,
            50,
            "the system opens sessions to the peer, which answers pings and requests correctly, wrongly or not at all",
        ),
        "queues": ExplorableArea(
            QueuesModel,
            lambda peer: DrivenQueues(peer.sut),
            100,
            "applications send, receive, peek, move and wait, also in transactions; queues are created and deleted",
        ),
        "remote": ExplorableArea(
            RemoteReadingModel,
            DrivenRemoteQueues,
            90,
            "clients open queues remotely, receive in two phases, wait, cancel and disappear",
        ),
        "sessions": ExplorableArea(
            SessionsModel,
            DrivenSessions,
            40,
            "a peer sends every kind of packet in every state of several sessions",
        ),
        "transfer": ExplorableArea(
            TransferModel,
            DrivenTransfer,
            50,
            "the peer and the system send each other messages, with repetitions and gaps, on sessions that are lost",
        ),
    }
)
