"""MS-MQQP 3.1.6 Rundown, with 3.1.6.1, 3.1.6.2."""
