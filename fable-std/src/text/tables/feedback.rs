//! How people react to an answer.
//!
//! Scores are in thousandths. In a clause each word belongs to the first pattern that takes it, in the order of the table;
//! the scores of the clauses are added and cut to -1000 to 1000.

/// A score and a pattern.
pub(in super::super) type Cue = (i32, &'static str);

/// Whole reactions of a sign or two, which have no words.
pub(in super::super) const SIGNS: &[(&str, i32)] = &[
    ("+", 700),
    ("++", 1000),
    ("+1", 700),
    ("-", -700),
    ("--", -1000),
    ("-1", -700),
    (":)", 600),
    (":-)", 600),
    (":(", -600),
    (":-(", -600),
];

/// Words after which a comma does not begin another clause.
pub(in super::super) const HEADS: &[&str] = &["no", "wrong", "actually", "sorry", "nope"];

/// The person says how it really is, or what was meant.
pub(in super::super) const CORRECTIONS: &[&str] = &[
    "i meant|mean|said|asked|wanted .. not",
    "i meant|said",
    "i was talking|asking about",
    "^ actually it's|it|that|the|he|she|they",
    "^ no|nope it's|it|that's|the|i",
    "it|that|this should|must be|have, it|that|this has to be",
    "should be|read|say #, should have been #",
    "^ wrong the|it|that",
    "you misunderstood|misread|misheard|confused|mixed",
    "misunderstood|misunderstanding",
    "that's|it's|this is not right|correct|true|what i meant",
    "incorrect|mistaken|inaccurate",
    "the correct|right answer|one|value|name is",
];

/// The person had to ask back, or was asked too much.
pub(in super::super) const QUESTIONS: &[&str] = &[
    "what do|did you mean",
    "which one do|did you mean",
    "i don't|didn't|can't understand|get",
    "don't|not understand",
    "what does|is that|this .. mean|supposed",
    "makes no sense",
    "unclear|confusing",
    "stop|quit|enough .. asking|questions",
    "so|too many questions",
    "keep asking",
    "already asked|told|answered|said",
];

/// Everything else that tells good from bad.
pub(in super::super) const CUES: &[Cue] = &[
    // Phrases whose words alone would mislead.
    (
        0,
        "would|could|might|should have been nice|good|great|better|helpful, would|could|might|should be nice|good|great|better|helpful",
    ),
    (0, "what|what's|how|where|who|which .. good|best|better"),
    (0, "thanks|thank in advance"),
    (0, "good|best|better morning|evening|afternoon|night|luck"),
    (500, "no problem|problems|complaint|complaints|objection|objections"),
    (400, "don't|doesn't mind"),
    (500, "can't|couldn't be better|happier, can't|couldn't ask|wish .. more|better"),
    (-600, "not what|how i asked|wanted|meant|needed|expected|said"),
    (-600, "isn't|wasn't|aren't what|how i|we .. asked|wanted|meant|needed|expected|said"),
    (700, "what|just i needed|wanted|asked|hoped"),
    (900, "exactly"),
    (-500, "nothing|little new|useful|helpful|good"),
    (-600, "still not|no|doesn't|isn't|wrong|broken"),
    (-600, "not|doesn't|didn't|isn't|won't|don't work|working|compile|run|help|answer|follow"),
    (600, "works|worked|solved|fixed|helped"),
    (500, "work .. now|well|great"),
    // Too much, too little, otherwise.
    (-300, "bit|little|slightly too|more|less|long|short|shorter|longer|vague|complicated|wordy|verbose"),
    (
        -600,
        "too|so|way|far|overly long|short|verbose|wordy|brief|vague|complicated|technical|detailed|slow|simple|general|much|many|formal",
    ),
    (-500, "long winded|rambling|wordy|verbose"),
    (-400, "shorter|briefer|longer|simpler|clearer please, shorter|briefer|longer|simpler|clearer next time"),
    (-400, "more|less|fewer detail|details|specific|concrete|words|text|precise|context|examples|technical|concise"),
    (-400, "make|keep|write .. shorter|longer|simpler|clearer|briefer|short|simple"),
    (-400, "^ shorter|longer|simpler|clearer|briefer"),
    (-500, "^ don't|stop|quit|never"),
    (-500, "you|it forgot|forget|missed|ignored|skipped|overlooked|omitted, you|it left out"),
    (-500, "again even|despite"),
    (-500, "try again"),
    // Good.
    (1000, "perfect|perfectly|excellent|amazing|awesome|fantastic|brilliant|outstanding|wonderful|superb|flawless|incredible"),
    (900, "love|loved"),
    (800, "great|super"),
    (
        700,
        "thank|thanks|helpful|useful|clear|nice|good|correct|right|like|liked|enjoyed|impressive|impressed|lovely|cool, well done",
    ),
    (
        700,
        "better|happy|pleased|glad|appreciate|appreciated|neat|sweet|yay|wow|\u{1f44d}|\u{2764}|\u{1f600}|\u{1f60a}|\u{1f64f}|\u{1f389}",
    ),
    (300, "okay|fine|alright|sure|acceptable|decent"),
    // Bad.
    (
        -1000,
        "terrible|horrible|awful|useless|worst|garbage|rubbish|nonsense|worthless|hate|hated|disaster|pathetic|stupid|idiotic|ridiculous",
    ),
    (
        -700,
        "bad|wrong|poor|worse|disappointing|disappointed|unhelpful|annoying|broken|sloppy|lazy|misleading|\u{1f44e}|\u{1f621}|\u{1f620}",
    ),
    (
        -500,
        "boring|slow|confusing|unclear|mediocre|meh|irrelevant|outdated|dislike|failed|fails|error|errors|lacking|missing|sad",
    ),
    (-500, "long|lengthy"),
];

/// Words that turn a score round.
pub(in super::super) const NEGATORS: &[&str] = &[
    "not", "no", "never", "isn't", "wasn't", "aren't", "don't", "doesn't", "didn't", "can't", "couldn't", "hardly", "nothing",
    "without",
];

/// Words that strengthen what follows by half.
pub(in super::super) const STRONGER: &[&str] = &["very|really|so|extremely|absolutely|totally|completely|way|much|far"];

/// Score of a correction and of a question, in thousandths, before the penalties.
pub(in super::super) const CORRECTED: i32 = -400;
/// See [`CORRECTED`].
pub(in super::super) const QUESTIONED: i32 = -300;
