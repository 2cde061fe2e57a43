"""MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive."""
