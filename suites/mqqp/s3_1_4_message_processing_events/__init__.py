"""MS-MQQP 3.1.4 Message Processing Events and Sequencing Rules."""
