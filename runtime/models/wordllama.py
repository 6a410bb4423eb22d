"""Routing by small word vectors: which agent's description means the nearest (extra `embed`).

Not a language model. Loaded from the installed package alone, never from a network: the library
looks for its tokenizer in a folder of another name than the package ships, and would download it,
unless it is told that its own folder is the cache.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from handoff_console.runtime.errors import ModelError
from handoff_console.runtime.models.bm25 import Bm25, Score

FLOOR = 0.1
"""A cosine under this is no likeness. To hold back more, give the first agent a `threshold`."""
_DIMENSIONS = 256


class WordLlama(Bm25):
    """A router that hands off to the target whose words mean the nearest to the message.

    An agent fits as well as the nearest of its description and its examples.

    Raises:
        ModelError: The library is not installed, or its weights are not where it ships them.
    """

    def __init__(self) -> None:
        self._vectors, digest = _loaded()
        self.name = f"offline:wordllama-{_DIMENSIONS}@{digest[:8]}"
        """With the weights' digest: other weights are another model."""

    def scores_of(self, text: str, tools: Sequence[Mapping[str, Any]]) -> list[Score]:
        """Return how near each agent is to a text, nearest first; under `FLOOR` it is 0."""
        specs = [spec for spec in tools if "handoff" in spec]
        texts = [(spec["description"], *spec.get("examples", ())) for spec in specs]
        message = self._embedded((text,))[0]
        found = []
        for spec, said in zip(specs, texts, strict=True):
            near = max((float(one @ message) for one in self._embedded(said)), default=0.0)
            found.append(
                Score(spec["handoff"]["target"], round(near, 6) if near > FLOOR else 0.0, ())
            )
        return sorted(found, key=lambda item: (-item.score, item.target))

    def _embedded(self, texts: Sequence[str]) -> list[Any]:
        return _embedded(self._vectors, tuple(texts))


@lru_cache(maxsize=512)
def _embedded(vectors: Any, texts: tuple[str, ...]) -> list[Any]:
    """Return a vector of length 1 for each text; of length 0 for one without known words."""
    found = []
    for vector in vectors.embed([text or " " for text in texts], norm=False):
        length = float(vector @ vector) ** 0.5
        found.append(vector / length if length > 0 else vector)
    return found


@lru_cache(maxsize=1)
def _loaded() -> tuple[Any, str]:
    """Return the vectors, and the digest of the file that they came from."""
    try:
        import wordllama
    except ModuleNotFoundError as error:
        raise ModelError(
            "The model 'offline:wordllama' needs a library that is not installed; run `pip install "
            "'handoff-console[embed]'`."
        ) from error
    folder = Path(wordllama.__file__).parent
    files = sorted((folder / "weights").glob(f"*_{_DIMENSIONS}.safetensors"))
    if not files:
        raise ModelError(
            f"The library of 'offline:wordllama' has no weights of {_DIMENSIONS} dimensions; "
            "install the version that the extra `embed` names."
        )
    digest = hashlib.sha256(files[0].read_bytes()).hexdigest()
    vectors = wordllama.WordLlama.load(cache_dir=folder, dim=_DIMENSIONS, disable_download=True)
    return vectors, digest
