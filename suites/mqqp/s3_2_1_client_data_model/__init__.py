"""MS-MQQP 3.2.1 Client data model, with 3.2.1.2, 3.2.1.4."""
