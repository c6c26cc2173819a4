"""A few tagged sentences for the playground's tagger: enough to show the idea, written for it.

One sentence a line, ``word/TAG``, with the universal tags. A tagger to rely on is trained from a treebank:
``hiddenite tag train``.
"""

from __future__ import annotations

SENTENCES = [
    "the old ship sails to the island .",
    "she can open the can .",
    "they watch the quiet watch on the wall .",
    "a strange light moved slowly over the dark water .",
    "we will not fish where the fish sleep .",
    "he saw that she had found seven golden stones .",
]

TAGGED = """
the/DET dog/NOUN sleeps/VERB under/ADP the/DET old/ADJ tree/NOUN ./PUNCT
a/DET quick/ADJ fox/NOUN runs/VERB over/ADP the/DET hill/NOUN ./PUNCT
she/PRON reads/VERB a/DET long/ADJ letter/NOUN from/ADP her/PRON brother/NOUN ./PUNCT
he/PRON can/AUX see/VERB the/DET sea/NOUN from/ADP the/DET window/NOUN ./PUNCT
they/PRON opened/VERB the/DET can/NOUN with/ADP a/DET knife/NOUN ./PUNCT
we/PRON will/AUX walk/VERB to/ADP the/DET market/NOUN tomorrow/ADV ./PUNCT
her/PRON will/NOUN was/AUX strong/ADJ ./PUNCT
the/DET children/NOUN play/VERB in/ADP the/DET garden/NOUN ./PUNCT
the/DET play/NOUN was/AUX very/ADV good/ADJ ./PUNCT
I/PRON watch/VERB the/DET birds/NOUN every/DET morning/NOUN ./PUNCT
his/PRON watch/NOUN is/AUX broken/ADJ ./PUNCT
it/PRON rained/VERB and/CCONJ the/DET river/NOUN rose/VERB quickly/ADV ./PUNCT
a/DET red/ADJ rose/NOUN grows/VERB beside/ADP the/DET wall/NOUN ./PUNCT
the/DET men/NOUN fish/VERB in/ADP the/DET cold/ADJ river/NOUN ./PUNCT
the/DET fish/NOUN swim/VERB slowly/ADV ./PUNCT
Anna/PROPN and/CCONJ Peter/PROPN live/VERB in/ADP London/PROPN ./PUNCT
Mary/PROPN gave/VERB him/PRON three/NUM apples/NOUN ./PUNCT
he/PRON did/AUX not/PART know/VERB that/SCONJ she/PRON had/AUX left/VERB ./PUNCT
that/DET house/NOUN has/VERB two/NUM doors/NOUN and/CCONJ ten/NUM windows/NOUN ./PUNCT
if/SCONJ the/DET wind/NOUN blows/VERB ,/PUNCT the/DET ship/NOUN sails/VERB ./PUNCT
the/DET white/ADJ sails/NOUN of/ADP the/DET ship/NOUN were/AUX torn/VERB ./PUNCT
when/SCONJ the/DET light/NOUN fades/VERB ,/PUNCT they/PRON light/VERB a/DET lamp/NOUN ./PUNCT
this/DET box/NOUN is/AUX light/ADJ ,/PUNCT but/CCONJ that/DET one/NUM is/AUX heavy/ADJ ./PUNCT
do/AUX you/PRON want/VERB to/PART go/VERB home/ADV ?/PUNCT
you/PRON must/AUX wait/VERB here/ADV until/SCONJ we/PRON come/VERB back/ADV ./PUNCT
the/DET king/NOUN sent/VERB five/NUM hundred/NUM soldiers/NOUN to/ADP the/DET city/NOUN ./PUNCT
she/PRON quietly/ADV closed/VERB the/DET heavy/ADJ door/NOUN behind/ADP them/PRON ./PUNCT
the/DET teacher/NOUN asked/VERB a/DET hard/ADJ question/NOUN ./PUNCT
we/PRON worked/VERB hard/ADV but/CCONJ found/VERB nothing/PRON ./PUNCT
their/PRON work/NOUN is/AUX never/ADV finished/VERB ./PUNCT
no/DET one/NOUN could/AUX answer/VERB the/DET question/NOUN ./PUNCT
the/DET answer/NOUN was/AUX wrong/ADJ ,/PUNCT and/CCONJ everyone/PRON laughed/VERB ./PUNCT
the/DET black/ADJ horse/NOUN jumped/VERB over/ADP the/DET small/ADJ stream/NOUN ./PUNCT
please/INTJ bring/VERB me/PRON some/DET water/NOUN and/CCONJ bread/NOUN ./PUNCT
he/PRON waters/VERB the/DET flowers/NOUN twice/ADV a/DET week/NOUN ./PUNCT
the/DET farmer/NOUN 's/PART sons/NOUN were/AUX tall/ADJ and/CCONJ clever/ADJ ./PUNCT
oh/INTJ ,/PUNCT what/DET a/DET beautiful/ADJ day/NOUN !/PUNCT
I/PRON have/AUX never/ADV been/AUX so/ADV happy/ADJ ./PUNCT
she/PRON has/VERB a/DET new/ADJ book/NOUN about/ADP stars/NOUN ./PUNCT
they/PRON book/VERB a/DET room/NOUN near/ADP the/DET station/NOUN ./PUNCT
the/DET train/NOUN to/ADP Paris/PROPN leaves/VERB at/ADP nine/NUM ./PUNCT
dry/ADJ leaves/NOUN fell/VERB on/ADP the/DET narrow/ADJ path/NOUN ./PUNCT
he/PRON wanted/VERB to/PART train/VERB young/ADJ dogs/NOUN ./PUNCT
it/PRON is/AUX better/ADJ to/PART give/VERB than/SCONJ to/PART take/VERB ./PUNCT
who/PRON told/VERB you/PRON this/DET strange/ADJ story/NOUN ?/PUNCT
some/DET people/NOUN think/VERB that/SCONJ the/DET moon/NOUN sings/VERB ./PUNCT
the/DET boat/NOUN moved/VERB across/ADP the/DET dark/ADJ lake/NOUN ./PUNCT
golden/ADJ corn/NOUN stood/VERB in/ADP the/DET fields/NOUN ./PUNCT
she/PRON slowly/ADV turned/VERB and/CCONJ looked/VERB at/ADP us/PRON ./PUNCT
he/PRON should/AUX not/PART open/VERB the/DET letter/NOUN ./PUNCT
"""


def tagged_sentences() -> list[list[tuple[str, str]]]:
    """Return the sentences as pairs of a word and its tag."""
    lines = TAGGED.strip().splitlines()
    return [
        [(word, tag) for word, _, tag in (pair.rpartition("/") for pair in line.split())] for line in lines
    ]
