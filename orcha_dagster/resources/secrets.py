"""Secrets from AWS Secrets Manager, where one is configured (dagster-aws)."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg


class SecretsResource(dg.ConfigurableResource[None]):
    """Secrets that carry the tag key become environment variables for the time of a step; no tag, no call."""

    tag: str | None

    @contextmanager
    def in_environment(self) -> Iterator[None]:
        if not self.tag:
            yield
            return
        # Imported here: it takes half a second, in every process that Dagster starts.
        from dagster_aws.secretsmanager import SecretsManagerSecretsResource

        manager = SecretsManagerSecretsResource(secrets_tag=self.tag)
        with manager.secrets_in_environment():
            yield
