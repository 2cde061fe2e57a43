"""MS-MQDMPR 3.1.7.1.11 Dequeue Message Begin."""
