//! What people say about preferences, and which values of the catalog `agent` they mean.

/// Something that can be wanted or not.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) component: &'static str,
    pub(crate) value: &'static str,
    /// The other end of the axis, if there is one: not to want one end is to want the other.
    pub(crate) over: Option<&'static str>,
    /// The words speak of the opposite: to want tools is not to want `no_tool`.
    pub(crate) opposite: bool,
    pub(crate) words: &'static [&'static str],
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
pub(crate) const TOPICS: &[Topic] = &[
    topic("tool", "preference_checker", PREFERENCE_CHECKER),
    topic("style", "confirm_first", CONFIRM_FIRST),
    topic("style", "ask_clarification", ASK_CLARIFICATION),
    topic("tool", "ask_user", ASK_USER),
    topic("tool", "file_search", FILE_SEARCH),
    topic("tool", "web_search", WEB_SEARCH),
    topic("tool", "web_search", &["offline"]).opposite(),
    topic("tool", "code_execution", CODE_EXECUTION),
    topic(
        "tool",
        "no_tool",
        &["from your .. knowledge|head", "from what you know, what you already know", "without .. tools"],
    ),
    topic("tool", "no_tool", &["use|using .. tools|tool", "tools"]).opposite(),
    topic("memory", "profile_summary", &["my .. profile", "profile summary"]),
    topic(
        "memory",
        "preference_memory",
        &["my preferences|likes|taste|tastes|dislikes, what i like|prefer|dislike, preferences"],
    ),
    topic("memory", "semantic_memory", SEMANTIC_MEMORY),
    topic("memory", "recent_memory", RECENT_MEMORY),
    topic("memory", "no_memory", ANY_MEMORY).opposite(),
    topic(
        "style",
        "step_by_step",
        &["step by step", "every|each|single step, steps", "walk|guide .. through"],
    )
    .over("direct"),
    topic("style", "direct", DIRECT).over("step_by_step"),
    topic("style", "concise", CONCISE).over("detailed"),
    topic("style", "detailed", DETAILED).over("concise"),
];

const PREFERENCE_CHECKER: &[&str] =
    &["check .. against .. preferences|taste|likes, preference check*, match .. my preferences"];

const CONFIRM_FIRST: &[&str] = &[
    "ask|asking .. for .. permission|confirmation|approval|consent",
    "my permission|approval|confirmation|consent|okay, check|checking with me|back",
    "ask|asked|asking .. before|first",
    "confirm*",
];

const ASK_CLARIFICATION: &[&str] = &[
    "ask|asked|asking .. clarifying|clarification question*, clarifying|clarification|counter question*, follow up question*",
    "ask|asked|asking .. what i mean|want, ask|asking .. clarification|back",
    "ask|asking .. questions, question|questions back",
    "clarif*",
];

const ASK_USER: &[&str] = &[
    "ask|asked|asking .. for .. details|information|facts|data|input|missing|it",
    "ask|asked|asking me .. missing|information|details|need",
    "ask me, being asked",
];

const FILE_SEARCH: &[&str] = &[
    "search|read|reading|open|touch|look|use|scan|check|access .. my files|documents|folders|notes|drive|disk|emails",
    "my files|documents|folders|notes|drive|disk, file search*",
];

const WEB_SEARCH: &[&str] = &[
    "search|searched|searching|browse|look|looking|use|using .. the web|internet|google|net",
    "look|looking things|it|stuff|facts|something up .. online|web|internet",
    "search|searching|look|go|going|browse|looking .. online",
    "browsing|googling|google, search engine*, web|internet|online search*",
    "the web|internet|net, online",
];

const CODE_EXECUTION: &[&str] = &[
    "run|execute|running|executing .. code|scripts|script|programs|commands|python|anything|it|that|them",
    "code execution, execute|executing",
];

const SEMANTIC_MEMORY: &[&str] = &[
    "past|old|older|previous|former|related conversations|chats|discussions|sessions|memories",
    "related .. conversations|chats|memories|things",
];

const RECENT_MEMORY: &[&str] = &[
    "what|things i|we .. just|talked|discussed|said",
    "this|the|our current|recent|last|ongoing conversation|chat|session|messages",
    "this conversation|chat, earlier in, what i said",
];

