//! What requests need, and how they stand to what came before.
//!
//! Signals are in tenths: the highest of the task's own level and of the patterns that match.

/// A weight or a level in tenths, and a pattern.
pub(crate) type Cue = (u8, &'static str);

/// What is at stake, in tenths.
pub(crate) const RISK: &[Cue] = &[
    (
        9,
        "^ delete|erase|wipe|destroy|purge|overwrite|remove|empty .. all|everything|files|emails|photos|data|account|disk|drive",
    ),
    (9, "^ delete|erase|wipe|destroy|purge|overwrite|remove|empty|clear .. backup*|history|database|trash"),
    (9, "^ format .. disk|drive|card|stick|partition"),
    (
        9,
        "stroke|overdose*|suicid*|poison*|bleeding|unconscious|seizure, chest pain, heart attack, swallowed _, kill myself",
    ),
    (9, "can't breathe"),
    (8, "drop|drops|delete|deletes|truncate .. table|tables|database|production, in|on|to production"),
    (
        7,
        "pill|pills|tablet|tablets|dose|dosage|medicine|medication|aspirin|ibuprofen|paracetamol|insulin|antibiotic*|warfarin",
    ),
    (7, "prescri*|symptom*|pregnan*|allerg*|diagnosed|surgery, blood pressure"),
    (7, "lawsuit|sue|court|lawyer|custody|divorce|visa|immigration|evict*|criminal|police"),
    (7, "transfer|wire|send|lend|put|move|deposit .. money|<money>|#|euros|dollars|pounds"),
    (
        7,
        "^ pay|cancel|sell|wire|transfer|sign|submit|publish|approve|unsubscribe|order, ^ buy # _, ^ reply yes|no|that",
    ),
    (7, "^ send|forward|post|email .. all|everyone|customers|clients|team|company|boss|him|her|them"),
    (7, "deletes|removes|deleting .. files|logs|log|data|records"),
    (
        5,
        "mortgage|loan|invest*|shares|stocks|tax|taxes|insurance|pension|contract|password*|bank|resign*|salary, insurance|damage claim",
    ),
    (5, "^ book|reserve|share|decline|invite|donate"),
    (3, "boss|client|customer|interview|application|official|form"),
];

/// How unclear a request is when it brings nothing along: no quote, no code, no text, no file, no address.
pub(crate) const VAGUE: &[Cue] = &[
    (9, "^ do|fix|handle|finish|change|check|continue it|this|that|these|those $"),
    (
        9,
        "^ i don't know $, ^ dunno|idk|whatever|nothing|nevermind $, ^ do|fix|say|make something|anything|stuff $, ^ do|fix|handle|finish|change it|this|that again|now $, ^ same|again again|$, ^ same again, ^ can|could|would you help $",
    ),
    (9, "the other one|ones, the first|second|third|last|next one"),
    (
        9,
        "^ what|how|why|who|which|when|where|huh|eh $, ^ what|how about it|this|that|them|the, ^ help $, something|anything about|with it|that|this",
    ),
    (
        7,
        "^ translate|summarize|summarise|shorten|rewrite|improve|explain|check|edit|proofread this|it|that $",
    ),
    (
        7,
        "^ translate|summarize|summarise|shorten|rewrite|improve|explain|check|edit|proofread this|it|that please|now",
    ),
    (7, "translate|turn this|it|that in|into|to"),
    (7, "make this|it|that .. better|nicer|sound|shorter|longer|faster"),
    (7, "^ it doesn't|won't|isn't|stopped|keeps"),
    (7, "^ thoughts|opinions|ideas|and $, ^ i have a|some question|questions|problem|request|idea $"),
    (
        5,
        "^ rewrite|shorten|condense|improve|edit|correct|proofread|polish|check|review this|that|the|my, sum this|it|that up",
    ),
    (5, "^ make the|my, ^ cancel|book|reserve, send him|her|them, the thing|stuff, some stuff"),
    (5, "the app|thing|program|machine|device stopped|doesn't|won't|isn't"),
    (5, "my numbers|figures|results|data"),
    (3, "this|these|that|it"),
];

/// Ambiguity of a word or two that are no task.
pub(crate) const AMBIGUITY_ALONE: u8 = 8;

/// Ambiguity of a greeting.
pub(crate) const AMBIGUITY_GREETING: u8 = 7;

/// A request that is nothing but a greeting asks for nothing.
pub(crate) const GREETINGS: &str = "hi|hello|hey there|again|you|all, are you there|awake|online, anyone|anybody there|home, hi|hello|hey|yo|greetings, good morning|evening|afternoon|day";

/// References to what the assistant should know already.
pub(crate) const MEMORY: &[Cue] = &[
    (9, "my|the usual, what i normally|usually|always"),
    (8, "last time, as|like before|always|usual"),
    (6, "the same _"),
    (
        8,
        "we .. talked|discussed|decided|agreed|looked|used|were|wrote|did|had|spoke|chose|made|started|said|planned|picked",
    ),
    (8, "i .. told|mentioned|said|gave|showed|sent you"),
    (
        8,
        "our last|previous|earlier|meeting|conversation|chat|call|discussion, you know my|me|what|how, you remember|recall",
    ),
    (7, "i|i'd like|liked|love|loved|enjoy|enjoyed|prefer|hate"),
    (
        7,
        "from|since last, from|since yesterday|earlier, the other one|ones, ^ continue|resume with|from|where|our|what, ^ carry|go on, send him|her|them",
    ),
    (5, "^ do it|that|this, the first|second|third|last|next one"),
    (
        7,
        "suits|fits|matches|match|to|on|with my .. taste|style|preference|liking|needs|features, what i want|like|prefer|need, i preferred",
    ),
    (
        5,
        "yesterday's _, my .. taste|preference|liking|style|diet|budget|size|schedule|calendar|week|day|situation|family|subscription|sister|brother|mother|father",
    ),
    (5, "my|our .. numbers|expenses|spending|sales|figures|results"),
    (3, "my|our, for me|us"),
];

/// Needs that only a tool can meet: the world as it is now, files, exact numbers.
pub(crate) const TOOL: &[Cue] = &[
    (
        9,
        "weather|traffic|delays|currently, price now|today, live score|stream|results|updates|coverage|blog, exchange rate, right now, at the moment",
    ),
    (9, "current|today's|latest|live price|prices|rate|rates|score|scores|status|news|weather"),
    (9, "search|browse|google .. web|internet|online|for, look up, look|find .. online"),
    (
        8,
        "today|latest|newest|rn|tonight's, yet $, up to date, come|came|coming out yet|now|already, breaking news, next train|bus|flight|match|game, open|closed now, these days",
    ),
    (8, "my|the .. folder|inbox|drive|downloads|calendar|mailbox|trash"),
    (8, "attached|attachment*|spreadsheet|pdf|enclosed, all my|our emails|files|photos|documents"),
    (
        7,
        "yesterday, last night, this week|month|quarter|year, nearby, near me, around here, in my area, around|near _ $",
    ),
    (7, "what time|when|is does|do|is|are|will .. open|close|leave|start|arrive|end|closed|begin"),
    (7, "when is|are|does|do the next"),
    (7, "under|below #, less than #, departure*|available, opening hours, in stock"),
    (
        6,
        "run|execute this|it|the|that, user manual|handbook, the .. report|manual|contract|minutes|notes, we|us .. meet",
    ),
    (
        5,
        "# <operator> #, # percent of, calculat*|comput*|probability|compar*|cheaper, cost of|to|per|over|me, price of|for, how much is|are|does",
    ),
    (5, "which|what|latest|current|new version, record|release*|statistics"),
    (3, "^ fix|review|test|implement|refactor|add"),
];

/// Need for a tool of a request with an address or a file.
pub(crate) const MATERIAL_TOOL: u8 = 7;

/// Instructions about the form of the answer: a clause like this names no task. "Answer in one sentence" is not a summary, and
/// "return JSON" is not code.
pub(crate) const FORM_CLAUSES: &[&str] = &[
    "^ answer|reply|respond|answers|phrase|formulate .. in|within|using|as|only|briefly|concisely|succinctly|shortly $",
    "^ answer|reply|respond|answers in|within|using|as|only|briefly|concisely|succinctly|just",
    "^ answer|reply|respond|output|answers with|by .. only|one|a|single|just|yes|json|#|letter|number|markdown|bullets|two|three",
    "^ be|keep|stay .. brief|concise|short|succinct|detailed|thorough|precise|specific|direct|clear|honest|simple|terse|formal|casual",
    "^ be|get|straight .. to the point, ^ make .. answer|answers|reply|response .. short|brief|concise|detailed|long",
    "^ no|without|skip|avoid|omit|don't|never .. explanation|explanations|preamble|intro|introduction|markdown|emojis|emoji|jargon",
    "^ no|without|skip|avoid|omit|don't|never .. fluff|filler|commentary|disclaimers|apologies|bullets|lists|chit, ^ don't explain",
    "^ return|output|format|provide|produce .. json|yaml|markdown|csv|xml|plaintext|latex, ^ format|structure|present .. as",
    "^ use .. bullet|bullets|markdown|simple|plain|short|headings|tables|layman's|everyday|metric|english",
    "^ only|just the answer|number|result|letter|code|name|output, ^ give .. just|only .. answer|number|result, answer only|first $",
    "^ one|two|three|#|a|single .. sentence|sentences|word|words|line|lines|paragraph only|max|maximum|please|tops|suffices $",
    "^ one|two|three|#|a|single|short|brief|concise|detailed .. sentence|sentences|word|words|line|lines|paragraph|answer|answers $",
    "^ one|two|three|four|five|#|a|single .. sentence|sentences|word|words|line|lines|paragraph at|or|and|is|are|will|would|maximum",
    "^ limit|restrict|cap .. to, ^ think|reason|go|walk|work .. step by step, ^ show|explain your work|steps|reasoning|answer",
    "^ cite|include|add|give|list|name|mention .. sources|references|citations, ^ max|maximum|under|within|up .. words|sentences|lines",
    "^ i|i'd like|prefer|want|hate|love|appreciate .. answers|replies|responses|explanations, ^ at most|least # _",
    "^ as short|brief|concise|detailed|simple as, ^ no more|less than .. words|sentences|lines, ^ make sure .. answer|response",
    "^ step by step $, ^ in detail $, ^ short|quick|brief|concise|detailed|simple answer|please|version $, ^ please $, ^ thanks $",
];

/// Parts of a clause about the form of the answer; the rest of the clause counts.
pub(crate) const FORM_PHRASES: &[&str] = &[
    "in|within|using|with|under .. one|two|three|four|five|six|ten|a|#|few|couple .. sentence|sentences|words|lines|paragraph",
    "in|using .. paragraphs|bullets|bullet|bulleted|list|tabular|table|json|markdown points|form|format|list|please",
    "as a|an|some .. json|list|table|bullets|bulleted|numbered|markdown|haiku|one liner, as json|markdown|csv|bullets|yaml",
    "in json|markdown|yaml|csv|bullets|xml $",
    "step by step, in great|more|full|some detail|depth, in detail|depth|brief|short, in a|one word|sentence|nutshell|paragraph",
    "in simple|plain|easy|everyday|layman's|simpler|your|own words|terms|english|language, like i'm|i five|5|a|am, for dummies",
    "for a|an|total|complete|absolute beginner|layperson|layman|dummy|novice",
    "answer|reply|explain|respond|write .. briefly|shortly|concisely, briefly|concisely",
];

/// The task of a bare subject with nothing but a form: "Macbeth in five bullet points".
pub(crate) const ESSENCE: &str = "summarization";

/// Words for numbers.
pub(crate) const NUMBERS: &str = "#|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|half|twice|third|quarter|dozen";

/// What is asked for when numbers are to be worked with: with one of these and two numbers, or with three numbers and a question.
pub(crate) const QUANTITIES: &str =
    "how many|much|long|far|old|fast|tall|wide|often|likely, what percent|percentage|fraction|number|time";

/// Weight of a calculation.
pub(crate) const CALCULATION: u8 = 9;

/// A request that goes on with what came before.
pub(crate) const FOLLOW_UPS: &[&str] = &[
    "^ and|or|also|plus _, ^ what|how about",
    "^ again $, ^ more|another|others|continue|go|shorter|longer|simpler|same|once|further|elaborate|next|previous|both|neither|less",
    "^ make|do|try|give|show|translate|explain|put|shorten|rewrite|say|repeat|fix|redo|undo|change|turn|add|write it|that|this|them",
    "^ now|then in|with|without|for|as|the|to, ^ do|try|say|give|show|repeat .. again, ^ instead, ^ why $, ^ why not, ^ how so",
    "the other|first|second|third|fourth|last|next|former|latter|same one|ones|thing|option, one more, what else, anything else, _ ones $, ^ cheaper|bigger|smaller|shorter|longer|faster|easier|simpler|better $",
    "^ why|how|where|when|who is|was|does|did|are|were|do it|that|this|they|he|she|them|these|those, ^ a bit|little _",
];

/// Words that point at something said before.
pub(crate) const POINTERS: &[&str] = &[
    "^ do|fix|handle|finish|change|check|continue|translate|summarize|summarise|shorten|rewrite|improve|explain|make|send it|this|that",
    "^ use|run|test|add|put|turn|give|show|read|open|save|review|format|convert|sort|compare|debug|refactor|extend|repeat it|this|that",
    "^ it|this|that|these|those|they, it|this|these|those|them|that|him|her $, the above|former|latter|previous|same|other _",
];

/// A request of so many words stands for itself.
pub(crate) const FEW: usize = 9;

/// A request with a task of at least this weight has its own.
pub(crate) const OWN: u8 = 7;

/// A text with a task of at least this weight is a request beyond doubt.
pub(crate) const PLAIN: u8 = 10;
