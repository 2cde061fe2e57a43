"""MS-MQDMPR 3.1.7.1.10 Dequeue Message."""