const ANY_MEMORY: &[&str] = &[
    "remember|store|save|keep|record|use|memorize .. anything|everything|things|data|history|information|memory|memories",
    "my history|data|past, everything|anything i .. tell|told|say|said",
    "remember|memorize|memory",
];

const DIRECT: &[&str] = &[
    "straight|directly|right|get|come to the point|answer",
    "just|only .. the answer|answers|result|results",
    "no|without|skip|any .. explanation|explanations|preamble|introduction|introductions|intro|fluff|waffle|talk",
    "direct|straightforward|straight answer|answers|replies, direct|straightforward",
];

const CONCISE: &[&str] = &[
    "short|shorter|brief|briefer|concise|succinct|terse|compact|crisp|snappy|quick|pithy|minimal|briefly|concisely|tl;dr",
    "to the point, one liner|line",
    "one|two|three|four|five|few|# sentence|sentences|lines|words|paragraph",
];

const DETAILED: &[&str] = &[
    "long|longer|lengthy|verbose|wordy|rambling|detailed|elaborate|thorough|comprehensive|extensive|exhaustive",
    "in depth|detail|full, detail|details|depth|background, essay|essays|novels|lecture|lectures",
    "explain .. everything|well|fully|thoroughly, talk|talks|write|say too|so much",
    "text|texts|words",
];

/// Where something holds: the name of a task or of a signal, and the words for it.
pub(crate) const CONDITIONS: &[(&str, &[&str])] = &[
    ("coding", CODING),
    ("analysis", ANALYSIS),
    ("factual", FACTUAL),
    (
        "writing",
        &[
            "^ emails|letters, for|in|with|about|on writing|emails|letters|texts, when|if|whenever .. write|writing|draft",
        ],
    ),
    (
        "planning",
        &["^ plans, for|in|with|about|on planning|plans|trips|travel, when|if|whenever .. plan|planning"],
    ),
    (
        "summarization",
        &["^ summaries, for|in|with|on summaries|summarization, when|if|whenever .. summarize|summarise"],
    ),
    (
        "translation",
        &[
            "^ translations, for|in|with|on translations|translation, when|if|whenever .. translate|translating",
        ],
    ),
    (
        "recommendation",
        &[
            "^ recommendations, for|in|with|on recommendations|suggestions, when|if|whenever .. recommend|suggest",
        ],
    ),
    (
        "troubleshooting",
        &["for|in|with|on troubleshooting|problems|errors, when|if|whenever .. broken|fails|breaks|stops"],
    ),
    ("ambiguity", AMBIGUITY),
    ("risk", RISK),
];

const CODING: &[&str] = &[
    "for|in|with|about|on code|coding|programming|software|scripts|development",
    "when|if|while|whenever i'm|we're|it's .. coding|programming|code, when|if|whenever i|it am|is .. coding|programming|code",
];

const ANALYSIS: &[&str] = &[
    "for|in|with|about|on analysis|analyses|analytics|comparisons|calculations|maths|math|numbers",
    "for|in|with|about|on analytical|complex questions|tasks|requests|topics|problems",
    "when|if|whenever .. analyze|analyse|compare|calculate|analysing|analyzing|comparing",
];

const FACTUAL: &[&str] = &[
    "for|in|with|about|on facts|trivia, factual questions",
    "for|in|with|about|on simple|plain|factual facts|questions|things|answers",
];

const AMBIGUITY: &[&str] = &[
    "if|when|whenever .. unclear|ambiguous|vague|confusing, in doubt",
    "if|when|whenever .. not|isn't clear, if|when|whenever .. don't understand",
    "unclear|ambiguous|vague requests|questions|things|tasks",
];

const RISK: &[&str] = &[
    "if|when|whenever .. risky|dangerous|risk|important|irreversible|money|serious|critical|expensive|sensitive",
    "risky|dangerous|important|irreversible|critical|expensive|sensitive things|actions|tasks|steps|stuff|requests|decisions",
    "before .. delet*|pay*|send*|buy*",
];

/// Words that turn a meaning round.
pub(crate) const NEGATORS: &str = "not|no|never|without|don't|doesn't|didn't|won't|can't|couldn't|wouldn't|shouldn't\
     |isn't|aren't|mustn't|hate|hates|dislike|avoid|stop|skip|spare|annoy*|less|fewer|tired|sick|forget|forbid|hardly|refrain\
     |instead|drop";

