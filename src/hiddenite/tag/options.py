"""How to train a tagger."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from hiddenite.options import Options, option
from hiddenite.tag.transitions import TRANSITIONS

MAX_ORDER = 9
GUESSERS = ("log-linear", "suffix")
INDUCED = "spelling"  # the guesser of taggers that were induced, not trained

NORMAL_FORMS = ("NFC", "none")
PARTS = ("auto", "yes", "no")
EMISSIONS = ("context", "generative")

_SUFFIX, _LOG_LINEAR = ({"guesser": (name,)} for name in ("suffix", "log-linear"))
_CONTEXT = {"emissions": ("context",)}


@dataclass(frozen=True, kw_only=True)
class TaggerOptions(Options):
    """How to train a tagger. The defaults tag best; :meth:`tnt` is the classic they are measured against."""

    order: int = option(3, "Longest n-grams of tags.", least=1, most=MAX_ORDER)
    emissions: str = option(
        "context",
        "context: weights that see the words around; generative: p(word | tag).",
        choices=EMISSIONS,
    )
    transitions: str = option("kneser-ney", "Model of tag sequences.", choices=TRANSITIONS)
    lexicalize: int = option(100, "So many frequent words are seen by the transitions.", least=0)
    guesser: str = option("log-linear", "Of unseen words.", choices=(*GUESSERS, INDUCED))
    rare: int = option(10, "The guesser learns from words seen at most so often.", least=1)
    guess_weight: float = option(0.3, "Observations that the guess is worth for a seen word.", least=0)
    floor: float = option(
        3e-3, "Leave out a word's tags below this share of its best.", least=0, most=1 - 1e-9
    )
    tag_dictionary: bool = option(False, "A seen word has no other tags than it had.")
    suffix_length: int = option(10, "Longest ending.", least=0, when=_SUFFIX)
    shapes: bool = option(False, "Keep digits and hyphens apart too.", when=_SUFFIX)
    theta: float | None = option(
        None,
        "Weight of the shorter ending; the tags' standard deviation if not given.",
        least=0,
        when=_SUFFIX,
    )
    epochs: int = option(20, "Passes over the rare words.", least=0, when=_LOG_LINEAR)
    rate: float = option(0.1, "First step of a weight.", least=0, when=_LOG_LINEAR)
    penalty: float = option(1.0, "Of half the squared weights.", least=0, when=_LOG_LINEAR)
    seed: int = option(1, "Order of the examples.", least=0, when=_LOG_LINEAR)

    parts: str = option(
        "auto",
        "Weights for the parts of tags like NOUN|Case=Nom; auto: if there are more than 128 tags.",
        choices=PARTS,
        when=_CONTEXT,
    )
    base_weight: float = option(0.5, "Of ln p(tag | word) in the context's weights.", least=0, when=_CONTEXT)
    prior_weight: float = option(0.15, "So much of ln p(tag) is taken away.", least=0, when=_CONTEXT)
    tags_weight: float = option(0.5, "Power of the model of tags.", least=0, when=_CONTEXT)
    context_penalty: float = option(0.3, "Of half the squared weights.", least=0, when=_CONTEXT)
    hide_words: bool = option(False, "Hide the names of rare words in training.", when=_CONTEXT)
    local_epochs: int = option(8, "Passes for each word on its own.", least=0, when=_CONTEXT)
    local_rate: float = option(0.2, "First step of a weight there.", least=0, when=_CONTEXT)
    structured_epochs: int = option(3, "Passes for whole sequences.", least=0, when=_CONTEXT)
    structured_rate: float = option(0.1, "First step of a weight there.", least=0, when=_CONTEXT)

    normal_form: str = option(
        "NFC", "Unicode form of all words, in training and in use.", choices=NORMAL_FORMS
    )

    @classmethod
    def tnt(cls, order: int = 3, **changes: object) -> TaggerOptions:
        """Return TnT's recipe: deleted interpolation, relative frequencies, suffixes (Brants 2000)."""
        recipe = cls(
            order=order,
            emissions="generative",
            transitions="deleted-interpolation",
            lexicalize=0,
            guesser="suffix",
            guess_weight=0.0,
            floor=0.0,
        )
        return dataclasses.replace(recipe, **changes)  # type: ignore[arg-type]
