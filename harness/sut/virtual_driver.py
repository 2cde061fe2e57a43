"""Drive a SUT that runs in this process, in virtual time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from types import MappingProxyType
from uuid import UUID

from harness.environment import VirtualEnvironment
from harness.environment.system_host import SystemHost
from harness.faults.registry import find_fault, wrap
from harness.sut.control import Control, VirtualControl
from harness.sut.limited_control import add_remote_reading_to_control, limit_facilities_of_control
from harness.sut.more_queues import QueueEntry
from harness.sut.provisioning import (
    GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY,
    GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS,
    build_restricted_queue,
    build_virtual_security,
)
from harness.sut.sut import CheckNotesInterface, Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE, UNUSED_ADDRESS, SutFile
from harness.sut.sut_process import ProcessEnd
from harness.sut.view import SutIdentity, build_sut_view, request_identity
from harness.sut.virtual_directory import PEER_HOST_NAME, build_virtual_directory
from reference_qm.config import DEFAULT_QUOTA_KB, QueueManagerConfig, QueueSettings
from reference_qm.control import VERBS_BY_FACILITY
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.releases.names import NO_RELEASE
from reference_qm.releases.table import adapt_config_to_release, get_parts_that_imitate_release
from reference_qm.security import SecurityConfig, SecuritySettings
from reference_qm.surface.entropy import SeededEntropy, generate_guid
from reference_qm.surface.queue_manager_environment import QueueManagerEnvironment

HOST_WITH_TWO_ADDRESSES = "mqc-peer.example"
THIRD_ADDRESS_OF_PEER_HOST = "127.0.0.253"
"""A third address for the host name ``HOST_WITH_TWO_ADDRESSES``, at which no program listens. For a real system, the
name may have only two addresses.
"""
SUT_COMPUTER_NAME = "sut"


def derive_entropy(seed: str) -> SeededEntropy:
    """Return the entropy of the reference for one test. The first GUID in it becomes the QueueManager.Identifier."""
    return SeededEntropy(f"sut {seed}")


def _configure_queue(entry: QueueEntry) -> QueueSettings:
    return QueueSettings(
        entry.name,
        transactional=entry.transactional,
        authenticated=entry.authenticated,
        privacy=PrivacyLevel[entry.privacy.upper()],
        quota_kb=entry.quota_kb,
        journaling=entry.journaling,
        journal_quota_kb=entry.journal_quota_kb,
    )


class VirtualDriver:
    """A driver that creates a new reference core for each test. The core has the faults in the SUT file. ``raises``
    states whether an exception of the core is passed to the caller; otherwise, the exception ends the system.
    """

    def __init__(self, file: SutFile, *, raises: bool = False) -> None:
        self.file = file
        self.shared = self.are_other_workers_running = False
        self.start_wait_s = 0
        self.identifier: UUID | None = None
        self._raises = raises
        self._host: SystemHost | None = None
        self._tape: CheckNotesInterface | None = None
        """The host of the reference core and the notes in the capture, both of the latest test."""

    def _configure_security(self, peer: UUID) -> SecurityConfig:
        rejects = self.file.provisioned.reject_enhanced_rc2_using_40_bit_keys
        return replace(build_virtual_security(peer), settings=SecuritySettings(RejectEnhancedRC2Using40BitKeys=rejects))

    def start(self) -> None:
        for name in self.file.reference.faults:
            find_fault(name)

    def open(
        self, seed: str, run: str = "", fresh_peer: int | None = None, needs: Collection[str] = frozenset()
    ) -> Sut:
        file, driver = self._select_sut_file(needs), self.file.driver
        environment = VirtualEnvironment()
        if self.file.capabilities.get("two_addresses", False):
            environment.hosts[HOST_WITH_TWO_ADDRESSES] = (
                UNUSED_ADDRESS,
                driver.peer_address,
                THIRD_ADDRESS_OF_PEER_HOST,
            )
        entropy = derive_entropy(seed)
        secure = self.file.capabilities.get("security", False)
        fresh_peers = (GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, GUID_OF_QUEUE_MANAGER_WITHOUT_KEYS) if secure else ()
        identifier = generate_guid(entropy)
        integrated = file.capabilities.get("directory", False)
        config = QueueManagerConfig(
            identifier=identifier,
            host_name=f"{SUT_COMPUTER_NAME}.example",
            addresses=(driver.address,),
            remote_tcp_port=driver.peer_tcp_port,
            remote_ping_port=driver.peer_ping_port,
            remote_rpc_port=driver.peer_rpc_port,
            send_ping=self.file.reference.send_ping and self.file.reference.release == NO_RELEASE,
            queues=(
                QueueSettings(self.file.queues.plain),
                QueueSettings(self.file.queues.transactional, transactional=True),
                QueueSettings(self.file.queues.admin),
                *([build_restricted_queue(self.file.queues.restricted)] if secure else []),
                *(_configure_queue(one) for one in self.file.more_queues if one.name not in self.file.queues.names),
            ),
            public_queues={PEER_PUBLIC_QUEUE: driver.peer_identifier},
            routes=dict.fromkeys((driver.peer_identifier, *fresh_peers), driver.peer_address),
            security=self._configure_security(driver.peer_identifier) if secure else SecurityConfig(),
            send_insecure_nacks=self.file.provisioned.send_insecure_nacks,
            queue_manager_quota_kb=self.file.provisioned.quota_kb or DEFAULT_QUOTA_KB,
            directory_integrated=integrated,
            rpc_server=self.file.rpc.server,
            rpc_client=self.file.rpc.client,
        )
        environment.hosts[PEER_HOST_NAME] = (driver.peer_address,)
        users = config.security.accounts
        directory = (
            build_virtual_directory(driver, identifier, SUT_COMPUTER_NAME, entropy, users) if integrated else None
        )
        faults = self.file.reference.faults
        release = self.file.reference.release
        configured = replace(
            adapt_config_to_release(release, config), answer_pings=True
        )  # if the system listens for pings
        installed = QueueManagerInstallation(
            configured, entropy, lambda make: wrap(make, faults), get_parts_that_imitate_release(release)
        )
        surroundings = QueueManagerEnvironment(directory, identifier)
        host = SystemHost(environment, installed, driver.address, surroundings=surroundings, raises=self._raises)
        self._host = host
        host.start()
        host.listen(driver.tcp_port)
        if self.file.capabilities.get("ping", False):
            host.listen_ping(driver.ping_port)
        if self.file.capabilities.get("qm2qm", False):
            host.listen_rpc(driver.rpc_port)
        control, who = self._open_control(host)
        view = build_sut_view(file, environment, control, who, driver.tcp_port, driver.ping_port, driver.rpc_port)
        self._tape = view.tape
        view.process_ended = self.describe_end
        view.hangs = self._is_core_hanging
        return view

    def _open_control(self, host: SystemHost) -> tuple[Control | None, SutIdentity]:
        """Open the control channel that the SUT file describes, with all facilities or with the facilities in the
        SUT file. Return None if the SUT file describes no control channel.
        """
        control = VirtualControl(host)
        who, offered = request_identity(control), self.file.reference.facilities
        if offered == tuple(VERBS_BY_FACILITY):
            return control, who
        limited, who = (
            limit_facilities_of_control(control, who, offered) if offered else (None, SutIdentity(who.identifier))
        )
        return add_remote_reading_to_control(limited, who, host.environment, self.file, self.file.driver.rpc_port)

    def _select_sut_file(self, needs: Collection[str]) -> SutFile:
        """Return the SUT file for a check. A system that can have a directory has one only if the check needs it."""
        if "directory" in needs:
            return self.file
        return replace(self.file, capabilities=MappingProxyType({**self.file.capabilities, "directory": False}))

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return a description of the exception that ended the core of the current test, or None while the core
        runs.
        """
        return None if self._host is None else self._record_observation("ended", self._host.ended)

    def _is_core_hanging(self) -> bool:
        """Return whether the core of the current test is in an endless computation."""
        assert self._host is not None
        return self._record_observation("hangs", "it hangs" if self._host.hangs else None) is not None

    def _record_observation(self, what: str, found: str | None) -> str | None:
        return found if self._tape is None else self._tape.record_observation(what, found)

    def describe_unexpected_end(self, *, has_other_side_closed_connection: bool) -> str | None:
        """Return a description of the exception that ended the core of the current test, or None while the core
        runs.
        """
        return self.describe_end()

    def take_process_end(self, check: str | None) -> ProcessEnd | None:
        """Return None, because the next test uses a new system."""
        return None

    def start_again(self) -> None:
        """Do nothing, because each test has its own system."""

    def confirm_same_system(self) -> None:
        """Do nothing, because each test has its own system."""

    def stop(self) -> None:
        """Do nothing, because no system outlives its test."""
