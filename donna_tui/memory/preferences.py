"""Recognise what a person wants in general, such as “I prefer dark roast” or “Always answer in German”, and name it.

A preference is part of every prompt, so that a sentence counts only if it says that it lasts: no question, quotation
or hypothesis, nothing about “this” or today, and not what somebody else is said to prefer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from donna_tui.text.dates import WEEKDAY
from donna_tui.text.sentences import sentences_by_line
from donna_tui.text.words import STOP_WORDS

LONGEST = 300
"""Maximum number of characters of a preference; a longer sentence is rarely one."""

KEY_WORDS = 6
"""Maximum number of words of a preference in its key."""

_PAST = r"(?:\w+ed|had|went|met|saw|got|did|was|said|told|thought|knew|felt|lost|made|found|heard|been|done)\b"

_OWNER = r"(?:^|[.!?]\s+)(?:(?:the|my) )?(?:owner|user)"
"""The subject by which an agent means the person whom it works for: no “product owner”, nor “each user”."""

_SUBJECT = (
    r"(?:I|you|he|she|it|we|they|this|that|these|those|there|the|an?|my|our|all|everybody|everyone|nobody|ich|du|er|sie"
    r"|es|wir|ihr|man|das|die|der|je|tu|ils?|elles?|on|nous|vous|yo|él|ella|ellos|ellas)\b"
)
_NAMED = (
    r"(?:(?:call|address) me (?:just |simply )?(?:as )?|nenn(?:e|t)? mich (?:bitte |einfach ){0,2}"
    r"|appell?ez?[- ]moi |ll[áa]mame )"
)
_ANSWER = (
    r"(?:answer|reply|respond|write|speak|talk|antworte[nt]?|schreiben?|sprich|sprechen|rede|réponds|répondez|écris"
    r"|écrivez|parlez?|responde|contesta|escribe|habla)"
)
_REPLIES = r"(?:answers|replies|responses|messages|explanations|summaries)\b"
_PLEASE = r"\b(?:please|bitte|s['’]il (?:te|vous) pla[iî]t|por favor)\b"
_FROM_NOW = (
    r"\b(?:from (?:now|today) on|in future|ab (?:jetzt|sofort|heute)|(?:zu)?künftig|in Zukunft|désormais"
    r"|à l['’]avenir|a partir de ahora|de ahora en adelante)\b"
)
_ALWAYS = r"\b(?:always|never|immer|nie|niemals|stets|toujours|jamais|siempre|nunca)\b"
_BEGINS = r"^(?:(?:also|and|please|bitte|s['’]il te plaît|por favor),? )*"
_ADVERB = r"(?:(?:\w+ly|much|still|also|just|no longer) )?"
_HATE = r"(?:hate|dislike|detest|can['’]?t stand|cannot stand|(?:do not|don['’]t) (?:like|eat|drink))\b"
_VERB = rf"(?!{_PAST}|(?:\w+ing|\w*[^\Ws]s|gonna|mind|again|an?|the|in|on|at|by|up|too)\b)\w+"
"""A word that may be an imperative, unlike one in “Always happy”."""

_LIKED = re.compile(
    rf"\bI {_ADVERB}(?:prefer\b(?! (?:not|that|it)\b)"
    rf"|{_HATE}(?! (?:being|not|that|when|how|it|to|you|him|them)\b))"
    rf"|(?:^|(?<=\w: ))I {_ADVERB}(?:always|never) (?!{_PAST}|(?:feel|think|know|want|get|lose|end)\b)\w"
    r"|\bmy (?:\w+ )?favou?rite (?!(?:is|are) (?:“|(?:an?|the|my|when)\b)|one|thing|part)(?:\w+ ){0,4}(?:is|are)\b"
    rf"|^(?!{_SUBJECT}|here\b)[^,]+ (?:is|are) my (?:\w+ )?favou?rite \w"
    rf"|{_OWNER} {_ADVERB}(?:prefers|hates|dislikes|detests|can['’]?t stand|cannot stand|would rather"
    rf"|does(?: not|n['’]t) (?:like|eat|drink)) \w|{_OWNER}['’]s (?:\w+ )?favou?rites?\b"
    r"|\bich (?:bevorzuge|hasse|verabscheue|(?:mag|esse|trinke) (?:gar |überhaupt )?kein\w*)\b"
    r"|\b(?:ich (?!würde|hätte|wäre|sollte)\w+|(?!würde|hätte|wäre|sollte)\w+e ich) (?:viel )?lieber\b"
    r"|\bmeine? lieblings\w+ (?:ist|sind)\b|\bje (?:préfère|déteste|n['’]aime (?:pas|plus))\b"
    r"|(?:^|, |\by |\byo )(?:prefiero|odio|detesto|no me gustan?)\b",
    re.IGNORECASE,
)
"""Match what a person likes, hates, or always does, not “I always feel nervous”."""

_WISHED = re.compile(
    # How to speak with the person.
    rf"{_BEGINS}{_NAMED}(?!(?:{WEEKDAY})\b)(?-i:(?:Dr\. |Prof\. )?[A-ZÀ-Þ][a-zß-ÿ'’-]+(?: [A-ZÀ-Þ]\w+)?)\s*(?![\w\s])"
    rf"|{_BEGINS}{_ANSWER}(?:[- ](?:to|with|me|moi|mir|uns|sie|{_ALWAYS}|only|nur|bitte|please))*"
    r" (?:(?:in|auf) (?-i:[A-ZÀ-Þ])|en \w|in (?:\w+ )?sentences)\w*\b(?! (?:to|an|à)\b)"
    rf"|{_BEGINS}(?:keep|make) (?:(?:all|your) )*{_REPLIES}"
    rf"|{_BEGINS}(?:ne me )?(?:duz|siez|tuto[iy]|vouvo[iy])\w+(?:[- ](?:mich|uns|moi|nous)\b| pas\b)"
    # What to do each time.
    rf"|{_BEGINS}(?:always {_VERB} (?!(?:to|for)\b)|never {_VERB} )(?!(?:up|\w+(?<!th)ing)\b)\w(?!.*!$)"
    rf"|{_BEGINS}(?!{_SUBJECT}|(?:hab|bin|sind|war|find|seh|brauch|kenn|noch|auch|casi|como|no\b)|\w+t\b)\w+"
    r"(?:[- ](?:mir|mich|uns|sie|bitte|doch|moi|nous|me|nos)){0,3}"
    r" (?:immer|nie|niemals|stets|keine?n?|toujours|siempre)\b"
    r"|^(?:(?:in the future|in future|from (?:now|today) on),? "
    rf"|{_FROM_NOW},? (?!\w+t\b))(?!{_SUBJECT}|.*\b(?:will|would|could|might|wird|werden)\b)\w"
    rf"|^(?=.*{_PLEASE})(?=.*{_FROM_NOW})|{_PLEASE},? (?:\w+ ){{0,2}}{_ALWAYS}|{_ALWAYS} (?:\w+ ){{0,2}}{_PLEASE}"
    r"|^(?=.*\byou\b)(?!.*(?:\bwill\b|['’]ll\b)).*\bfrom (?:now|today) on\b"
    rf"|^(?:whenever|every time|each time) you (?!(?:need|want|feel|like|have|can|get|are)\b)[^,]*, (?!{_SUBJECT})\w"
    # What never to do.
    rf"|{_BEGINS}(?:(?:don['’]t|do not) (?!(?:worry|mind|forget|remember|note|let|get|know|think|bother|need|have|be"
    r"|hesitate|feel|ever)\b)\w+|(?:stop|avoid) (?!being)\w+ing)"
    r" (?!.*\b(?:the|it|that|him|her|them|yet|here|about|anything|yourself)\b)"
    rf"(?!(?:up|\w+(?<!th)ing)\b)\w(?!.*!$|.*\byour (?!{_REPLIES}))"
    rf"|{_BEGINS}n(?:e |['’])(?!oubli|march|fonctionn|sai|est|t['’])(?:m['’]|me )?\w+ (?:pas|plus|jamais)\b"
    rf"|^(?:no|keine?n?) (?:more )?\w+(?: \w+)?,? {_PLEASE}\W*$|^{_PLEASE},? (?:no|keine?n?) \w+(?: \w+)?\W*$",
    re.IGNORECASE,
)
"""Match a request that holds from now on, such as “Never use tabs” or “Call me Emmy”."""

_QUOTED = re.compile(r"[\"“”„«»`][^\"“”„«»`\n]*[\"“”„«»`]")
_REPORTED = re.compile(
    r"\b(?:says?|said|saying|tells?|told|writes|wrote|claims?|claimed|thinks|thought|believes?|asks?|asked|suppose"
    r"|imagine|assum\w+|pretend|whether|do|does|did|who|sagte?|meinte?)\b",
    re.IGNORECASE,
)
"""Words before a preference which say that it is somebody else's, or asked for, or made up."""

