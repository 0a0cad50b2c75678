"""`orcha up` with the recorded definitions."""

from orcha_dagster.cli.up import run_in_foreground
from orcha_dagster.settings import ChosenSettings, load_settings

if __name__ == "__main__":
    run_in_foreground(load_settings(ChosenSettings), definitions="tests.end_to_end.recorded_definitions")
