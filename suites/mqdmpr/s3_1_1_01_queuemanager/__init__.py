"""MS-MQDMPR 3.1.1.1 QueueManager."""
