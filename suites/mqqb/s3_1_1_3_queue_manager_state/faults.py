"""Faults of MS-MQQB 3.1.1.3 Queue Manager State."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import Install, add
from harness.faults.timed_caches import OnlyTheLast, cache_replaced, cleanup_late
from reference_qm.codec import NULL_GUID, MessageIdentifier
from reference_qm.core.enterprise.initialization import Initialization
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import MessageIDHistoryEntry, Session
from reference_qm.model.tables import MessageIDHistoryTable
from reference_qm.surface.clock import Now


def _one_more(element: str) -> Install:
    def change(qm: QueueManager) -> None:
        setattr(qm.adm, element, getattr(qm.adm, element) + 1)

    return at_restart(change)


for _name, _rule, _element in (
    ("start-ResendTimeoutsShort", "MQQB-3.1.1.3-28", "ResendTimeoutsShort"),
    ("start-ResendTimeoutsMedium", "MQQB-3.1.1.3-29", "ResendTimeoutsMedium"),
    ("start-ResendTimeoutsLong", "MQQB-3.1.1.3-30", "ResendTimeoutsLong"),
    ("start-ResendTimeoutsFinal", "MQQB-3.1.1.3-31", "ResendTimeoutsFinal"),
):
    add(_name, _rule, f"{_element} is another after a restart.", _one_more(_element))


@fault("state-history-of-nobody", breaks="MQQB-3.1.1.3-21")
class HistoryOfNobody(Initialization):
    """A start puts a message into the history."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.MessageIDHistoryTable.insert(MessageIDHistoryEntry(MessageIdentifier(NULL_GUID, 1), now.utc_s))


def _forget_history(qm: QueueManager) -> None:
    qm.adm.MessageIDHistoryTable = MessageIDHistoryTable()


add("state-history-forgotten", "MQQB-3.1.1.3-22", "A restart forgets the history.", at_restart(_forget_history))


@fault("state-ordinals-by-two", breaks="MQQB-3.1.1.3-24")
class OrdinalsByTwo(Numbering):
    """Every other ordinal is left out."""

    def assign_identifier(self) -> int:
        super().assign_identifier()
        return super().assign_identifier()


def _first_ordinal_again(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


add(
    "state-ordinals-again",
    "MQQB-3.1.1.3-25",
    "A restart begins with the first ordinal again.",
    at_restart(_first_ordinal_again),
)


@fault("state-one-cookie", breaks="MQQB-3.1.1.3-26")
class OneCookie(Ping):
    """All pings have one cookie."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.adm.PingCookie = 6
        super().send_request(session, now)


@fault("state-insecure-nacks-at-first", breaks="MQQB-3.1.1.3-27")
class InsecureNacksAtFirst(Initialization):
    """SendInsecureNacks is TRUE at first."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.SendInsecureNacks = True


def _forget_insecure_nacks(qm: QueueManager) -> None:
    qm.adm.SendInsecureNacks = False


add(
    "state-insecure-nacks-forgotten",
    "MQQB-3.1.1.3-27",
    "A restart forgets SendInsecureNacks.",
    at_restart(_forget_insecure_nacks),
)

add(
    "sent-key-cached-once",
    ("MQQB-3.1.1.3-10", "MQQB-3.1.1.3-11"),
    "SendSymmetricKeyCache has one entry: the last key takes the place of the one before.",
    cache_replaced("SendSymmetricKeyCache", OnlyTheLast),
)
for _name, _cache in (("sent", "SendSymmetricKeyCache"), ("received", "ReceiveSymmetricKeyCache")):
    add(
        f"{_name}-key-lifetime-doubled",
        "MQQB-3.1.1.3-14",
        f"The cleanup timer of {_cache} runs for two lifetimes.",
        cleanup_late(_cache),
    )
