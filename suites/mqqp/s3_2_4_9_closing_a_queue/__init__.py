"""MS-MQQP 3.2.4.9 Closing a Queue."""
