"""MS-MQQP 2.1 Transport, with 1.8, 1.9."""
