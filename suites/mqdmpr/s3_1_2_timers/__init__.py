"""MS-MQDMPR 3.1.2 Timers."""
