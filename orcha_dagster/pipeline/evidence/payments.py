"""What receipts say about the money handed over: given less change is what was to be paid."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from orcha_dagster.pipeline.matching.page_index import PageIndex

_GIVEN = re.compile(
    r"(?<![a-z])(?:cash|tender(?:ed)?|paid|payment|received|accepted|bar|gegeben|erhalten|especes|recu|visa|master(?:card)?|"
    r"card|karte|ec-cash|girocard|carte|cb|debit|credit|nets|amex)(?![a-z])"
)
_CHANGE = re.compile(r"(?<![a-z])(?:change|changed|ruckgeld|zuruck|rendu|monnaie)(?![a-z])")


@dataclass(frozen=True)
class Payment:
    given: frozenset[Decimal]  # every amount that is labelled as handed over
    change: frozenset[Decimal]  # every amount that is labelled as given back

    def confirms(self, total: Decimal) -> bool:
        return total in self.given or any(given - back == total for given in self.given for back in self.change)

    def contradicts(self, total: Decimal) -> bool:
        """Both were printed, and no pair of them leaves the total. Money given exactly leaves no change."""
        return bool(self.given and self.change) and not any(
            given - back == total for given in self.given for back in self.change
        )


def find_payment(pages: Sequence[PageIndex]) -> Payment:
    given: set[Decimal] = set()
    change: set[Decimal] = set()
    for page in pages:
        for row, amounts in page.money_by_row.items():
            text = page.folded_rows[row]
            if _CHANGE.search(text):
                change.add(abs(amounts[-1]))
            elif _GIVEN.search(text):
                given.add(abs(amounts[-1]))
    return Payment(frozenset(given), frozenset(change))
