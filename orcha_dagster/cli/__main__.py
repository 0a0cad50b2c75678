"""`python -m orcha_dagster.cli`, for those who have the interpreter but not the script."""

from orcha_dagster.cli.main import run

run()
