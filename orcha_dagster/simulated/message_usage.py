"""The tokens that the simulated Messages API counts, and its prompt cache. A token is four characters, more or less."""

import hashlib
import json
import time
from typing import Any

_CHARACTERS_PER_TOKEN = 4
_FEWEST_CACHED_TOKENS = 512  # a shorter beginning is not cached
_CACHE_SECONDS = 300.0


def count_tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


class PromptCache:
    def __init__(self) -> None:
        self._used_at: dict[str, float] = {}

    def count_input(self, request: dict[str, Any]) -> dict[str, int]:
        """The usage of the prompt: everything up to the last mark is written to the cache, or read from it."""
        blocks = _blocks(request)
        marked = [place for place, block in enumerate(blocks) if block.get("cache_control")]
        end = marked[-1] + 1 if marked else 0
        form = json.dumps(request.get("output_config"), sort_keys=True)
        beginning = sum(count_tokens(str(block.get("text", ""))) for block in blocks[:end])
        rest = sum(count_tokens(str(block.get("text", ""))) for block in blocks[end:]) + count_tokens(form)
        written = read = 0
        if beginning >= _FEWEST_CACHED_TOKENS:
            known = self._is_known(json.dumps([request["model"], form, blocks[:end]], sort_keys=True))
            written, read = (0, beginning) if known else (beginning, 0)
        else:
            rest += beginning
        return {"input_tokens": rest, "cache_creation_input_tokens": written, "cache_read_input_tokens": read}

    def _is_known(self, beginning: str) -> bool:
        key, now = hashlib.sha256(beginning.encode()).hexdigest(), time.monotonic()
        known = now - self._used_at.get(key, -_CACHE_SECONDS) < _CACHE_SECONDS
        self._used_at[key] = now
        return known


def _blocks(request: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [request.get("system") or [], *(message.get("content", []) for message in request["messages"])]
    return [block for part in parts for block in ([{"text": part}] if isinstance(part, str) else part)]
