"""The interface for faults: a subclass of one part replaces this part in one queue manager."""

import pytest
from core_network import Network, direct

from harness.faults import registry
from harness.faults.parts import fault, override_method, replace_part
from harness.faults.primitives import omit_step, replace_method_during
from harness.faults.registry import FaultyCore
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.transfer.message_sending import MessageSending


class OneMore(MessageNumbering):
    """Adds one to every ordinal."""

    def assign_message_ordinal(self) -> int:
        return super().assign_message_ordinal() + 1


class TenTimes(MessageNumbering):
    """Multiplies every ordinal by ten."""

    def assign_message_ordinal(self) -> int:
        return super().assign_message_ordinal() * 10


class NoWindow(MessageSending):
    """Permits no message to be sent."""

    def may_send(self, session) -> bool:
        return False


@pytest.fixture
def host():
    return Network().host(1)


@pytest.fixture
def faulty(host):
    return FaultyCore(host.core)


def test_two_faults_of_one_part_compose_and_the_last_is_outermost(faulty):
    core = faulty.core
    for one in (OneMore, NoWindow, TenTimes):
        replace_part(one)(faulty)
    assert core.message_numbering.assign_message_ordinal() == (1 + 1) * 10
    assert core.message_sending.may_send(None) is False
    assert isinstance(core.message_numbering, TenTimes) and isinstance(core.message_numbering, OneMore)
    assert core.message_numbering.assign_message_ordinal() == (2 + 1) * 10
    assert type(Network().host(1).core.message_numbering) is MessageNumbering, "only one queue manager has them"


def test_a_fault_that_is_a_function_composes_with_one_that_is_a_class(faulty):
    replace_part(
        override_method(MessageNumbering.assign_message_ordinal, lambda original: lambda qm: original(qm) + 5)
    )(faulty)
    replace_part(TenTimes)(faulty)
    replace_part(override_method(MessageNumbering.assign_message_ordinal, lambda original: lambda qm: -original(qm)))(
        faulty
    )
    assert faulty.core.message_numbering.assign_message_ordinal() == -(1 + 5) * 10


def test_faulty_step_is_called_by_other_steps_of_its_part(faulty, host):
    counted = []

    class Counting(MessagePositions):
        """Counts every LookupIdentifier that is assigned."""

        def assign_lookup_identifier(self, message):
            counted.append(self.qm)
            return super().assign_lookup_identifier(message)

    replace_part(Counting)(faulty)
    omit_step(MessagePositions.on_message_available)(faulty)
    host.send(direct(1))
    assert counted == [faulty.core], "insert_message of the same part calls it"


def test_fault_replaces_a_method_only_while_a_second_method_runs(faulty, host):
    replace_method_during(
        MessagePositions.insert_message, MessagePositions.assign_lookup_identifier, lambda *_: lambda qm, message: 77
    )(faulty)
    host.send(direct(1))
    (position,) = host.core.queue_names.find_queue_by_path("private$\\plain").MessagePositionList
    assert position.LookupIdentifier == 77
    assert host.core.message_positions.assign_lookup_identifier(position.MessageReference) & 0xFFFF == 1


def test_fault_class_is_registered_with_its_docstring(monkeypatch):
    monkeypatch.setattr(registry, "_FAULTS", {})
    assert fault("ten-times", breaks="MQQB-1")(TenTimes) is TenTimes
    fault("by-two", breaks=("MQQB-1", "MQQB-2"))(OneMore)
    known = registry._FAULTS
    assert (known["ten-times"].breaks, known["ten-times"].says) == (("MQQB-1",), "Multiplies every ordinal by ten.")
    assert known["by-two"].breaks == ("MQQB-1", "MQQB-2")
    with pytest.raises(ValueError, match="two faults"):
        fault("by-two", breaks="MQQB-1")(OneMore)
    with pytest.raises(TypeError, match="no docstring"):
        fault("silent", breaks="MQQB-1")(type("Silent", (MessageSending,), {}))


class Unknown(QueueManagerPart):
    """A part that no queue manager has."""


class Both(MessageSending, QueueQuotas):
    """A class that derives from two parts."""


def test_fault_of_a_class_that_is_no_part_is_a_type_error(faulty):
    with pytest.raises(TypeError, match="Unknown is not a part"):
        replace_part_by_subclass(faulty.core, Unknown)
    with pytest.raises(TypeError, match="derives from 2 parts"):
        replace_part(Both)
    with pytest.raises(TypeError, match="not a method of a part"):
        override_method(FaultyCore.restore, lambda original: original)
