"""Settings of a benchmark's stack: Orcha's defaults and what the benchmark chose, whatever `.env` and the shell say."""

import os

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from orcha_dagster.cli.environment import dagster_variables
from orcha_dagster.settings import Settings

_PREFIXES = ("ORCHA_", "DAGSTER_", "PG")


class BenchSettings(Settings):
    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  (the signature is pydantic's)
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings


def forget_chosen_settings() -> None:
    """What somebody chose for their own Orcha is not measured, and not touched."""
    for name in [name for name in os.environ if name.startswith(_PREFIXES)]:
        del os.environ[name]


def stack_environment(settings: Settings) -> dict[str, str]:
    """Every setting by name, because Dagster's processes read it from there."""
    chosen = {f"ORCHA_{name.upper()}": str(value) for name, value in settings if value is not None}
    return {**os.environ, **dagster_variables(settings), **chosen}
