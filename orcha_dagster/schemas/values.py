"""Values in their normal form, as schemas describe them to people, to models and to JSON Schema."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Amount = Annotated[str, Field(pattern=r"^-?\d+(\.\d+)?$", description="A plain decimal with a point, such as 1234.50.")]
Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", description="An ISO date, such as 2026-11-18.")]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="An ISO 4217 code, such as EUR.")]
Rate = Annotated[str, Field(pattern=r"^\d+(\.\d+)?$", description="Per cent, such as 19 or 5.5.")]


class SchemaModel(BaseModel):
    """What is not printed on the document is left out, never guessed."""

    model_config = ConfigDict(extra="forbid")
