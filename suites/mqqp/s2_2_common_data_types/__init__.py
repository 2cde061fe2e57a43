"""MS-MQQP 2.2 Common Data Types, with 2.2.1.1, 2.2.1.2."""
