"""MS-MQQB 3.1.7.1.5 Encrypting the Message Body, with 3.1.7.1.5.1, 3.1.7.1.5.2."""
