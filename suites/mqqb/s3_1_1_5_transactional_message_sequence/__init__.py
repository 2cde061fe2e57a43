"""MS-MQQB 3.1.1.5 Transactional Message Sequence."""
