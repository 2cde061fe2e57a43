"""The queue side of a queue manager: queues, descriptors, cursors, reads and moves. Spec: MS-MQDMPR 3.1, 3.2."""
