"""Let two systems exchange messages, without the reference, through relays of the tester. ``systems`` opens both
systems and relays their traffic, ``scenarios`` defines the exchanges, ``outcomes`` determines the results,
``running`` runs all scenarios in both directions, and ``grid`` shows the results.
"""
