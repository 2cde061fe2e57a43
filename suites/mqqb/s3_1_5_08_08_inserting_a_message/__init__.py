"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue."""