_IF, _WOULD = re.compile(r"\bif\b", re.IGNORECASE), re.compile(r"['’]d\b|\bwould\b", re.IGNORECASE)
_ONCE = re.compile(
    r"\b(?:this|these(?! days)|once|(?<!from )today|tonight|tomorrow|for now|just now|right now|diese[mnrs]?|diesmal"
    r"|(?<!ab )heute|ce|ça|cet|cette|aujourd['’]hui|est[aeo]|hoy"
    r"|the (?:\w+ )?ones?|the (?:first|second|third|last|latter|former)(?! (?!for\b|in\b|and\b|but\b)\w))\b",
    re.IGNORECASE,
)
"""Words of what is meant only now, or of one thing."""

_REQUEST = re.compile(
    r"(?!(?:(?:please|bitte),? )?(?:do not |don['’]t |n['’])?"
    r"(?:remember|forget|note|remind|vergiss|merke?|notiere?|erinner\w*|oublie)\b)"
    r"(?:please,? |(?:use|keep) (?!(?:the|in|of|cases?)\b)\w|bitte,? \w"
    r"|(?!ja\b|nein\b)\w+ (?:mir |mich |uns )?(?-i:bitte),? \w|(?:.+ )?s['’]il (?:te|vous) pla[iî]t(?:,? \w|\W*$)"
    rf"|I(?:['’]d| would) {_ADVERB}(?:prefer|rather) (?!not\b)\w)",
    re.IGNORECASE,
)
"""Match how a text begins that asks for something."""

