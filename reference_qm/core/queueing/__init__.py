"""Queues: messages in them, reads, cursors, transactions. Spec: MS-MQDMPR."""
