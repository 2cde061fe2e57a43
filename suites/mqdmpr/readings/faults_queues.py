"""Faults that follow another possible meaning of an unclear passage about opening and closing queues (MS-MQDMPR
3.1.7.1) than the one that the project chose.
"""

from __future__ import annotations

from harness.faults.parts import faulty_only_if, follows_reading_of_erratum
from reference_qm.codec import PublicName
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import parse_format_name_of_command
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from suites.mqdmpr.s3_1_7_1_26_get_queue_path.faults_29_to_35 import PathOfRemotePrivateNameIsLocalQueue


@follows_reading_of_erratum("E160.2")
class UnknownPublicFormatNamesRefused(HigherLayerCommands):
    """The queue manager refuses a public format name that the directory does not contain, unless the queue manager is
    offline.
    """

    @faulty_only_if(lambda part, *_: not part.qm.enterprise.state.DirectoryOffline)
    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        find_local_queue = self.qm.destination_resolving.find_local_queue
        public = isinstance(parse_format_name_of_command(request.to), PublicName)
        known = public and (find_local_queue(request.to) or self.qm.next_hops.get_destination_info(request.to))
        if public and known is None:
            raise CommandError(f"{request.to!a} is not in the directory (MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION)")
        return super().send_message(request, token, now)


@follows_reading_of_erratum("E161.2")
class EveryPrivateQueueNumberTreatedAsLocal(PathOfRemotePrivateNameIsLocalQueue):
    """The queue manager searches its own queues for the path of a private queue, even if the queue belongs to another
    computer.
    """
