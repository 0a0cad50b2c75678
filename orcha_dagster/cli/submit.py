"""`orcha submit`: hand documents over."""

from pathlib import Path
from typing import Annotated

import typer

from orcha_dagster.cli.connections import get_object_store, get_queue, open_ledger
from orcha_dagster.cli.screen import console, print_json
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.pipeline.submitting import submit_document
from orcha_dagster.schemas.loading import load_schemas
from orcha_dagster.settings import load_settings


def submit(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="PDF, PNG, JPEG, TIFF, WEBP, HEIC or e-invoice XML files.", exists=True, dir_okay=False, readable=True
        ),
    ],
    case: Annotated[int, typer.Option(min=0, help="Whose documents.")] = 0,
    batch: Annotated[int, typer.Option(min=0, help="Which delivery of them.")] = 0,
    schema: Annotated[str | None, typer.Option(help="What kind of document; without it the text decides.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Store documents and ring for their ingestions."""
    settings = load_settings()
    if schema is not None and schema not in (known := load_schemas(settings.schemas_folder)):
        raise ConfigurationError(f"There is no schema {schema!r}.", remedy=f"There are: {', '.join(sorted(known))}.")
    objects, queue = get_object_store(settings), get_queue(settings)
    submitted = []
    with open_ledger(settings) as ledger:
        for file in files:
            ingestion_id = submit_document(
                file.name,
                file.read_bytes(),
                case_id=case,
                batch_id=batch,
                schema_name=schema,
                objects=objects,
                ledger=ledger,
                queue=queue,
            )
            submitted.append({"file": str(file), "ingestion": str(ingestion_id)})
            if not as_json:
                console.print(f"{ingestion_id}  {file}", soft_wrap=True)
    if as_json:
        print_json(submitted)
