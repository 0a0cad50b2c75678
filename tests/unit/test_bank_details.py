"""The account to pay to. The numbers are those of the standard's own example, or invented."""

from orcha_dagster.rules.bank_details import find_iban
from orcha_dagster.rules.layout import lay_out
from tests.fake_providers import transcription_of

VALID = "DE89370400440532013000"


def iban(*rows: str) -> str | None:
    field = find_iban(lay_out(transcription_of(*rows)))
    return field.value if field else None


def test_spaces_between_the_groups_are_taken_out() -> None:
    assert iban("IBAN: DE89 3704 0044 0532 0130 00 · BIC COBADEFFXXX") == VALID


def test_an_account_is_known_by_its_check_digits_without_a_label() -> None:
    assert iban(f"Pay to {VALID}, thank you") == VALID


def test_without_label_and_with_wrong_check_digits_it_is_something_else() -> None:
    assert iban("Order DE88370400440532013000") is None


def test_a_labelled_account_is_kept_even_if_its_check_digits_are_wrong() -> None:
    assert iban("IBAN DE88370400440532013000") == "DE88370400440532013000"


def test_letters_that_were_read_for_digits_are_put_right() -> None:
    assert iban("IBAN DE89 37O4 0044 O532 0I30 00") == VALID


def test_an_account_broken_over_two_lines_is_joined() -> None:
    assert iban("IBAN | SWIFT", "DE89 3704 0044 0532 | X", "0130 00 | Y") == VALID


def test_an_account_that_money_is_collected_from_is_not_paid_to() -> None:
    assert iban(f"We collect by direct debit from {VALID}") is None


def test_a_number_of_the_wrong_length_is_no_account() -> None:
    assert iban("IBAN DE89 3704 0044 0532") is None
