"""`orcha migrate`: bring the database to the schema this version needs."""

from orcha_dagster.adapters.postgres.migrating import migrate as migrate_database
from orcha_dagster.cli.connections import get_database_url
from orcha_dagster.cli.screen import console
from orcha_dagster.settings import load_settings


def migrate() -> None:
    """Apply the migrations that are missing; safe to repeat."""
    migrate_database(get_database_url(load_settings()))
    console.print("The schema is up to date.")
