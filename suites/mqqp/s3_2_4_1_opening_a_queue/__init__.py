"""MS-MQQP 3.2.4.1 Opening a Queue."""
