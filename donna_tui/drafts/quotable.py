"""Decide which blocks of a note have content, and are worth quoting."""

from __future__ import annotations

import re

from donna_tui.drafts.blocks import IS_DONE, LABEL_PATTERNS, LONGEST_BLOCK, SPEAKER, Block, Role
from donna_tui.search.ranking import stems_of

MIN_LETTERS = 0.6
"""Minimum share of letters and spaces in a note that is quoted: addresses, figures and markup have fewer."""

_DIAL_IN = re.compile(
    r"^(?:join\b.{0,40}:|join (?:zoom|the|by|on|with|via|from)|dial[- ]?in|dial by|click\b.{0,90}\bcalendar"
    r"|add to\b.{0,30}\bcalendar|meeting id\b|passcode\b|one tap mobile|find your local number|phone conference id"
    r"|unsubscribe\b)|zoom\.us|meet\.google\.com|teams\.microsoft\.com|webex\.com|\bdownload teams\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"^(?:recording\b|github issue\b|minutes google doc|where\b\W{0,4}:|when\b\W{0,4}:|location\b\W{0,4}:"
    r"|extracted from\b|watch the (?:meeting|video|recording)|\W*calendar\W*:|(?:video )?recording of\b)"
    r"|^[\d\W]{0,4}(?:the )?(?:last )?minutes (?:(?:of|from) [\w ]{1,40} )?(?:were )?(?:agreed|approved|accepted"
    r"|signed)(?: (?:as|by) [\w ]{1,30})?\W*$"
    r"|\bgoogle calendar\b|\bcalled (?:the meeting )?to order\b"
    r"|\b(?:(?:opened|closed|adjourned) the meeting|meeting (?:was )?(?:opened|closed|adjourned))(?= at\b|\W*$)",
    re.IGNORECASE,
)

_NOTHING = re.compile(
    r"^(?:none|nothing|n/?a|tbd|tba|todo|skip(?:ped)?|same|done|yes|no|ok|okay|nobody|keine?|nichts|niemand"
    r"|agreed|sure|fine(?: (?:with|by) me)?|got it|will do|ok(?:ay)?,? thanks|einverstanden|passt|genau"
    r"|presenter|slides?|notes?)\W*$"
    r"|^(?:none|nothing|n/?a|tbd|tba|skip(?:ped)?|same|done|ok|okay)"
    r" (?:for|until|till|this|next|last|today|now|yet|so far|here|new|to (?:add|discuss|report|share|see)|at|from|as"
    r"|left|else|really|much|specific|in the (?:public|private|meeting))\b[^,;:]{0,60}$"
    r"|^(?:skip(?:ped)? (?:not?|so|since|because|due)|(?:no discussion\W+)?(?:we )?ran out of time)\b[^;:]{0,60}$"
    r"|^(?:keine (?:neuigkeiten|neuen themen|updates)|nichts (?:neues|besonderes))\b[^,;:]{0,60}$"
    r"|^(?:(?:see|same)\b[^,;:]{0,30}|discussed) (?:above|below|earlier)\W*$"
    r"|^presenter\b[^,;:]{0,60}$|^(?:see|slides) \S+$|^slides? (?:\(see|by|from|here|can be found)\b[^,;:]{0,60}$"
    r"|^no (?:new |specific |other |major |board |staff |team |project )?"
    r"(?:announcements?|updates?|news|agenda|discussion|items?|changes?|time)"
    r"(?: (?:this|for|from|to|at|since|today|on|in)\b[^,;:]{0,60})?\W*$"
    r"|(?:^|^\w+, )not? (?:discussed|enough time)\b|\b(?:no updates?(?: this week)?|nothing new)\W*$|\byes ?/ ?no\W*$",
    re.IGNORECASE,
)
_DECIDE = (
    r"decisions?|decided?|agreements?|agreed?|conclusions?|concluded?|resolutions?|resolved?|commitments?|committed"
    r"|promised?|promises|action items?|actions|questions?|entscheidung(?:en)?|entschieden|beschl(?:uss|üsse|ossen)"
    r"|vereinbar(?:t|ung|ungen)|versprochen|zugesagt|aufgaben|fragen"
)
_NO_POINT = re.compile(
    r"^(?!.*\b(?:agreed|decided|resolved|promised|committed) (?:not )?(?:to|that)\b)"
    r"(?=.*\b(?:no|not|none|nothing|nobody|never|\w+n['’]t|keine?[nmrs]?|nichts?|niemand)\b)"
    rf"(?=.*\b(?:{_DECIDE})\b)(?:\W*\b(?:{_DECIDE}|no|not|one|none|nothing|nobody|never|\w+n['’]t|there|anything|anyone"
    r"|anybody|I|we|it|was|were|is|are|has|have|had|been|did|do|made|taken|reached|make|take|any|others?|else|more"
    r"|further|new|open|formal|specific|additional|and|or|at|in|on|to|the|this|that|meeting|call|session|today|yet|so"
    r"|far|now|week|time|keine?[nmrs]?|nichts?|niemand|es|gab|gibt|wir|hat|haben|wurden?|worden|ist|sind|sonst|noch"
    r"|weiter|mehr|(?:weitere|neue|andere|offene)[nrs]?|getroffen|gefasst|heute|bisher|und|der|dieser|sitzung)\b)+\W*$",
    re.IGNORECASE,
)
"""A statement that nothing was decided, promised or asked, without a subject."""

_CODE = re.compile(
    r"^(?:SELECT\b.+\bFROM\b|INSERT INTO\b|UPDATE \w+ SET\b|DELETE FROM\b|CREATE (?:TABLE|INDEX)\b|ALTER TABLE\b"
    r"|(?:sudo|git|curl|docker|kubectl|npm|pip|ssh|cd|psql) (?:-|[\w.-]*[/=@]|(?:add|apply|build|checkout|clone|commit"
    r"|create|delete|describe|diff|exec|fetch|get|install|log|logs|merge|pull|push|rebase|rollout|run|scale|start|status|test)\b)"
    r"|\$ |>>> |#!|//|/\*|[\w.]+\(.*\)[;{]?$"
    r"|(?:const|let|var|def|fn|func|class|import|return|public|private) \w+.*(?:[=({;]|:\s*$))"
    r"|\b[Ss][Ee][Ll][Ee][Cc][Tt] \w+\s*\(|::|\)\s*=>|=>\s*[({\[]|\w=>|\S->\S|\(\)|[{};]\s*$|[<>]{2}"
    r"|\b0x[0-9A-Fa-f]{4,}\b|==|&&|\|\|"
    r"|^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\[?\d\d:\d\d:\d\d\b|^(?:\W*)(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b\W"
    r"|\bTraceback\b|\b\w+Error:",
    re.MULTILINE,
)
_DAY = re.compile(r"(?<![\d.])(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}(?:[./](?:\d{4}|\d\d)?)?)(?![\d.])")
_ADDRESS = re.compile(r"\S+[./]\S+")
_LOG_LEVEL = re.compile(r"(?:^|\s)(?:DEBUG|INFO|WARN|ERROR|FATAL|TRACE)(?:\s|:)")

_GREETING = re.compile(
    r"(?:hey|hi|hello|bye|goodbye|thanks|thank you|danke|vielen dank|hallo|congrat\w*|wow|whoa|woohoo|yay|phew|oh"
    r"|ja|yeah|yes|yep|yup|nope|sorry|cool|glad|absolutely|totally|I (?:\w+ )?agree|I(?:['’]m| am) so (?:happy|sorry)"
    r"|good (?:morning|afternoon|evening|night)|guten (?:morgen|tag|abend)"
    r"|(?:good|great|nice|lovely) to (?:see|hear|meet)|take care|see you|talk to you|you(?:['’]re| are) welcome)\b",
    re.IGNORECASE,
)
"""The beginning of a greeting, of thanks or of mere approval."""

_COURTESY = re.compile(
    r"\b(?:thanks|thank you|danke|dank) (?:to|an)(?: (?:(?:and|und) )?(?-i:[A-ZÀ-Þ])[\w'’-]*)+"
    rf"|{_GREETING.pattern}|\b(?:agree|right|true|glad|happy|good|great|nice|cool|sweet|awesome|amazing|sounds?|looks?"
    r"|sorry|see|hear|soon|later|lot|much|all|everyone|everybody|zusammen)\b|[,\s]+(?-i:[A-ZÀ-Þ])[\w'’-]*(?=[,.!?]|$)",
    re.IGNORECASE,
)
"""Words of courtesy, and the name of somebody who is addressed or thanked."""


def is_quotable(block: Block) -> bool:
    """Check whether a block has content: not code, a log line, boilerplate of invitations, or “nothing new”.

    A decision or an action item may have many digits, and begin as the description of an invitation does.
    """
    text = block.text
    is_point = block.role in (Role.DECISIONS, Role.ACTIONS)
    is_whole = is_point and not any(label.match(text) for _, label in LABEL_PATTERNS)
    said = text if is_whole else SPEAKER.sub("", text)  # “Redis: no” can be a decision, “Ana: no” is no note
    if _NOTHING.search(said) or any(pattern.search(text) for pattern in (_CODE, _LOG_LEVEL, _DIAL_IN)):
        return False
    if not block.topic and block.parent < 0 and _NO_POINT.search(said):
        return False
    if block.role is Role.SKIPPED or _ADDRESS.fullmatch(text) or len(text) > LONGEST_BLOCK or not stems_of(text):
        return False
    if not any(map(str.isalnum, SPEAKER.sub("", text))):
        return False
    if is_point:
        return block.role is Role.DECISIONS or block.box != "" or not IS_DONE.search(text)
    said = _DAY.sub("", text)
    said = text if said.rstrip().endswith(":") else said  # a label with only a day, such as “Meeting date: 2021-02-03”
    letters = sum(char.isalpha() or char.isspace() for char in said)
    if letters < MIN_LETTERS * len(said) or _BOILERPLATE.search(text):
        return False
    return block.parent >= 0 or not is_greeting(text, 0)  # below a question, “Yes, on Friday” is its answer


def is_greeting(text: str, most: int = 1) -> bool:
    """Check whether a line greets, thanks or approves, and has at most `most` other words with content."""
    said = SPEAKER.sub("", text)
    return bool(_GREETING.match(said)) and len(stems_of(_COURTESY.sub(" ", said))) <= most
