"""MS-MQQP 2.1 Transport."""
