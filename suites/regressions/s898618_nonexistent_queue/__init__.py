"""REGRESSIONS 898618 KB898618 Nonexistent queue.

MSMQ 3.0, also with the BizTalk adapter for MSMQ. Transactional messages to a queue that does not exist stay in the
outgoing queue, where they are expected among the dead letters. The article does not say on which side the fault is.
"""
