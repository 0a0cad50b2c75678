"""Is everything there: the form, the indispensable fields, their places on the page, and a page that could be read."""

from collections.abc import Iterator

from orcha_dagster.pipeline.confidence import is_exact_source
from orcha_dagster.pipeline.judging.case import Case, Finding
from orcha_dagster.pipeline.judging.json_schema import find_violations

GROUNDED = 0.8  # a match that is less says the value only partly
# What the page of an e-invoice must show as well; names and currencies are often part of a picture.
PRINTED_OF_AN_EINVOICE = ("number", "issue_date", "gross")


def check_presence(case: Case) -> Iterator[Finding]:
    yield _check_schema(case)
    yield _check_critical_fields(case)
    yield _check_complete(case)
    yield _check_grounded(case)
    yield _check_reading_quality(case)


def _check_schema(case: Case) -> Finding:
    values = {name: value for name, value in case.extraction.to_structured_data().items() if name != "schema"}
    problems = find_violations(values, case.schema.json_schema)
    if not problems:
        return Finding("schema_valid", True, f"every value has the form that {case.schema.name} demands")
    more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
    return Finding("schema_valid", False, f"{'; '.join(problems[:3])}{more}", float(len(problems)))


def _check_critical_fields(case: Case) -> Finding:
    name, wanted = "critical_fields_present", case.schema.critical_fields
    if not wanted:
        found = any(field.value.strip() for field in case.extraction.fields.values())
        return Finding(name, found, "at least one field found" if found else "no field was found")
    missing = tuple(each for each in wanted if not (case.extraction.find_value(each) or "").strip())
    reason = f"missing: {', '.join(missing)}" if missing else f"{', '.join(wanted)} found"
    return Finding(name, not missing, f"{case.schema.name}: {reason}", 1 - len(missing) / len(wanted), missing)


def _check_complete(case: Case) -> Finding:
    complete = case.extraction.is_complete
    reason = "the extractor reached the end" if complete else "the extractor was cut off before the end"
    return Finding("extraction_complete", complete, reason)


def _check_grounded(case: Case) -> Finding:
    name, threshold = "grounded", case.threshold_of("grounded", GROUNDED)
    is_exact = is_exact_source(case.extraction)
    if is_exact and not any(page.lines for page in case.transcription.pages):
        return Finding(name, True, "there is no printed page to compare with")
    wanted = PRINTED_OF_AN_EINVOICE if is_exact else case.schema.critical_fields
    matches = {each: case.extraction.fields[each].match or 0.0 for each in wanted if each in case.extraction.fields}
    if not matches:
        return Finding(name, True, "no critical field to look for")
    weak = tuple(each for each, match in matches.items() if match < threshold)
    # What a model is told must not be words of the document; data that was parsed is told to people only.
    named = [f"{each} {case.extraction.find_value(each)}" if is_exact else each for each in weak]
    reason = f"not found on the page: {', '.join(named)}" if weak else f"{', '.join(matches)} stand on the page"
    return Finding(name, not weak, reason, min(matches.values()), weak)


def _check_reading_quality(case: Case) -> Finding:
    score, threshold = case.transcription.quality_score, case.threshold_of("reading_quality", case.quality_threshold)
    return Finding(
        "reading_quality", score >= threshold, f"quality {score:.2f}, threshold {threshold:.2f}", round(score, 4)
    )
