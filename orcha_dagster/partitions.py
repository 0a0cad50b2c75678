"""One dynamic partition per ingestion, keyed by its UUID."""

import dagster as dg

INGESTIONS = "ingestions"
ingestion_partitions = dg.DynamicPartitionsDefinition(name=INGESTIONS)
