"""The questions that have a name: one SQL file each in `questions/`, the same text for DuckDB and for Athena.

A file opens with a comment: its first line is the title, the rest says what is answered.
"""

from functools import cache
from importlib import resources
from uuid import UUID

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.model import DomainModel

CURRENT_STATE = "current_state"
TIMELINE = "timeline"
# In the order in which a report shows them; a view comes before those that ask it.
NAMES = (
    CURRENT_STATE,
    "states",
    "throughput",
    "stage_latency",
    "failures",
    "retries",
    "review_rate",
    "cost_per_case",
    "in_flight",
    TIMELINE,
)
_INGESTION = "{ingestion}"


class Question(DomainModel):
    name: str
    title: str
    meaning: str
    sql: str  # with a place for the ingestion where it is about one

    @property
    def is_about_one_ingestion(self) -> bool:
        return _INGESTION in self.sql

    def about(self, ingestion_id: UUID | None) -> str:
        """The SQL to run. An id is hexadecimal digits and hyphens, so it can stand between quotes."""
        if not self.is_about_one_ingestion:
            return self.sql
        if ingestion_id is None:
            raise ConfigurationError(
                f"The question {self.name} is about one ingestion.", remedy="Name it: `--ingestion ID`."
            )
        return self.sql.replace(_INGESTION, str(ingestion_id))


@cache
def get_question(name: str) -> Question:
    if name not in NAMES:
        raise ConfigurationError(f"There is no question {name!r}.", remedy=f"There are: {', '.join(NAMES)}.")
    folder = resources.files("orcha_dagster.analysis") / "questions"
    return _parse(name, (folder / f"{name}.sql").read_text(encoding="utf-8"))


def list_questions() -> list[Question]:
    return [get_question(name) for name in NAMES]


def _parse(name: str, text: str) -> Question:
    lines = text.strip().splitlines()
    comment = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    sql = "\n".join(line for line in lines if not line.startswith("--"))
    return Question(name=name, title=comment[0], meaning=" ".join(comment[1:]), sql=sql)
