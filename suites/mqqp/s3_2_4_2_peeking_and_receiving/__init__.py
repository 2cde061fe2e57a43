"""MS-MQQP 3.2.4.2 Peeking a Message, with 3.2.4.3, 3.2.4.5, 3.2.4.6."""
