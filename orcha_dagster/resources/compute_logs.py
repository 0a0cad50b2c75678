"""Where Dagster keeps what runs print: S3 when a bucket is configured (dagster-aws), else a folder.

Named in dagster.yaml, which can read values from the environment but not choose a class by them.
"""

from collections.abc import Mapping
from typing import Any

from dagster import Field, Noneable, StringSource
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._serdes import ConfigurableClassData


class ComputeLogs(LocalComputeLogManager):
    @classmethod
    def config_type(cls) -> dict[str, Any]:
        return {"bucket": Field(Noneable(StringSource), is_required=False), "base_dir": StringSource}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> Any:  # Dagster asks only for some compute log manager
        if config_value.get("bucket"):
            # Imported here: it takes half a second, in every process that Dagster starts.
            from dagster_aws.s3 import S3ComputeLogManager

            return S3ComputeLogManager(bucket=config_value["bucket"], prefix="orcha", inst_data=inst_data)
        return LocalComputeLogManager(config_value["base_dir"], inst_data=inst_data)
