"""Take the steps of the area `transfer` on a system. The steps use packets from a peer without a core, and verbs of the
control protocol.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Set
from typing import Any

from harness.explore.queues_driven import DrivenQueues
from harness.explore.secured_messages import build_headers_with_sender, find_secured_message, sign_and_encrypt_message
from harness.explore.unused_fields import group_unused_field_values_by_header
from harness.explore.wire_seen import SystemPackets, get_class_name, get_destination_direct_name
from harness.explore.worlds import StepObservation
from harness.model.agreement import ExpectedRefusal, ExpectedValueThatSystemCannotShow
from harness.model.queues.state import INFINITE_LIFETIME_S
from harness.model.steps import Step
from harness.model.transfer.receiving import MISSING_QUEUE_NAME
from harness.model.transfer.sending import (
    DEAD_LETTER_QUEUE_NAME,
    NAMES_OF_OUTGOING_QUEUES,
    PROPERTIES_OF_SEND_EXTENSION,
    QUEUE_PROPERTIES,
    SYSTEM_JOURNAL_QUEUE_NAME,
    TIME_TO_RECONNECT_AND_RESEND_MS,
)
from harness.model.transfer.sessions import (
    EXPRESS_ACK_PAUSE_MS,
    NAME_OF_NONTRANSACTIONAL_QUEUE,
    REACTION_TIME_MS,
    RECEIVING_QUEUE_QUOTA_KB,
    TRANSACTIONAL_QUEUE_NAME,
)
from harness.peer.conversation import RawConversation
from harness.peer.peer import Peer
from harness.sut.releases import find_release
from harness.wire import PrivateQueueFormatNameId, TxSequenceID, user_message
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket

_TIME_STAMP = 1_000_000
_MESSAGE_LIFETIME_S = 10_000
"""int s: the TimeToReachQueue of the messages that the peer sends."""
_TIME_TOLERANCE_S = 4
_SENT_TIME_AGE_OF_DELIVERED_MESSAGE_S = 100
"""int s: the age that a message from the peer has when it arrives: the time of its arrival minus the time of sending
that its packet states.
"""
_IMMEDIATE_REACTION_MS = 50
_PRIVATE_QUEUE_NUMBER_OF_PEER = 9
_ADMIN_QUEUE_NAME_OF_PEER = PrivateQueueFormatNameId(PrivateQueueIdentifier=7)
_ACK_FLAGS = {"positive_arrival": "PA", "positive_receive": "PR", "negative_arrival": "NA", "negative_receive": "NR"}
_JOURNAL_FLAGS = {"positive": "JP", "negative": "JN"}


class DrivenTransfer(DrivenQueues):
    """A system with two queues, and a peer without a core that exchanges messages with this system."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer.sut)
        self._peer = peer
        if not peer.environment.is_time_virtual and peer.sut.has("set_timers"):
            peer.sut.set_timers(scale=1)
        if peer.sut.has("configure") and peer.sut.has("security"):
            peer.sut.configure(send_insecure_nacks=True)
        peer.inbox.listen()
        self._perform_create(NAME_OF_NONTRANSACTIONAL_QUEUE, transactional=False, quota_kb=RECEIVING_QUEUE_QUOTA_KB)
        self._perform_create(TRANSACTIONAL_QUEUE_NAME, transactional=True, quota_kb=RECEIVING_QUEUE_QUOTA_KB)
        self._wire = SystemPackets(peer)
        self._routes = {name: peer.direct_name(f"mqc-{name}") for name in NAMES_OF_OUTGOING_QUEUES}
        self._step_ms = REACTION_TIME_MS
        self._compares_transfer_info = False
        """Whether to compare OutgoingTransferInfo after this step. The system sets OutgoingTransferInfo when it
        receives an OrderAck.
        """
        self._sessions: dict[str, RawConversation] = {}
        self._packets: dict[str, Any] = {}
        self._sequences: dict[int, int] = {}
        """The number of each sequence of the system, in the order in which the sequences appeared."""
        self._messages_with_wrong_id: set[str] = set()
        """The messages whose identifier does not follow the identifier of the previous message."""
        self._last_ordinal: int | None = None
        self._next_ordinal: int | None = None
        self._messages_with_wrong_time: set[str] = set()
        """The messages whose time of sending or of arrival is wrong."""
        self._is_peer_silent = False
        self._secured_message: tuple[str, int] | None = None
        """The message that the system signs or encrypts in this step, and the number of packets before this step."""
        self._order_ack_count: int | None = None
        """The number of OrderAcks that the system had sent before this step, or None if the step causes no OrderAck."""
        self._message_count_before_loss = 0
        """The number of messages received before the last loss of all connections."""
        self._send_time_by_shipped_message: dict[str, int] = {}
        """The time at which an application sent each message to the peer (UTC, in s)."""
        self._send_time_by_peer_message: dict[str, int] = {}
        """The time at which the peer sent each of its messages (UTC, in s)."""
        self._ordinals: dict[int, str] = {}
        """The names of the peer's messages by their MessageIDs."""

    def elapsed_ms(self) -> int | None:
        """Return None: elapsed time is not measured, because the model sets the duration of each step."""
        return None

    def take(self, step: Step, awaited: Set[str]) -> StepObservation:
        self._step_ms = REACTION_TIME_MS
        self._compares_transfer_info = step.name in ("offer_order_ack", "offer_late_order_ack")
        self._last_ordinal, self._next_ordinal = self._next_ordinal, None
        self._order_ack_count = None
        return super().take(step, awaited)

    def _await_answers(self, awaited: Set[str]) -> None:
        """Wait until the system has reacted to the step. Acknowledge the messages that the system sends during the
        wait.
        """
        self._peer.pass_time(self._step_ms)
        super()._await_answers(awaited - {"order ack", "secured"})
        if self._secured_message is not None:
            self._came["secured"] = find_secured_message(self._peer, *self._secured_message)
            self._secured_message = None
        if self._order_ack_count is not None and "order ack" in awaited:
            new = self._wire.order_acks[self._order_ack_count :]
            if new:
                self._came["order ack"] = self._describe_order_ack(new[-1])
        if not self._is_peer_silent:
            self._wire.acknowledge_all_messages()
            self._peer.pass_time(_IMMEDIATE_REACTION_MS)

    # -- steps ----------------------------------------------------------------------------------------------------

    def _perform_connect(self, session: str) -> str:
        self._sessions[session] = self._peer.open_raw()
        return "done"

    def _perform_hang_up(self, session: str) -> str:
        self._sessions[session].end()
        return "done"

    def _perform_rest_until_acknowledged(self) -> None:
        self._step_ms = EXPRESS_ACK_PAUSE_MS

    def _perform_deliver(
        self,
        session: str,
        message: str,
        queue: str,
        delivery: str,
        priority: int,
        size: int,
        acks: list[str],
        application_tag: int,
        late: bool,
        journal: list[str],
        details: dict[str, Any],
        unused: list[str],
    ) -> None:
        user: dict[str, Any] = {"DM": int(delivery != "express"), **{_JOURNAL_FLAGS[one]: 1 for one in journal}}
        if late:
            user["SentTime"] = self._peer.environment.now().utc_s - 2 * _MESSAGE_LIFETIME_S
        fields = group_unused_field_values_by_header(unused)
        made = self._build_message(message, queue, size, acks, user, application_tag, priority, details, fields)
        packet = bytes(made)
        self._packets[message] = packet
        self._wire.send(self._sessions[session], packet)

    def _perform_repeat(self, session: str, message: str) -> None:
        self._wire.send(self._sessions[session], self._packets[message])

    def _perform_ship_message(
        self,
        message: str,
        to: str,
        delivery: str,
        priority: int,
        size: int,
        journal: list[str],
        properties: dict[str, Any],
    ) -> str:
        listed = [self._routes[name] for name in to.split("+")]
        names = ",".join(listed if len(listed) == 1 else [*_list_spellings_of_direct_name(listed[0]), *listed[1:]])
        fields: dict[str, Any] = {"delivery": delivery, "priority": priority, "journal": journal}
        for name, value in properties.items():
            if self._sut.has("send_extension") or name not in PROPERTIES_OF_SEND_EXTENSION:
                fields[name] = self._routes[value] if name in QUEUE_PROPERTIES else value
        self._send_time_by_shipped_message[message] = self._peer.environment.now().utc_s
        sent = self._sut.send(names, label=message, body="b" * size, **fields)
        self._check_message_id(message, sent)
        guid, _, ordinal = sent.rpartition("\\")
        for place in range(len(to.split("+"))):
            self.store_message_name(f"{guid}\\{int(ordinal) + place}", message)
            self._next_ordinal = int(ordinal) + place
        return "done"

    def _check_message_id(self, message: str, message_id: str) -> None:
        """Record a message if the ordinal in its identifier does not follow the last ordinal (MS-MQQB 3.1.1.3)."""
        ordinal = int(message_id.rpartition("\\")[2])
        if self._last_ordinal is not None and ordinal != self._last_ordinal + 1:
            self._messages_with_wrong_id.add(message)

    def _perform_silence_peer(self, on: bool) -> str:
        self._is_peer_silent = on
        return "done"

    def _perform_lose_connection(self) -> str:
        self._peer.hang_up()
        self._message_count_before_loss = len(self._wire.messages)
        return "done"

    def _perform_come_again(self) -> str:
        self._step_ms = TIME_TO_RECONNECT_AND_RESEND_MS
        return "done"

    def _perform_ship_secured(self, message: str, sender: str | None, how: str, size: int) -> str:
        self._secured_message = (message, len(self._peer.recorder.frames))
        wanted = {"privacy_level": how} if sender is None else {"authentication_level": how, "sender": sender}
        to = self._peer.build_private_format_name_of_peer(_PRIVATE_QUEUE_NUMBER_OF_PEER)
        self._sut.send(to, label=message, body="b" * size, delivery="express", **wanted)
        return "done"

    def _perform_hold(self, to: str) -> str:
        return self._call_verb("pause_queue", to=self._routes[to])

    def _perform_release(self, to: str) -> str:
        return self._call_verb("resume_queue", to=self._routes[to])

    def _perform_restart(self) -> str:
        self._step_ms = TIME_TO_RECONNECT_AND_RESEND_MS
        self._message_count_before_loss = len(self._wire.messages)
        return super()._perform_restart()

    def _perform_offer_order_ack(self, message: str) -> str:
        packet = next(one for one in self._wire.messages if self._describe_message(one)["message"] == message)
        header = packet.TransactionHeader
        assert header is not None
        body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.TxSequenceNumber - 1)
        self._send_acknowledgment(packet, body.build(), MessageClass.MQMSG_CLASS_ORDER_ACK, 0)
        return "done"

    def _perform_offer_late_order_ack(self, message: str) -> str:
        return self._perform_offer_order_ack(message)

    def _perform_finish(self, message: str, cls: str) -> str:
        packet = next(one for one in self._wire.messages if self._describe_message(one)["message"] == message)
        header = packet.TransactionHeader
        assert header is not None
        place = (header.TxSequenceID, header.TxSequenceNumber, header.PreviousTxSequenceNumber)
        body = FinalAckBody(*place, packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)
        self._send_acknowledgment(packet, body.build(), MessageClass[f"MQMSG_CLASS_{cls}"], 1)
        return "done"

    def _send_acknowledgment(self, message: UserMessagePacket, body: bytes, cls: int, recoverable: int) -> None:
        """Send an acknowledgment from the peer, on the connection on which the last message to the same queue
        arrived.
        """
        record = self._wire.connections.get(get_destination_direct_name(message))
        conversation = next((one for one in self._peer.open_conversations if one.record is record), None)
        if conversation is None or conversation.record.closed_by is not None:
            conversation = self._peer.open_raw()
        packet = user_message(
            user={
                "SourceQueueManager": self._peer.identifier,
                "MessageID": self._peer.next_message_id(),
                "DM": recoverable,
            },
            base={"PR": 0},
            destination=f"TCP:{self._sut.address}\\PRIVATE$\\order_queue$",
            MessageClass=int(cls),
            label="QM Ordering Ack",
            body=body,
        )
        self._wire.send(conversation, bytes(packet))

    def _perform_burst(self, session: str, number: int) -> dict[str, int]:
        through = self._sessions[session]
        for _ in range(number):
            packet = self._build_message("burst", MISSING_QUEUE_NAME, 0, [], {"DM": 1}, 0, 3, {}, {})
            self._wire.send(through, bytes(packet))
        self._peer.pass_time(_IMMEDIATE_REACTION_MS)
        return {"at once": self._wire.acknowledged(through)["acknowledged"]}

    def _perform_deliver_in_sequence(
        self,
        session: str,
        message: str,
        queue: str,
        sequence: int,
        number: int,
        previous: int,
        size: int,
        acks: list[str],
        journal: list[str],
        details: dict[str, Any],
        unused: list[str],
        final: bool,
        by_private_names: bool = False,
    ) -> None:
        fields = group_unused_field_values_by_header(unused)
        place = {
            "FA": int(final),
            "FM": 1,
            "LM": 1,
            "ID": number,
            "TxSequenceID": TxSequenceID(Ordinal=sequence, TimeStamp=_TIME_STAMP),
            "TxSequenceNumber": number,
            "PreviousTxSequenceNumber": previous,
        }
        place |= fields.pop("transaction", {})
        user: dict[str, Any] = {"DM": 1, **{_JOURNAL_FLAGS[one]: 1 for one in journal}}
        names: dict[str, Any] = {}
        if by_private_names:
            own = self._sut.private_format_name(self._get_queue_path(queue)).rpartition("\\")[2]
            names["destination"] = PrivateQueueFormatNameId(PrivateQueueIdentifier=int(own, 16))
            user |= {"QueueManagerAddress": self._sut.guid, "AdminQueue": _ADMIN_QUEUE_NAME_OF_PEER}
        packet = self._build_message(
            message, queue, size, acks, user, 0, 0, details, fields, transaction=place, **names
        )
        self._wire.send(self._sessions[session], bytes(packet))
        self._order_ack_count = len(self._wire.order_acks)

    def _perform_deliver_by_private_names(self, **message: Any) -> None:
        self._perform_deliver_in_sequence(**message, by_private_names=True)

    def _perform_deliver_secured(
        self,
        session: str,
        message: str,
        place: list[int],
        kind: str | None,
        altered: bool,
        level: int,
        acks: list[str],
        journal: list[str],
        size: int,
    ) -> None:
        headers: dict[str, Any] = {}
        if place:
            numbers = {"TxSequenceNumber": place[1], "PreviousTxSequenceNumber": place[2]}
            identifier = TxSequenceID(Ordinal=place[0], TimeStamp=_TIME_STAMP)
            headers["transaction"] = {"FM": 1, "LM": 1, "ID": place[1], "TxSequenceID": identifier, **numbers}
        user = {"DM": int(bool(place)), **{_JOURNAL_FLAGS[one]: 1 for one in journal}}
        queue, priority = (TRANSACTIONAL_QUEUE_NAME, 0) if place else (NAME_OF_NONTRANSACTIONAL_QUEUE, 3)
        headers |= build_headers_with_sender(kind, level)
        made = self._build_message(message, queue, size, acks, user, 0, priority, {}, {}, **headers)
        packet = sign_and_encrypt_message(self._sut, made, kind, altered, level)
        self._wire.send(self._sessions[session], bytes(packet))

    def _build_message(
        self,
        message: str,
        queue: str,
        size: int,
        acks: list[str],
        user: dict[str, Any],
        application_tag: int,
        priority: int,
        details: dict[str, Any],
        unused: Mapping[str, Mapping[str, int]],
        **headers: Any,
    ) -> Any:
        """Build a message from the peer."""
        ordinal = self._peer.next_message_id()
        self._ordinals[ordinal] = message
        identifier = f"{{{self._peer.identifier}}}\\{ordinal}"
        self.store_message_name(identifier, message)
        asked: dict[str, Any] = {_ACK_FLAGS[one]: 1 for one in acks}
        admin = {"AdminQueue": self._format_direct_name(self._admin).removeprefix("DIRECT=")} if acks else {}
        own = {
            "SourceQueueManager": self._peer.identifier,
            "MessageID": ordinal,
            "SentTime": self._peer.environment.now().utc_s - _SENT_TIME_AGE_OF_DELIVERED_MESSAGE_S,
            "TimeToBeReceived": details.get("time_to_be_received_s", INFINITE_LIFETIME_S),
        }
        kept = {
            "CorrelationID": bytes.fromhex(details.get("correlation_id", "00" * 20)),
            "BodyType": details.get("body_type", 0),
            "ExtensionData": b64decode(details.get("extension_base64", "")),
        }
        self._send_time_by_peer_message[message] = self._peer.environment.now().utc_s
        usual = {"destination": self._format_direct_name(self._get_queue_path(queue)).removeprefix("DIRECT=")}
        lifetime_s = details.get("time_to_reach_queue_s", _MESSAGE_LIFETIME_S)
        return user_message(
            user={**own, **user, **admin, **unused.get("user", {})},
            base={"PR": priority, "TimeToReachQueue": lifetime_s, **unused.get("base", {})},
            properties=unused.get("properties", {}),
            label=message,
            body=b"b" * size,
            ApplicationTag=application_tag,
            **kept,
            **asked,
            **usual | headers,
        )

    # -- visible state --------------------------------------------------------------------------------------------

    def _read_visible_state(self) -> dict[str, Any]:
        seen = super()._read_visible_state()
        for name, session in self._sessions.items():
            seen[name] = {"open": session.record.closed_by is None, **self._wire.acknowledged(session)}
        if self._wire.order_acks:
            told = map(self._describe_order_ack, self._wire.order_acks)
            seen["order acks"] = max(told, key=lambda one: (one["sequence"], one["number"]))
        seen["final acks"] = sorted(map(self._describe_final_ack, self._wire.final_acks.values()), key=str)
        seen["transfer"] = self._get_transfer_state()
        for queue in (SYSTEM_JOURNAL_QUEUE_NAME, DEAD_LETTER_QUEUE_NAME):
            if queue == DEAD_LETTER_QUEUE_NAME and not find_release(self._sut).keeps_undeliverable_messages:
                seen[queue] = ExpectedValueThatSystemCannotShow()
                continue
            seen[queue] = sorted(self._messages[one["message_id"].lower()] for one in self._sut.kept(queue))
        came = self._wire.messages[self._message_count_before_loss :]
        for name, to in self._routes.items():
            outgoing = [one for one in self._listed_state["outgoing"] if one["format_name"].lower() == to.lower()]
            path = to.removeprefix("DIRECT=").lower()
            seen[f"to {name}"] = {
                "came": [
                    self._describe_message(packet) for packet in came if get_destination_direct_name(packet) == path
                ],
                "waiting": ExpectedValueThatSystemCannotShow()
                if self._wire.uses_session_of_peer(path)
                else sum(one["count"] for one in outgoing),
                "transfer info": self._get_transfer_info(to),
            }
        seen["wrong identifiers"] = sorted(self._messages_with_wrong_id)
        seen["wrong times"] = sorted(self._messages_with_wrong_time)
        return seen

    def _describe_message_answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Describe a message in a queue. The description states whether the times of the message agree with the
        times of the peer.
        """
        described = super()._describe_message_answer(message)
        name, arrived_s, sent_s = described["message"], message.get("arrived_time"), message.get("sent_time")
        own_s = self._send_time_by_peer_message.get(name)
        if described["class"] == "NORMAL" and own_s is not None:
            late = arrived_s is not None and not own_s - _TIME_TOLERANCE_S <= arrived_s <= own_s + _TIME_TOLERANCE_S
            other = sent_s is not None and sent_s != own_s - _SENT_TIME_AGE_OF_DELIVERED_MESSAGE_S
            if late or other:
                self._messages_with_wrong_time.add(name)
        if (
            described["class"] != "NORMAL"
            and own_s is not None
            and sent_s is not None
            and sent_s < own_s - _TIME_TOLERANCE_S
        ):
            self._messages_with_wrong_time.add(f"{described['class']} of {name}")
        return described

    def _describe_order_ack(self, body: OrderAckBody) -> dict[str, int]:
        return {"sequence": body.TxSequenceID.Ordinal, "number": body.TxSequenceNumber}

    def _get_transfer_info(self, to: str) -> Any:
        """Return OutgoingTransferInfo of an outgoing queue, in which the sequences have the same numbers as in the
        model.
        """
        if not (self._compares_transfer_info and self._sut.has("management")):
            return ExpectedValueThatSystemCannotShow()
        found = self._sut.control.call("get_outgoing_queue", to=to)["outgoing"]
        info = dict(found[0].get("OutgoingTransferInfo", {})) if found else {}
        for name in ("EodFirstNonAck", "EodLastNonAck", "EodLastAck"):
            if name in info:
                place = dict(info[name])
                info[name] = place | {"SeqID": self._sequences.get(int(place["SeqID"]), place["SeqID"])}
        unknown = dict.fromkeys(
            ("EodNoAckCount", "EodNoReadCount", "EodFirstNonAck", "EodLastNonAck", "EodLastAck"),
            ExpectedValueThatSystemCannotShow(),
        )
        return unknown | info

    def _get_transfer_state(self) -> Any:
        """Return the state of the received sequence as the system reports it."""
        if not self._sut.has("management"):
            return ExpectedValueThatSystemCannotShow()
        found = self._call_or_get_refusal("get_transfers", queue=self._get_queue_path(TRANSACTIONAL_QUEUE_NAME))
        return found if isinstance(found, ExpectedRefusal) else next(reversed(found["transfers"]), None)

    def _describe_message(self, packet: UserMessagePacket) -> dict[str, Any]:
        """Describe a message from the system in the terms of the model."""
        properties, header = packet.MessagePropertiesHeader, packet.TransactionHeader
        identifier = f"{{{packet.UserHeader.SourceQueueManager}}}\\{packet.UserHeader.MessageID}"
        described = {
            "message": self._messages.get(identifier, "?"),
            "class": get_class_name(properties.MessageClass),
            "priority": packet.BaseHeader.Flags & 7,
            "delivery": "transactional" if header else "recoverable" if packet.UserHeader.DM == 1 else "express",
            "size": len(properties.MessageBody),
        }
        name = str(described["message"])
        shipped_s = self._send_time_by_shipped_message.get(name)
        if shipped_s is not None and abs(packet.UserHeader.SentTime - shipped_s) > _TIME_TOLERANCE_S:
            self._messages_with_wrong_time.add(name)
        if header is not None:
            known = self._sequences.setdefault(int(header.TxSequenceID), len(self._sequences) + 1)
            described |= {"sequence": known, "number": header.TxSequenceNumber}
            described |= {"previous": header.PreviousTxSequenceNumber}
        return described

    def _describe_final_ack(self, packet: UserMessagePacket) -> dict[str, Any]:
        body = FinalAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        return {
            "of": self._ordinals.get(body.MessageID, "?"),
            "as": get_class_name(packet.MessagePropertiesHeader.MessageClass),
            "source": "peer" if body.SourceGUID == self._peer.identifier else str(body.SourceGUID),
            "priority": packet.BaseHeader.Flags & 7,
            "number": body.TxSequenceNumber,
            "previous": body.TxPreviousSequenceNumber,
        }


def _list_spellings_of_direct_name(name: str) -> list[str]:
    """Return three spellings of a direct name, which differ in the case of the letters of the queue."""
    host, separator, queue = name.rpartition("\\")
    return [name, f"{host}{separator}{queue.upper()}", f"{host}{separator}{queue.title()}"]
