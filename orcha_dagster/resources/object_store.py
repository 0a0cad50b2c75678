"""The object store for Dagster's side."""

import dagster as dg

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.interfaces.object_store import ObjectStore


class ObjectStoreResource(dg.ConfigurableResource[None]):
    """Where documents and artifacts lie."""

    url: str

    def get_object_store(self) -> ObjectStore:
        return ObstoreObjects(self.url)
