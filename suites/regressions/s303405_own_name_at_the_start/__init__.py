"""REGRESSIONS 303405 KB303405 Own name at the start.

MSMQ 2.0 of Windows 2000. When it starts without a network, messages in its queues that were sent by a direct name with
the computer's fully qualified name are taken for those of another computer: they are to be forwarded, and the start
never ends. The fix compares that name with the NetBIOS name, too, and leaves them in their queues.
"""
