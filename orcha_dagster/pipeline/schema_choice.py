"""Which schema a document is read with: the one somebody chose at submit, else the one its words speak for."""

import re
from collections.abc import Mapping

from orcha_dagster.domain.errors import SchemaUnknown
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.rules.document_kinds import guess_kind
from orcha_dagster.schemas.loading import BUILT_IN


def choose_schema(
    transcription: Transcription, schemas: Mapping[str, DocumentSchema], *, chosen: str | None
) -> tuple[DocumentSchema, str]:
    """The schema, and why."""
    if chosen is not None:
        if chosen not in schemas:
            raise SchemaUnknown(f"The document was submitted with the schema {chosen!r}; there is none of that name.")
        return schemas[chosen], "chosen at submit"
    own = _most_spoken_for(transcription, schemas)
    if own is not None:
        schema, words = own
        return schema, f"the text says {', '.join(words)}"
    kind, words = guess_kind(transcription)
    return schemas[kind], f"the text says {', '.join(words)}" if words else "nothing in the text says what it is"


def _most_spoken_for(
    transcription: Transcription, schemas: Mapping[str, DocumentSchema]
) -> tuple[DocumentSchema, list[str]] | None:
    """A user's schema, before the built-in ones: whoever wrote it knows these documents better."""
    text = transcription.text.casefold()
    best: tuple[DocumentSchema, list[str]] | None = None
    for name, schema in schemas.items():
        if BUILT_IN.get(name) is schema:
            continue
        words = [word for word in schema.keywords if _is_in(word, text)]
        if words and (best is None or len(words) > len(best[1])):
            best = schema, words
    return best


def _is_in(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text) is not None
