"""MS-MQQB 3.1.1.7.3 Session with Transactional Messages Sent."""