_DEFINITE = re.compile(
    r"\b(?:the|that|those|it|attached|above|below|der|die|das|den|dem|des|le|la|les|el|los"
    r"|\d+(?!-))\b",
    re.IGNORECASE,
)
"""Words of a request that is about one thing: “Please check the link”, not “Please use emojis”."""

_DAY = re.compile(rf"\b(?:{WEEKDAY}|morgen)\b", re.IGNORECASE)
_USE = re.compile(
    r"\b(?:I(?:['’]d| would) (?:prefer|rather)|use|keep|verwenden?|benutzen?|nutzen?|utilise[rz]?|usa)\b", re.IGNORECASE
)
"""Words of a request that says how to do things: “Please use the metric system”."""

_NEGATION = r"\b(?:never|do not|don['’]t|no|stop|avoid|nie|niemals|jamais|nunca|nicht(?: mehr)?|keine?n?)\b"
_NEGATED = re.compile(_NEGATION, re.IGNORECASE)
_ASKED = re.compile(rf"{_PLEASE}|{_ALWAYS}|{_FROM_NOW}|{_NEGATION}|\bus(?:e|ing)\b", re.IGNORECASE)
"""Words of a request that do not say what it is about."""

_LANGUAGE = re.compile(
    rf"\W*(?i:{_ANSWER})\W+(?:(?:to |with )?(?:me|mir|moi|uns|us)\W+|(?:only|nur)\W+)*"
    r"(?:(?:in|auf) [A-ZÀ-Þ]\w+|en \w*(?:ais|ois|mand|gnol|lien|ñol|[lcu]és|mán|iano))\W*"
)
"""A request to answer in a language: of “Please answer in German” what remains without the words of a request."""

_MANNER = re.compile(rf"(?!.*(?i:{_NEGATION}))(.*\b(?:in|auf)) [A-ZÀ-Þ]\w+\W*", re.DOTALL)
"""A request that ends with a language, or another way of which only one is possible."""

