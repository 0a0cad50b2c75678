"""How much at once, how long and how often: the numbers that sensors and steps share."""

import dagster as dg

from orcha_dagster.domain.retrying import RetryPolicy
from orcha_dagster.pipeline.ingestion_line import LineSettings


class PaceResource(dg.ConfigurableResource[None]):
    max_in_flight: int
    max_concurrent_runs: int
    ingestions_per_run: int
    lease_seconds: float
    max_attempts: int
    retry_delay_seconds: float
    stale_message_seconds: float
    io_concurrency: int
    stage_seconds: float
    stop_grace_seconds: float
    partition_days: float

    def get_line_settings(self) -> LineSettings:
        return LineSettings(
            lease_seconds=self.lease_seconds,
            stage_seconds=self.stage_seconds,
            concurrency=self.io_concurrency,
            retry=RetryPolicy(max_attempts=self.max_attempts, first_delay_seconds=self.retry_delay_seconds),
        )
