"""MS-MQQP 3.1.2 Timers."""
