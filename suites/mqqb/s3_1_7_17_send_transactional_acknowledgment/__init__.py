"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment."""
