"""Let two systems, without the reference, exchange messages through the tester's relays. ``systems`` opens both and
relays their traffic, ``scenarios`` defines the exchanges, ``outcomes`` determines the results, ``running`` runs all
scenarios in both directions, ``grid`` shows the results.
"""
