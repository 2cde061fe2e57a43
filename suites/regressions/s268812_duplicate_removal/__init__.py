"""REGRESSIONS 268812 KB268812 Duplicate removal against exactly once.

MSMQ 1.0 from NT 4.0 SP4 on, 2.0 of Windows 2000 SP1. Transactional messages to another machine are taken no more after
a time, and again after a restart of the receiver, until it begins anew. What removes duplicates of express and
recoverable messages, by their identifiers, looks at transactional ones as well, whose sequence alone may tell.
"""
