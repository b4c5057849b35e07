//! What people say about preferences, and which values of the catalog `agent` they mean.

/// Something that can be wanted or not.
#[derive(Debug)]
pub(in super::super) struct Topic {
    pub(in super::super) component: &'static str,
    pub(in super::super) value: &'static str,
    /// The other end of the axis, if there is one: not to want one end is to want the other.
    pub(in super::super) over: Option<&'static str>,
    /// The words speak of the opposite: to want tools is not to want `no_tool`.
    pub(in super::super) opposite: bool,
    pub(in super::super) words: &'static [&'static str],
}

const fn topic(component: &'static str, value: &'static str, words: &'static [&'static str]) -> Topic {
    Topic { component, value, over: None, opposite: false, words }
}

impl Topic {
    const fn over(self, over: &'static str) -> Self {
        Self { over: Some(over), ..self }
    }

    const fn opposite(self) -> Self {
        Self { opposite: true, ..self }
    }
}

/// In this order; a word belongs to the first topic that takes it.
pub(in super::super) const TOPICS: &[Topic] = &[
    topic(
        "tool",
        "preference_checker",
        &["check .. against .. preferences|taste|likes", "preference check*", "match .. my preferences"],
    ),
    topic(
        "style",
        "confirm_first",
        &[
            "ask|asking .. for .. permission|confirmation|approval|consent",
            "my permission|approval|confirmation|consent|okay",
            "check|checking with me|back",
            "ask|asking me before|first",
            "confirm*",
        ],
    ),
    topic(
        "style",
        "ask_clarification",
        &[
            "ask|asked|asking .. clarifying|clarification question*, clarifying|clarification|counter question*, follow up question*",
            "ask|asked|asking .. what i mean|want",
            "ask|asking .. clarification|back",
            "clarif*",
            "ask|asking .. questions",
            "question|questions back",
        ],
    ),
    topic(
        "tool",
        "ask_user",
        &[
            "ask|asked|asking .. for .. details|information|facts|data|input|missing|it",
            "ask|asked|asking me .. missing|information|details|need",
            "ask me",
            "being asked",
        ],
    ),
    topic(
        "tool",
        "file_search",
        &[
            "search|read|open|touch|look|use|scan|check|access .. my files|documents|folders|notes|drive|disk|emails",
            "my files|documents|folders|notes|drive|disk",
            "file search*",
        ],
    ),
    topic(
        "tool",
        "web_search",
        &[
            "search|searching|browse|look|looking|use|using .. the web|internet|google|net",
            "look|looking things|it|stuff|facts|something up .. online|web|internet",
            "search|searching|look|go|going|browse|looking .. online",
            "browsing|googling|google, search engine*, web|internet|online search*",
            "the web|internet|net",
            "online",
        ],
    ),
    topic("tool", "web_search", &["offline"]).opposite(),
    topic(
        "tool",
        "code_execution",
        &[
            "run|execute|running|executing .. code|scripts|script|programs|commands|python|anything",
            "code execution",
            "execute|executing",
        ],
    ),
    topic("tool", "no_tool", &["from your .. knowledge|head", "from what you know", "what you already know", "without .. tools"]),
    topic("tool", "no_tool", &["use|using .. tools|tool", "tools"]).opposite(),
    topic("memory", "profile_summary", &["my .. profile", "profile summary"]),
    topic(
        "memory",
        "preference_memory",
        &["my preferences|likes|taste|tastes|dislikes", "what i like|prefer|dislike", "preferences"],
    ),
    topic(
        "memory",
        "semantic_memory",
        &[
            "past|old|older|previous|former|related conversations|chats|discussions|sessions|memories",
            "related .. conversations|chats|memories|things",
        ],
    ),
    topic(
        "memory",
        "recent_memory",
        &[
            "what|things i|we .. just|talked|discussed|said",
            "this|the|our current|recent|last|ongoing conversation|chat|session|messages",
            "earlier in|what i said",
        ],
    ),
    topic(
        "memory",
        "no_memory",
        &[
            "remember|store|save|keep|record|use|memorize .. anything|everything|things|data|history|information|memory|memories",
            "my history|data|past",
            "remember|memorize",
            "memory",
        ],
    )
    .opposite(),
    topic("style", "step_by_step", &["step by step", "every|each|single step, steps", "walk me through"]).over("direct"),
    topic(
        "style",
        "direct",
        &[
            "straight|directly|right|get|come to the point|answer",
            "just|only .. the answer|answers|result|results",
            "no|without|skip|any .. explanation|explanations|preamble|introduction|introductions|intro|fluff|waffle, small talk",
            "direct|straightforward|straight answer|answers|replies",
            "direct|straightforward",
        ],
    )
    .over("step_by_step"),
    topic(
        "style",
        "concise",
        &[
            "short|shorter|brief|briefer|concise|succinct|terse|compact|crisp|snappy|quick|pithy|minimal",
            "briefly|concisely|brevity|shortly",
            "tl;dr",
            "to the point",
            "one line|sentence|liner",
            "one|two|few sentence|sentences|lines|words",
            "few words",
        ],
    )
    .over("detailed"),
    topic(
        "style",
        "detailed",
        &[
            "long|longer|lengthy|verbose|wordy|rambling|detailed|elaborate|thorough|comprehensive|extensive|exhaustive",
            "in depth|detail|full",
            "detail|details|depth|background",
            "essay|essays|novels|lecture|lectures",
            "explain .. everything|well|fully|thoroughly",
            "so|too much|many text|words",
        ],
    )
    .over("concise"),
];

