"""The part of EDN (the data notation of Clojure) that Orcha writes and reads: what both directions agree on.

| Python                          | EDN                                    |
|---------------------------------|----------------------------------------|
| dict with text as keys          | map; `quality_score` is `:quality-score`, a key that is no such name stays text |
| list, tuple                     | vector                                 |
| str, also of an enumeration     | string                                 |
| int                             | integer, with N beyond 64 bits         |
| float                           | float, `##NaN`, `##Inf`, `##-Inf`      |
| Decimal                         | `1.50M`                                |
| bool, None                      | `true`, `false`, `nil`                 |
| UUID, datetime with time zone   | `#uuid "…"`, `#inst "…"`               |

Lists, sets, symbols, characters, other tags, discarded forms and keywords in place of a value are not part of it: no
model holds them, and a reader that guessed what they mean would not give back what was written. How models become
EDN: `model`.
"""

import re

# The models need eight. Writing takes up to four calls a level, and Python allows a thousand.
MAX_DEPTH = 100
SMALLEST_LONG, LARGEST_LONG = -(2**63), 2**63 - 1  # what Clojure reads without N as an integer of 64 bits
# Both directions are exact because such a name has no hyphen; every other key is written as a string.
FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z", re.ASCII)
NOT_A_NUMBER, INFINITY, MINUS_INFINITY = "##NaN", "##Inf", "##-Inf"


class EdnError(ValueError):
    """A text that is not EDN as Orcha writes it, or a value that EDN as Orcha writes it cannot hold."""
