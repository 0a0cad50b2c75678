"""Tickets: what remembers work that was handed in elsewhere and is fetched later."""

from datetime import datetime

from pydantic import Field

from orcha_dagster.domain.model import DomainModel


class Ticket(DomainModel):
    """The requests about one document that lie in batches of a provider."""

    batches: dict[str, str | None] = Field(
        default_factory=dict
    )  # the batch by request; None: about to be handed in, perhaps it was
    handed_in_at: datetime | None = None  # the last time any of them was