_LABELLED = re.compile(r"^\s*([^\W\d_][\w ’'/-]{1,40}):\s+\S")
_HABIT = re.compile(rf":\s+I {_ADVERB}(?:always\b|never\b|{_HATE})", re.IGNORECASE)
_FAVOURITE = re.compile(
    r"\b(?:my|(?:owner|user)['’]s) ((?:\w+ )?favou?rite (?:\w+ ){0,3}?\w+) (?:is|are|was|remains?)\b", re.IGNORECASE
)
_CALL_ME = re.compile(rf"{_BEGINS}{_NAMED}(?-i:[A-ZÀ-Þ])", re.IGNORECASE)
_PREFERS = re.compile(
    r"\bprefers? (?P<what>[\w'’ -]{1,80}?)"
    r"(?: (?:now|nowadays|these days|instead|to|over|than|in|with|for|when|at|on)\b|[.,;!]|$)",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\bprefers? (?P<one>[\w'’ -]{1,60}?)(?: now| nowadays| these days)?,? (?:over|to|instead of|rather than) "
    r"(?P<other>[\w'’ -]{1,60}?)(?: now| nowadays| these days)?(?P<rest> (?:in|with|for|when|at|on)\b.*|[.,;!].*|)$",
    re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(r"\w+")


def preferences_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences that state a lasting preference or request, as half-open character offsets."""
    for low, high in sentences_by_line(text):
        sentence = text[low:high]
        stripped = sentence.strip(" \t-*>•")
        if stripped and len(stripped) <= LONGEST and _is_stated(stripped):
            start = low + sentence.index(stripped)
            yield start, start + len(stripped)


def is_preference(text: str) -> bool:
    """Return whether a text has a preference, or is a request that is not about one thing or day."""
    said = _QUOTED.sub("“”", text.strip())
    is_question = said.endswith("?")
    is_request = _REQUEST.match(said) and not (is_question or _DAY.search(said) or _is_of_the_moment(said))
    return any(preferences_in(text)) or bool(is_request and (_USE.search(said) or not _DEFINITE.search(said)))


def _is_stated(sentence: str) -> bool:
    said = _QUOTED.sub("“”", sentence)
    found = _LIKED.search(said) or _WISHED.search(said)
    if not found or said.rstrip(" \"'”»)").endswith("?"):
        return False
    return not (_REPORTED.search(said, 0, found.start()) or _is_of_the_moment(said))


def _is_of_the_moment(said: str) -> bool:
    return bool(_ONCE.search(said) or (_IF.search(said) and _WOULD.search(said)))


def preference_key(text: str) -> str:
    """Return the key of a procedural memory; a later one with the same key replaces it.

    The key of `Communication style: direct` is its label, that of `My favourite colour is blue` the thing liked best,
    that of `Call me Emmy` the words before the name, that of `I prefer tea to coffee at night` the two things and when,
    that of `Please answer in German` what is asked, without the language, which is also that of `Don't answer`, and
    that of anything else the first meaningful words of the preference. `Tom: I always sit at the window` has both,
    since it is not all that Tom does. A request to be called by a name, or to answer in a language, has the same key in
    every language.
    """
    labelled = _LABELLED.match(text)
    if labelled and not _HABIT.match(text, labelled.end(1)):
        return _folded(labelled[1])
    label = f"{_folded(labelled[1])}: " if labelled else ""
    favourite = _FAVOURITE.search(text)
    if favourite:
        return label + _folded(favourite[1].replace("favorite", "favourite"))
    if _CALL_ME.match(text):
        return "call me"
    if compared := _COMPARED.search(text):
        things = sorted(_folded(compared[name]) for name in ("one", "other"))
        return label + " ".join([*things, *_WORD.findall(compared["rest"].lower())[:KEY_WORDS]])
    if liked := _LIKED.search(text):
        said = text[liked.start() :].replace("no longer ", "")
    elif not _NEGATED.search(text) and _LANGUAGE.fullmatch(_ASKED.sub(" ", text)):
        return "answer"
    else:
        manner = _MANNER.fullmatch(text)
        said = _ASKED.sub(" ", manner[1] if manner else text)
    words = _WORD.findall(said.lower())
    distinctive = [word for word in words if word not in STOP_WORDS]
    return label + (" ".join((distinctive or words)[:KEY_WORDS]) or _folded(text))


def kind_preferred(content: str) -> str:
    """Return the last word of what is preferred: “roast” for “I prefer dark roast”; empty if it is a single word."""
    match = _PREFERS.search(content)
    words = match["what"].casefold().split() if match else []
    return words[-1] if len(words) > 1 else ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
