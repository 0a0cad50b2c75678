"""What passes for language on a page and what does not, in the languages and layouts that documents come in."""

import random
import string

import pytest

from orcha_dagster.adapters.pdf.text_sanity import is_garbled

PROSE = {
    "en": "The goods were sent and should reach you within seven days. Please check whether something is missing.",
    "de": "Die Ware wurde am Montag verschickt und sollte vor Ende der Woche bei Ihnen sein. Bitte gleich prüfen.",
    "fr": "La marchandise a été expédiée lundi et devrait vous parvenir avant la fin de la semaine. Veuillez vérifier.",
    "es": "La mercancía se envió el lunes y debería llegarle antes de que termine la semana. Compruébela en seguida.",
    "pl": "Towar został wysłany w poniedziałek i powinien dotrzeć przed końcem tygodnia. Prosimy od razu sprawdzić.",
    "el": "Τα εμπορεύματα στάλθηκαν τη Δευτέρα και αναμένεται να φτάσουν πριν από το τέλος της εβδομάδας.",
    "ru": "Товар был отправлен в понедельник и должен прибыть до конца недели. Пожалуйста, проверьте его сразу.",
}


def judge(text: str, *, unknown_characters: int = 0) -> bool:
    return is_garbled(text.split(), unknown_characters=unknown_characters)


@pytest.mark.parametrize("language", PROSE)
def test_prose_is_not_garbled(language: str) -> None:
    assert not judge(PROSE[language])
    assert not judge(PROSE[language].upper())


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"{number}.00 {number * 7:,}" for number in range(1000, 1200)),
        " ".join(f"DE{number}XK-{number % 97}QZ 1 pc" for number in range(4000, 4060)),
        " ".join(f"Chapter {number} {'.' * 60} {number}" for number in range(20)),
        "| " * 40 + "Name ________ Date ________ Place ________ " * 4,
        "",
    ],
    ids=["numbers", "codes", "leaders", "form", "nothing"],
)
def test_tables_numbers_and_forms_are_not_garbled(text: str) -> None:
    assert not judge(text)


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "pl"])
@pytest.mark.parametrize("seed", range(5))
def test_exchanged_letters_are_garbled(language: str, seed: int) -> None:
    letters = list(string.ascii_lowercase)
    random.Random(seed).shuffle(letters)
    exchange = str.maketrans(string.ascii_lowercase, "".join(letters))
    assert judge(PROSE[language].lower().translate(exchange))


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_accents_that_became_two_signs_are_garbled(encoding: str) -> None:
    text = "Größe und Länge prüfen für schöne Möbel, Stückpreis zuzüglich Umsatzsteuer, Überweisung genügt"
    assert not judge(text)
    assert judge(text.encode().decode(encoding, "replace"))


def test_another_alphabet_in_the_wrong_encoding_is_garbled() -> None:
    assert judge(PROSE["ru"].encode("cp1251").decode("latin-1"))


def test_signs_instead_of_letters_are_garbled() -> None:
    assert judge("".join(random.Random(4).choices("!\"#$%&'()*+,-./:;<=>?@[]^_{|}~ ab", k=600)))


def test_many_unknown_characters_are_garbled_and_a_few_bullets_are_not() -> None:
    assert not judge(PROSE["en"], unknown_characters=5)
    assert judge(PROSE["en"], unknown_characters=40)
