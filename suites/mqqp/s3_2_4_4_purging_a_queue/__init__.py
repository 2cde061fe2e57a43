"""MS-MQQP 3.2.4.4 Purging a Queue."""
