"""Manages queues: their messages, reads, cursors and transactions. Spec: MS-MQDMPR."""
