"""Every question that a verdict puts, in the order people read them."""

CHECK_NAMES = (
    "schema_valid",
    "critical_fields_present",
    "extraction_complete",
    "grounded",
    "reading_quality",
    "totals_add_up",
    "lines_add_up",
    "taxes_add_up",
    "amount_due",
    "payment_adds_up",
    "dates_plausible",
    "dates_ordered",
    "iban_checksum",
    "tax_id_checksum",
    "currency_known",
    "list_complete",
    "extractor_agreement",
    "duplicate_of_earlier",
    "confident_enough",
)