/// Where something holds: the name of a task or of a signal, and the words for it.
pub(in super::super) const CONDITIONS: &[(&str, &[&str])] = &[
    (
        "coding",
        &[
            "for|in|with|about|on code|coding|programming|software|scripts|development",
            "for|in|with|about|on coding|programming|code questions|tasks|requests|things|problems|stuff|help",
            "when|if|while|whenever i'm|we're|it's .. coding|programming|code, when|if|whenever i|it am|is .. coding|programming|code",
        ],
    ),
    (
        "analysis",
        &[
            "for|in|with|about|on analysis|analyses|analytics|comparisons|calculations|maths|math|numbers",
            "for|in|with|about|on analytical|complex questions|tasks|requests|topics|problems",
            "when|if|whenever .. analyze|analyse|compare|calculate|analysing|analyzing|comparing",
        ],
    ),
    (
        "factual",
        &[
            "for|in|with|about|on facts|trivia",
            "for|in|with|about|on simple|plain|factual facts|questions|things|answers",
            "factual questions",
        ],
    ),
    ("writing", &["for|in|with|about|on writing|emails|letters|texts", "when|if|whenever .. write|writing|draft|drafting"]),
    ("planning", &["for|in|with|about|on planning|plans|trips|travel", "when|if|whenever .. plan|planning"]),
    ("summarization", &["for|in|with|on summaries|summarization|summarizing", "when|if|whenever .. summarize|summarise"]),
    ("translation", &["for|in|with|on translations|translation|translating", "when|if|whenever .. translate|translating"]),
    ("recommendation", &["for|in|with|on recommendations|suggestions|shopping", "when|if|whenever .. recommend|suggest"]),
    (
        "troubleshooting",
        &["for|in|with|on troubleshooting|problems|errors|debugging", "when|if|whenever .. broken|fails|stops working"],
    ),
    (
        "ambiguity",
        &[
            "if|when|whenever .. unclear|ambiguous|vague|confusing, if|when|whenever .. not|isn't clear, if|when|whenever .. don't understand",
            "unclear|ambiguous|vague requests|questions|things|tasks",
            "in doubt",
        ],
    ),
    (
        "risk",
        &[
            "if|when|whenever .. risky|dangerous|risk|important|irreversible|money|serious|critical|expensive|sensitive",
            "risky|dangerous|important|irreversible|critical|expensive|sensitive things|actions|tasks|steps|stuff|requests|decisions",
            "before .. delet*|pay*|send*|buy*",
        ],
    ),
];