/// Negators that are none.
pub(crate) const NO_NEGATION: &str = "don't|doesn't|wouldn't mind, not only|just, no problem|worries|matter, don't hesitate, can't wait, can't get";

/// What is said after something unwanted.
pub(crate) const UNWANTED: &[&str] = &[
    "annoy*|unnecessary|boring|bad|useless|unwanted|irritat*|tiring|tiresome|pointless|distracting",
    "isn't|aren't|not needed|necessary|wanted|welcome|useful|helpful",
    "forbidden|prohibited|banned|taboo, not allowed|permitted|okay",
];

/// Prohibitions.
pub(crate) const PROHIBITIONS: &[&str] = &[
    "never|forbid|forbidden|prohibited|banned|taboo|mustn't, not|don't ever, may not, not allowed|permitted",
    "under|in no circumstances|case, on no account, absolutely no|not, keep|stay out|off|away|offline",
];

/// Obligations; with a "not" they prohibit.
pub(crate) const OBLIGATIONS: &str = "required|mandatory|obligatory, you|it|they|answers|replies|explanations|tools must, you have to, must not|never|always";

/// What sounds like it and is a habit or a manner of speaking: "I never read long texts".
pub(crate) const HABITS: &str = "i|we|i've never";

/// Habits that are prohibitions after all.
pub(crate) const NO_HABITS: &str = "i|we never want|wish|ever";

/// Prohibitions that stand for "not" as well.
pub(crate) const HARD_NOT: &[&str] =
    &["keep|stay out|off|away", "under|in no circumstances|case", "on no account"];

/// A plain order not to: hard for tools and memory, soft for the way of answering.
pub(crate) const ORDER_NOT: &str = "^ don't|no|stop|avoid|not|without|forget, ^ do not";

/// Hard with a confirmation, strong otherwise.
pub(crate) const ALWAYS: &str = "always, every|each time, without exception";

/// Hard with `no_tool`, nothing otherwise.
pub(crate) const ONLY: &str = "only|solely|exclusively";

/// Much wanted or unwanted.
pub(crate) const STRONG: &str = "love|hate|loathe|detest|really|very|absolutely|always|extremely|strongly|definitely|much|never|most|best|insist";

/// A little wanted or unwanted.
pub(crate) const MILD: &str = "slightly|somewhat|nice|might|rather|fine|okay, kind|sort of, a bit|little";

/// Said with a doubt.
pub(crate) const UNSURE: &str =
    "usually|often|sometimes|maybe|perhaps|mostly|generally|normally|typically|probably|tend, i think|guess";

/// Tools and memory are wanted only where it is said: "the web is full of cats" wants nothing.
pub(crate) const WANTED: &[&str] = &[
    "i|i'd|i'll|we like|love|prefer|want|enjoy|appreciate|need|rather|expect|trust",
    "please|feel|free|happy|fine|okay|nice|good|great|helps|helpful|useful|glad|welcome|should|could|can|may|always|must",
    IMPERATIVE,
];

/// How an order about tools and memory begins.
pub(crate) const IMPERATIVE: &str = "^ search|look|use|check|run|execute|remember|keep|ask|read|browse|google|refer\
     |consider|take|test|consult|work|stay|answer|go";

/// A clause of these words alone belongs to the next one.
pub(crate) const BARE: &str = "never|ever|please|no|not|don't|absolutely|really|also";

/// Words with which a clause stands on its own instead of sharing the "don't" of the one before.
pub(crate) const OWN_START: &str = "^ i|i'm|i'd|you|please|keep|be|give|go|answer|explain|always|just|make|tell\
     |write|let|try|prefer|only|it's|that|then|use|do";

/// Attitudes: a clause with one of them is about a preference, even when no topic is found.
pub(crate) const ATTITUDES: &str = "i|i'd like|love|prefer|want|hate|dislike|enjoy|appreciate|need, please|always|never|don't|must, not a fan";

/// A response in thousandths: mild, ordinary, strong.
pub(crate) const RESPONSES: [i32; 3] = [400, 700, 1000];

/// A precision: said with a doubt, ordinary, strong. The base precision of the default settings is 16.
pub(crate) const PRECISIONS: [u8; 3] = [2, 4, 8];
