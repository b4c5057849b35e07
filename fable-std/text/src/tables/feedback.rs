//! How people react to an answer.
//!
//! Scores are in thousandths. In a clause each word belongs to the first pattern that takes it, in the order of the table;
//! the scores of the clauses are added and cut to -1000 to 1000.

/// A score and a pattern.
pub(crate) type Cue = (i32, &'static str);

/// What an "okay" is worth. It counts only when every clause is a reaction: "okay, now the next one" is none.
pub(crate) const WEAK: i32 = 300;

/// Whole reactions of a sign or two, which have no words.
pub(crate) const SIGNS: &[(&str, i32)] = &[
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
pub(crate) const HEADS: &str = "no|wrong|actually|sorry|nope";

/// The person says how it really is, or what was meant.
pub(crate) const CORRECTIONS: &[&str] = &[
    "i meant|said",
    "^ i asked for|about",
    "^ actually it's|it|that|the|he|she|they|there",
    "^ no|nope|wrong it's|it|the|i|he|she|they|there",
    "it|that|this should|must be|have, it|that|this has to be",
    "should be|read|say #, should have been #",
    "it's|is|are spelled|spelt|called|named|pronounced",
    "you misunderstood|misread|misheard",
    "misunderstanding",
    "the correct|right answer|one|value|name is, the other way round|around",
    "^ i wanted|needed the|a|an",
];

/// Something is wrong; with how it really is in a later clause this is a correction too.
pub(crate) const WRONG: &[&str] =
    &["wrong|incorrect|mistaken|inaccurate", "not|isn't|wasn't right|correct|true|quite", "confused with", "^ no|nope $"];

/// How a clause begins that says how something is.
pub(crate) const FACTS: &[&str] =
    &["^ it's|it|its|the|he|she|they|there|that|this|these|i|we|not|in|on|at|#", "is|are|was|were|has|have|means"];

/// The person had to ask back, or was asked too much.
pub(crate) const QUESTIONS: &[&str] = &[
    "what do|did you mean, what you mean|meant",
    "which one do|did you mean",
    "i don't|didn't|can't understand|get it|that|this, i don't|didn't|can't understand|get",
    "not understand",
    "what does|is that|this .. mean",
    "makes|make no sense",
    "unclear|confusing|confused",
    "don't|stop|quit|enough .. ask|asking|questions",
    "so|too many questions",
    "keep|keeps asking, why are|do you .. ask|asking",
    "^ what|pardon|eh $, come again, i'm|am lost, no idea what",
    "already asked|told|answered|said, asked|told|answered|said .. already|before",
];

/// Wishes for another answer. They count in questions and orders too.
pub(crate) const CHANGES: &[Cue] = &[
    (-300, "bit|little|slightly more|less|shorter|longer|simpler|clearer"),
    (-400, "shorter|briefer|longer|simpler|clearer please, shorter|briefer|longer|simpler|clearer next time"),
    (-400, "more|less|fewer detail|details|specific|concrete|words|text|precise|context|examples|technical|concise|talking"),
    (-400, "make|keep|write|get .. shorter|longer|simpler|clearer|briefer|short|simple|brief|concise"),
    (-400, "^ shorter|longer|simpler|clearer|briefer|less|fewer"),
    (-500, "why so, why did|do|didn't|don't|are you|it"),
    (-400, "where is|are the rest|other|others"),
    (-500, "try again, are you serious|kidding|joking|sure"),
    (-400, "next time, shorten|simplify|redo this|that|it, i'd prefer|rather, i would prefer|rather, i wish"),
    (-400, "be .. brief|briefer|short|shorter|precise|specific|clear|clearer|concise|direct"),
    (-400, "in simpler|simple|plain|other words|terms|english"),
    (-400, "leave .. out, skip|drop|cut the|all, just the answer|result|facts|number"),
];

/// Everything else that tells good from bad.
pub(crate) const CUES: &[Cue] = &[
    // Phrases whose words alone would mislead.
    (-400, "could be|have better|been"),
    (0, "would|might|should have been nice|good|great|better|helpful, would|might|should be nice|good|great|better|helpful"),
    (-500, "liked|preferred the _ one|version .. better|more, the first|old|other|previous|last one was|is .. better"),
    (600, "more of this|that|these"),
    (0, "thanks|thank .. in advance"),
    (0, "good|best|better morning|evening|afternoon|night|luck"),
    (0, "like a|an"),
    (-400, "nice|good try|attempt"),
    (-500, "you|it should|could|should've|could've have, you should've|could've"),
    (500, "no problem|problems|objection|objections"),
    (400, "don't|doesn't mind"),
    (600, "can't|couldn't be better|happier, can't|couldn't ask|wish .. more|better"),
    (-500, "can't|couldn't|cannot use|read|open|find|see|do"),
    (-600, "not what|how i|we .. asked|wanted|meant|needed|expected|said"),
    (-600, "isn't|wasn't|aren't what|how i|we .. asked|wanted|meant|needed|expected|said"),
    (-500, "expected|hoped .. more|better, hoped for"),
    (-300, "already knew|know|known, i know|knew all|that|this"),
    (-500, "not needed|necessary|required|wanted, doesn't|don't|didn't make sense, you keep|kept|didn't _, don't believe|buy"),
    (-400, "only|just half|partly|partially|part, had|seen|read better, not enough"),
    (500, "makes sense, can work|live with, clears|cleared .. up, read my mind"),
    (-500, "don't|didn't|doesn't need|want|ask .. for|all|that|this|these|any, no need"),
    (-500, "repeating yourself, needs|need work|improvement, over my head, way off, give up, forget it, never mind"),
    (-600, "hard|difficult|impossible|tedious to read|follow|understand|use, waste of"),
    (700, "nailed|beautiful*|gold, that does|did it, you rock|rule, keep it up, answers|answered my|the question|questions"),
    (500, "learned|learnt a lot, fair enough, nothing to add, that'll do, that will do"),
    (700, "what|just|all i needed|wanted|hoped"),
    (800, "exactly"),
    (900, "you're|you are .. best|star|genius|legend|great"),
    (-500, "nothing|little new|useful|helpful|good"),
    (-600, "still not|no|doesn't|isn't|wrong|broken"),
    (-600, "not|doesn't|didn't|isn't|won't|don't work|working|run|help|answer"),
    (600, "works|worked|solved|fixed|helped|helps, gets it"),
    (500, "work .. now|well|great"),
    (500, "^ yes|yep|yeah|yay $"),
    (-500, "^ no|nope|nah $"),
    (-500, "not really|quite|exactly|yet"),
    // Too much, too little, otherwise.
    (-300, "bit|little|slightly too _, bit|little|slightly long|short|vague|complicated|wordy|verbose|dry|slow"),
    (-600, "too|so|way|far|overly long|short|verbose|wordy|brief|vague|complicated|technical|detailed|much|many"),
    (-600, "too|so|way|far|overly slow|simple|general|formal"),
    (-500, "long winded|rambling, wordy|verbose, too _"),
    (-500, "^ don't|stop|quit|never"),
    (-500, "you|it|that forgot|forget|missed|ignored|skipped|overlooked|omitted, you|it left out"),
    (-600, "is|are missing, mistake|mistakes"),
    // Good.
    (1000, "perfect|perfectly|excellent|amazing|awesome|fantastic|brilliant|outstanding|wonderful|superb|flawless|incredible"),
    (1000, "fabulous|terrific|splendid|marvelous|marvellous|magnificent|stellar|exceptional|genius|bravo|kudos|hooray"),
    (900, "love|loved|delighted|thrilled"),
    (800, "great|super|best"),
    (700, "thank|thanks|helpful|useful|clear|nice|good|correct|right|true|like|liked|enjoyed|impressive|impressed|lovely|cool"),
    (700, "solid|handy|insightful|informative|accurate|precise|elegant|satisfied|satisfying|grateful|smart|clever|valuable|fun"),
    (700, "understandable|readable|convincing|interesting|fascinating|pleasant|delightful|complete|thorough|magic|congrat*"),
    (700, "well done|explained|written|put|said"),
    (700, "better|happy|pleased|glad|appreciate|appreciated|neat|sweet|finally"),
    (700, "\u{1f44d}|\u{2764}|\u{1f600}|\u{1f603}|\u{1f604}|\u{1f60a}|\u{1f60d}|\u{1f64f}|\u{1f389}|\u{1f44f}|\u{1f4af}"),
    (WEAK, "okay|fine|alright|sure|acceptable|decent"),
    // Bad.
    (-1000, "terrible|horrible|awful|useless|worst|garbage|rubbish|nonsense|worthless|hate|hated|disaster|pathetic|stupid"),
    (-1000, "idiotic|ridiculous"),
    (-800, "unacceptable|unusable|crap|trash|joke|insult*|offensive|frustrat*|infuriat*|angry|upset, fed up, sick|tired of"),
    (-600, "inadequate|insufficient|incomplete|flawed|faulty|buggy|lame|dull|tedious|clumsy|messy|shallow|superficial|redundant"),
    (-600, "repetitive|pointless|silly|dumb|mess|failure|nonsensical|gibberish|illogical|contradict*|rude|condescending|generic"),
    (-700, "bad|wrong|poor|worse|disappointing|disappointed|unhelpful|annoying|broken|sloppy|lazy|misleading"),
    (-700, "incorrect|mistaken|inaccurate"),
    (-700, "\u{1f44e}|\u{1f621}|\u{1f620}|\u{1f612}|\u{1f61e}|\u{1f644}"),
    (-500, "boring|slow|confusing|unclear|mediocre|irrelevant|outdated|unnecessary|forever|shabby|ugh|argh|yuck|dislike"),
    (-500, "failed|fails|error|errors|lacking|sad|pity"),
    (-500, "long|lengthy"),
];

/// How an order begins that is the next request and no reaction.
pub(crate) const REQUESTS: &[&str] = &[
    "^ write|give|open|translate|list|show|tell|find|explain|create|make|summarize|summarise|draft|compare|convert|add|remove",
    "^ do|send|plan|recommend|suggest|calculate|book|read|search|look|check|continue|go|let me|i will|i'll",
    "^ what|how|when|where|who|which|whose|is|are|can|could|does|do|did|will|would|should",
    "^ my|our",
];

/// Words that turn a score round.
pub(crate) const NEGATORS: &str = "not|no|never|isn't|wasn't|aren't|don't|doesn't|didn't|can't|couldn't|hardly|nothing|without";

/// Words that strengthen what follows by half.
pub(crate) const STRONGER: &str = "very|really|so|extremely|absolutely|totally|completely|way|much|far|such";

/// Score of a correction and of a question, in thousandths, before the penalties.
pub(crate) const CORRECTED: i32 = -400;
/// See [`CORRECTED`].
pub(crate) const QUESTIONED: i32 = -300;
