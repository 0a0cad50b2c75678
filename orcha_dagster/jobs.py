"""The job that carries ingestions through the five assets."""

import dagster as dg

from orcha_dagster.assets.ingestions import ingestion_stages
from orcha_dagster.run_tags import INGEST_JOB

# A process per step: a document that kills its step leaves the run alive to record it.
ingest = dg.define_asset_job(
    name=INGEST_JOB,
    selection=dg.AssetSelection.assets(ingestion_stages),
    executor_def=dg.multiprocess_executor,
    description="Carries one or many ingestions from their documents to their verdicts.",
)
