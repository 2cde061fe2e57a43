"""Faults that break rules of MS-MQSO 5.5.4 for repeated losses of the directory only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.client_commands import ClientCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.errors import CommandError
from reference_qm.surface import remote_commands
from reference_qm.surface.clock import Now


@fault("queue-manager-checks-lost-directory-only-once", breaks="MQSO-5.5.4-01")
class QueueManagerChecksLostDirectoryOnlyOnce(DirectoryClient):
    """After the loss of the directory, the queue manager checks only once whether the directory is available again."""

    def on_directory_online_timer(self, now: Now) -> None:
        self.qm.directory_link.read(self._check_directory_online)

    def start_online_timer_if_offline(self, now: Now) -> None:
        if not self.__dict__.get("watched"):
            super().start_online_timer_if_offline(now)
        self.__dict__["watched"] = self.qm.enterprise.state.DirectoryOffline


@fault("client-started-without-directory-cannot-open-remote-queue", breaks="MQSO-5.5.4-03", blind=True)
class ClientStartedWithoutDirectoryCannotOpenRemoteQueue(ClientCommands):
    """A queue manager that started without the directory refuses to open a queue of another queue manager for
    reading, even by its direct name.
    """

    def remote_open(self, request: remote_commands.RemoteOpen, token: int, now: Now) -> None:
        if self.qm.config.directory_integrated and not self.qm.enterprise.state.DirectoryIntegrated:
            raise CommandError("the directory is not available (MQ_ERROR_NO_DS)")
        super().remote_open(request, token, now)
