"""MS-MQQP 3.1.1 Server data model, with 3.1.1.3, 3.1.1.5."""
