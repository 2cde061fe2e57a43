"""MS-MQSO 6.6.2.1 Interactions with Directory Service on Domain Join or Changes, with 6.6.2.2."""
