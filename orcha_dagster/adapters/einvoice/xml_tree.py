"""Somebody else's XML as a tree, and walking it by names. Knows nothing of invoices.

No entity is resolved and nothing is fetched; a document type of its own, which no e-invoice has, is refused whole.
"""

from collections.abc import Iterator

from lxml import etree

MAX_XML_BYTES = 20_000_000  # some 20,000 lines; the longest invoices of electricity suppliers have 5,000


def parse_xml(xml: bytes) -> etree._Element | None:
    """The root, or None when this is no XML, too much of it, or more than plain elements and text."""
    if len(xml) > MAX_XML_BYTES:
        return None
    # Depth is limited to 256 by libxml2 as long as huge_tree is off.
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(xml, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return root if root.getroottree().docinfo.internalDTD is None else None


def local_name(element: etree._Element) -> str:
    return str(etree.QName(element).localname)


def namespace(element: etree._Element) -> str:
    return str(etree.QName(element).namespace or "")


def walk(element: etree._Element | None, path: str) -> Iterator[etree._Element]:
    """The elements at the end of a path such as `Header|OldHeader/ID`, in any namespace: each version has its own."""
    if element is None:
        return
    step, _, rest = path.partition("/")
    for name in step.split("|"):
        for child in element.iterchildren(f"{{*}}{name}"):
            if rest:
                yield from walk(child, rest)
            else:
                yield child


def find(element: etree._Element | None, path: str) -> etree._Element | None:
    return next(walk(element, path), None)


def text_of(element: etree._Element | None) -> str | None:
    """The text of an element itself, spaces and line breaks made one space."""
    if element is None:
        return None
    return " ".join((element.text or "").split()) or None


def find_text(element: etree._Element | None, path: str) -> str | None:
    return next((text for found in walk(element, path) if (text := text_of(found))), None)


def find_text_in_currency(element: etree._Element | None, path: str, currency: str | None) -> str | None:
    """The text of the first element in this currency or in none: tax may be stated in a second currency as well."""
    stated = [(found.get("currencyID"), text_of(found)) for found in walk(element, path)]
    own = [text for code, text in stated if code == currency and text]
    unmarked = [text for code, text in stated if (code is None or currency is None) and text]
    return next(iter(own + unmarked), None)