/// Words that turn a meaning round.
pub(in super::super) const NEGATORS: &[&str] = &[
    "not",
    "no",
    "never",
    "without",
    "don't",
    "doesn't",
    "didn't",
    "won't",
    "can't",
    "couldn't",
    "wouldn't",
    "shouldn't",
    "isn't",
    "aren't",
    "mustn't",
    "hate",
    "hates",
    "dislike",
    "avoid",
    "stop",
    "skip",
    "spare",
    "annoy*",
    "less",
    "fewer",
    "tired",
    "sick",
    "forget",
    "hardly",
    "refrain",
    "instead",
    "drop",
];

/// Negators that are none.
pub(in super::super) const NO_NEGATION: &[&str] =
    &["don't|doesn't|wouldn't mind", "not only|just", "no problem|worries|matter", "don't hesitate", "can't wait|get enough"];

/// What is said after something unwanted.
pub(in super::super) const UNWANTED: &[&str] = &[
    "annoy*|unnecessary|boring|bad|useless|unwanted|irritat*|tiring|tiresome|pointless|distracting",
    "isn't|aren't|not needed|necessary|wanted|welcome|useful|helpful",
    "forbidden|prohibited|banned|taboo|private",
    "off limits",
    "not allowed|permitted|okay",
];

/// A prohibition or an obligation.
pub(in super::super) const HARD: &[&str] = &[
    "never",
    "must",
    "mustn't",
    "may not",
    "ever",
    "forbidden|prohibited|banned|taboo",
    "off limits",
    "not allowed|permitted",
    "under|in no circumstances|case",
    "on no account",
    "keep|stay out|off|away|offline",
    "absolutely no|not",
    "required|mandatory|obligatory",
    "have to",
];

/// Prohibitions that stand for "not" as well.
pub(in super::super) const HARD_NOT: &[&str] = &["keep|stay out|off|away", "under|in no circumstances|case", "on no account"];

/// A plain order not to: hard for tools and memory, soft for the way of answering.
pub(in super::super) const ORDER_NOT: &[&str] = &["^ don't", "^ do not", "^ no", "^ stop", "^ avoid", "^ not", "^ without"];

/// Hard with a confirmation, strong otherwise.
pub(in super::super) const ALWAYS: &[&str] = &["always, every|each time, without exception"];

/// Hard with `no_tool`, nothing otherwise.
pub(in super::super) const ONLY: &[&str] = &["only|solely|exclusively"];

/// Much wanted or unwanted.
pub(in super::super) const STRONG: &[&str] =
    &["love|hate|loathe|detest|really|very|absolutely|always|extremely|strongly|definitely|much|never|most|best|insist"];

/// A little wanted or unwanted.
pub(in super::super) const MILD: &[&str] = &["slightly|somewhat|nice|might|rather|fine|okay, kind|sort of, a bit|little"];

/// Said with a doubt.
pub(in super::super) const UNSURE: &[&str] =
    &["usually|often|sometimes|maybe|perhaps|mostly|generally|normally|typically|probably|tend, i think|guess"];

/// Words with which a clause stands on its own instead of sharing the "don't" of the one before.
pub(in super::super) const OWN_START: &[&str] = &[
    "^ i|i'm|i'd|i've|you|please|keep|be|give|go|answer|explain|always|just|make|tell|write|let|try|prefer|only|it's|that|then|use|do",
];

/// Attitudes: a clause with one of them is about a preference, even when no topic is found.
pub(in super::super) const ATTITUDES: &[&str] =
    &["i|i'd like|love|prefer|want|hate|dislike|enjoy|appreciate|need", "please", "always|never|don't|must", "not a fan"];

/// A response in thousandths: mild, ordinary, strong.
pub(in super::super) const RESPONSES: [i32; 3] = [400, 700, 1000];

/// A precision: said with a doubt, ordinary, strong. The base precision of the default settings is 16.
pub(in super::super) const PRECISIONS: [u8; 3] = [2, 4, 8];
