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
    ("10/10", 1000),
    ("5/5", 1000),
    ("100%", 800),
    ("-", -700),
    ("--", -1000),
    ("-1", -700),
    (":)", 600),
    (":-)", 600),
    (":(", -600),
    (":-(", -600),
];

/// Words after which a comma does not begin another clause.
pub(crate) const HEADS: &str = "no|wrong|actually|sorry|nope|nah|hm|hmm|um|uh|well|oh|ah|lol|haha|dude|man|bro|mate|wow|erm|umm|hey|look|please|again";

/// The person says how it really is, or what was meant.
pub(crate) const CORRECTIONS: &[&str] = &[
    "i meant|said",
    "^ i asked for|about",
    "^ actually it's|it|that|the|he|she|they|there",
    "^ no|nope|wrong it's|it|the|i|he|she|they|there",
    "it|that|this|he|she should|must be|have|say|read, no|nope|nah .. the one|ones, it|that|this has to be",
    "should be|read|say #, should have been #",
    "it's|is|are spelled|spelt|called|named|pronounced",
    "you misunderstood|misread|misheard",
    "misunderstanding",
    "the correct|right answer|one|value|name is, the other way round|around",
    "^ i wanted|needed the|a|an",
    "wrong file|one|person|year|city|month|version|name|number|date|place|language|way|country|column|street|size, mixed|mix|swapped up|the",
    "i was|am|were asking|talking|thinking|referring .. about|for|of, i'm asking|talking|referring about|for|to, i didn't|never mean|say",
    "not the _ one|version|file, meant to say, instead of the|a, it's|its actually, is actually, confused .. with, the real|actual _ is",
    "you mean|meant .. not, there are|is only|actually|no #|one|two|three|four|five, has|have only #|two|three|four|five",
];

/// Something is wrong; with how it really is in a later clause this is a correction too.
pub(crate) const WRONG: &[&str] = &[
    "wrong|incorrect|mistaken|inaccurate",
    "not|isn't|wasn't right|correct|true|quite",
    "confused with",
    "^ no|nope $, no no",
];

/// How a clause begins that says how something is.
pub(crate) const FACTS: &[&str] = &[
    "^ it's|it|its|the|he|she|they|there|that|this|these|i|we|not|in|on|at|#",
    "is|are|was|were|has|have|means",
];

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
    "which one|part|file|bit|version .. are|do|did you, why do|did|would you .. need|want|have .. know|ask",
    "don't|can't|couldn't|didn't|not .. follow|following|grasp, lost me, more confused|confusing",
    "^ huh|pardon|wha|eh $, say what, what are you talking|saying|on|even, what is that|this supposed|even",
    "no idea|clue what, what the heck|hell, doesn't|don't mean anything, what exactly do|does|did .. mean, how do you mean",
    "asked you that|this|already, how many times, why .. asking, you asked, all these|those questions, quit|stop questioning",
];

/// Wishes for another answer. They count in questions and orders too.
pub(crate) const CHANGES: &[Cue] = &[
    (-300, "bit|little|slightly more|less|shorter|longer|simpler|clearer"),
    (-400, "shorter|briefer|longer|simpler|clearer please, shorter|briefer|longer|simpler|clearer next time"),
    (
        -400,
        "more|less|fewer detail|details|specific|concrete|words|text|precise|context|examples|technical|concise|talking",
    ),
    (-400, "make|keep|write|get .. shorter|longer|simpler|clearer|briefer|short|simple|brief|concise"),
    (-400, "^ shorter|longer|simpler|clearer|briefer|less|fewer"),
    (-500, "why so, why did|do|didn't|don't|are you|it"),
    (-400, "where is|are the rest|other|others"),
    (-500, "try again, are you serious|kidding|joking|sure"),
    (-400, "next time, shorten|simplify|redo this|that|it, i'd prefer|rather, i would prefer|rather, i wish"),
    (-400, "be .. brief|briefer|short|shorter|precise|specific|clear|clearer|concise|direct"),
    (-400, "in simpler|simple|plain|other words|terms|english"),
    (
        -400,
        "leave .. out, skip|drop|cut|ditch|lose|remove the|all .. intro|introduction|fluff|jargon|examples|details|apologies|disclaimers",
    ),
    (
        -400,
        "skip|drop|cut|ditch the|all, just the answer|result|facts|number|basics|essentials|point, just tell|give me the, elaborate",
    ),
    (700, "just|exactly what|how the|i|we|you"),
    (-500, "why on earth, why the hell|heck"),
    (-400, "tone .. down|it, down a notch"),
    (
        -500,
        "wall of text, cut to the chase, get|come to the point, too much information, waste of, rewrite|reword|rephrase|rework|revise it|that",
    ),
    (
        -400,
        "start over, do it again, do over, once more|again, without the|all|so .. fluff|jargon|intro|examples|details|emojis|lecture|history",
    ),
    (
        -400,
        "stop|quit apologizing|rambling|repeating|guessing|lecturing|being|using|adding|with|making|doing|assuming|searching|inventing",
    ),
    (
        -400,
        "use|used|using .. simpler|fewer|less|plain, more like|in simply|simple|human, check|read|look .. again|carefully|properly, re read",
    ),
    (
        -400,
        "expand|go deeper|elaborate on|into|a, more information|info|depth|explanation|steps|to it, less is more, spell it out, dumb it down",
    ),
    (
        -400,
        "half|third the length, half as|the long|length|words, twice as, one sentence|line|word is|was|would enough|do|suffice",
    ),
    (
        -500,
        "can|could|would you not, can't|couldn't you just, would it kill you, next time|in future|from now on|going forward",
    ),
    (
        -400,
        "be|keep .. honest|serious|realistic|careful|careful|consistent|quiet|nicer|kinder|formal|informal|on topic|to the point",
    ),
];

/// Questions that are none.
pub(crate) const RHETORICAL: &[Cue] = &[
    (-500, "you call that|this|it, is it|that|this made|invented, made up"),
    (
        -500,
        "^ that's|that|this|is it|all|everything $, is that|this it|all|everything|really|seriously|supposed|a|the best|how, is this|that a joke",
    ),
    (
        -500,
        "did|do|have|can you even|actually|really|bother, what is this|that $, seriously|really|srsly $, how is|does that|this|it .. help|answer",
    ),
    (
        -500,
        "how is|does that|this|it .. helpful|useful|relevant|related|better, why would|should i, who asked, ^ so what $",
    ),
    (
        -500,
        "^ source|sources|proof|evidence|tl;dr $, says who, where did you get, where does .. come from, what happened to, what about the rest",
    ),
    (
        -500,
        "where|what is|are|happened|the rest|missing, why|how .. so|this|that long|short|complicated|slow|much|many",
    ),
    (
        -500,
        "do you|did think|expect|listen|read, what kind|sort of answer|help|joke, is it|that|this too hard, can you read|count",
    ),
];

/// Everything else that tells good from bad.
pub(crate) const CUES: &[Cue] = &[
    // Phrases whose words alone would mislead.
    (
        -600,
        "best|good|great|nice|favourite|liked|loved|enjoyed .. part|thing|bit|moment .. when|where|that it|it's|this|you .. ended|stopped|over $",
    ),
    (-500, "^ as if that|this|it|i|you|anyone|anybody"),
    (
        -500,
        "not|hardly sure|certain|convinced|confident .. right|correct|true|accurate|good|better|works|helps|useful|helpful",
    ),
    (
        -500,
        "not|isn't|hardly sure|certain|convinced|confident, not an|a|the answer|option|solution|explanation|help, asked|told you not|to",
    ),
    (
        -500,
        "don't|can't|wouldn't trust|believe|rely|buy, let down, letdown|fluff|waffle|padding|ignores|ignore|ignoring, bit|little|rather much, on earth",
    ),
    (
        -400,
        "i|we expected|anticipated a|an|the|to|more|less|something, this|it|that isn't|not helping|helpful|useful|working",
    ),
    (
        700,
        "the ticket, more than enough, understand|get|know what|how i|me, nicely|beautifully|neatly|cleverly|perfectly _, clear as, back to this",
    ),
    (
        -500,
        "you keep|kept|constantly _, i'd|would love|like|appreciate .. if, goes|go nowhere, over the top, a notch, tone .. off|down, is|feels off",
    ),
    (
        -500,
        "need|needs|wanted|expected|hoped .. more|better than|work, no one asked|cares, would have been enough|sufficient|fine, can't|couldn't make",
    ),
    (
        -600,
        "slower|worse|uglier|messier|vaguer|wordier|dumber, reads|sounds|looks|feels like, robot|filler|clickbait|spam|slop, no use",
    ),
    (
        800,
        "doctor ordered, could kiss|hug you, much|way|far|lot|so better|clearer|nicer|easier|faster|simpler, even better",
    ),
    (
        -600,
        "don't|can't|fail .. see|get|understand how|why|what .. answers|helps|works|helpful|useful|good|better|relevant|solves",
    ),
    (
        -600,
        "don't|can't|fail .. see|get|understand how|why|what, would|i'd have liked|wanted|preferred|appreciated|expected|hoped|been|loved",
    ),
    (
        -500,
        "going nowhere, repeated|repeat|repeats|repeating, so little|few, none the wiser, same thing|mistake|error again|three|twice|every",
    ),
    (
        700,
        "answers|answered it|my|that|this|everything|all, running|working|fine|good again, well|nicely|clearly structured|organized|formatted|researched",
    ),
    (
        900,
        "thank|thanks you|so|very|a .. much|lot, thanks a lot|million|bunch|ton, hell|heck yes|yeah, hard|tough to beat|fault|improve|top",
    ),
    (
        600,
        "no need|reason to change|add|fix|worry|correct|improve|edit, nothing .. change|add|improve|complain|criticize|fault|fix",
    ),
    (600, "wasn't|didn't|weren't|never expecting|expect|expected such|so|this|that"),
    (
        600,
        "no longer broken|wrong|slow|stuck|failing|crashes|confused|confusing|lost, not a|one single, without a single|fault|mistake",
    ),
    (
        -600,
        "can't|wouldn't|don't|couldn't say|call|think|consider|find .. happy|good|helpful|useful|great|clear|right|correct|satisfied|impressed",
    ),
    (
        -400,
        "good|oh grief|lord|god|heavens|dear, if only, fail to, far from, hell|heck no, you call this|that",
    ),
    (
        -800,
        "thanks|thank .. for nothing, thanks but no thanks, no thanks|thank, no good|use|help|point|way, not again, wrong again",
    ),
    (
        -600,
        "not even close, nowhere near, not a fan, not impressed|convinced|happy|satisfied|great|ideal|it|there|enough|usable|acceptable",
    ),
    (
        -600,
        "missing|missed|miss|misses the point|mark|boat, off topic|base|track|mark, beside the point, nothing to do with, doesn't|don't exist",
    ),
    (
        -600,
        "made|making|make that|it|this|stuff|things up, out of date, dead|broken|wrong link, link is dead|broken, doesn't cut|add|fly|hold|fit|match",
    ),
    (
        -600,
        "had|have to read|ask|google|search|do|fix|redo|look|rewrite .. myself|twice|times|again|up|it, could have|could've googled|guessed|found|done",
    ),
    (
        -600,
        "won't|wouldn't|can't|doesn't|don't|didn't do|cut|help|compile|run|load|render|parse|open|say|mention|address|cover|include|solve|explain",
    ),
    (
        -500,
        "would|might have been better|nicer|good|great|nice|helpful|enough if|to, better if|without, would be better|nicer|great|helpful|good if",
    ),
    (
        -500,
        "half baked|hearted|finished|right|done|true, so so, all over the place, took too|ages|forever|so|long, way too, a lot to read, could do better",
    ),
    (
        -500,
        "supposed to, not the best|greatest|first|way, lost me, leaves|left .. out|something, nobody asked|cares|wants, too good to be true",
    ),
    (
        -500,
        "not in the mood, rather|prefer .. not|if, not my cup|thing|style|taste, i'll .. myself|elsewhere, i will .. myself|elsewhere",
    ),
    (
        -500,
        "not|never|nothing .. asked|ask|wanted|want|needed|need|expected|hoped|looking|requested|mentioned, wish|wished you|it|there|this",
    ),
    (
        800,
        "spot on, on point|target|the money, bang on, hit|hits the nail|spot|mark, nail on, chef's kiss, top notch|marks|tier, first class|rate",
    ),
    (800, "just right, more like it, now we're talking, well played|done|spotted, good work|stuff|one|point"),
    (
        700,
        "good|great|nice|excellent|smart idea|call|find|thinking|news|answer|explanation|job|touch|one|work|summary|length|style, perfect length|amount",
    ),
    (
        700,
        "you got it|this|that, got it, bingo|bullseye|lifesaver|eureka|tada, life saver, saved me|my|the, made my day|life, no notes|complaints|worries",
    ),
    (
        700,
        "no|without issues|issue|trouble|corrections|changes|mistakes|errors|further|doubt, can't complain|fault|argue, hats off, thumbs up, bless you",
    ),
    (
        800,
        "five stars, # stars|points|out, a plus, big|huge|great|real|massive|tremendous help|improvement|thanks|relief|fan, that's the one|spirit|way",
    ),
    (
        600,
        "that's|is exactly|what|how .. wanted|needed|meant|looking|hoping|asked|after, that's|is it|all $, what i was after|looking|hoping|needed",
    ),
    (
        600,
        "runs|compiles|builds|working|boots|loads|starts fine|now|again|perfectly|smoothly|great|well, it's|its|is|all working, up and running, all set|sorted|good",
    ),
    (
        600,
        "did|does|do|doing the trick|job, problem solved|fixed|gone, back to normal, easy|easier to follow|read|understand|use, to the point, crystal clear",
    ),
    (
        600,
        "now|finally i get|understand|see|know, i understand|get|see .. now, i|ah|oh|aha see|understand $, makes|made .. clear|clearer|easy|sense, learned|learnt",
    ),
    (
        500,
        "keep|stay like|doing|this|it .. this|that|way|up|going, like|love|loved|enjoy|appreciate how|that|your|this|it",
    ),
    (
        600,
        "worth it|the, couldn't|can't have|agree|thank|recommend .. more|better|it|you|enough, that|this|it will|should do|suffice $",
    ),
    (
        -700,
        "^ wtf|smh|meh|bleh|yikes|ugh|facepalm|sigh|yawn|boo|nonsense|lies|bs|fail|nooo|noo, bullshit|hallucinat*|piss*|irritat*|annoy*|confus*",
    ),
    (-400, "could be|have better|been"),
    (
        0,
        "would|might|should have been nice|good|great|better|helpful, would|might|should be nice|good|great|better|helpful",
    ),
    (
        -500,
        "liked|preferred the _ one|version .. better|more, the first|old|other|previous|last one was|is .. better",
    ),
    (600, "more of this|that|these"),
    (0, "thanks|thank .. in advance"),
    (0, "good|best|better morning|evening|afternoon|night|luck"),
    (0, "like a|an|it|you|he|she|they|i|we|that|this was|is|were|are|_"),
    (-400, "nice|good try|attempt"),
    (-500, "you|it should|could|should|could have, you should|could"),
    (500, "no problem|problems|objection|objections"),
    (400, "don't|doesn't mind"),
    (600, "can't|couldn't be better|happier, can't|couldn't ask|wish .. more|better"),
    (-500, "can't|couldn't|cannot use|read|open|find|see|do"),
    (-600, "not what|how i|we .. asked|wanted|meant|needed|expected|said"),
    (-600, "isn't|wasn't|aren't what|how i|we .. asked|wanted|meant|needed|expected|said"),
    (-500, "expected|hoped .. more|better, hoped for"),
    (-300, "already knew|know|known, i know|knew all|that|this"),
    (
        -500,
        "not needed|necessary|required|wanted, doesn't|don't|didn't make .. sense, you keep|kept|didn't _, don't believe|buy",
    ),
    (-400, "only|just half|partly|partially|part, had|seen|read better, not enough"),
    (500, "makes sense, can work|live with, clears|cleared .. up, read my mind"),
    (-500, "don't|didn't|doesn't need|want|ask .. for|all|that|this|these|any, no need"),
    (
        -500,
        "repeating yourself, needs|need .. work|improvement, over my head, way off, give up, forget it, never mind",
    ),
    (-600, "hard|difficult|impossible|tedious to read|follow|understand|use, waste of"),
    (
        700,
        "nailed|beautiful*|gold, that does|did it, you rock|rule, keep it up, answers|answered my|the question|questions",
    ),
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
    (
        -300,
        "bit|little|slightly too _, bit|little|slightly long|short|vague|complicated|wordy|verbose|dry|slow",
    ),
    (
        -600,
        "too|so|way|far|overly long|short|verbose|wordy|brief|vague|complicated|technical|detailed|much|many",
    ),
    (-600, "too|so|way|far|overly slow|simple|general|formal"),
    (-500, "long winded|rambling, wordy|verbose, too _"),
    (-500, "^ don't|stop|quit, ^ never do|use|say|make|write|ask|search|give|show|tell|again|change|assume"),
    (-500, "you|it|that|have forgot|forget|missed|ignored|skipped|overlooked|omitted, you|it left out"),
    (-600, "is|are missing, mistake|mistakes"),
    // Good.
    (
        1000,
        "perfect|perfectly|excellent|amazing|awesome|fantastic|brilliant|outstanding|wonderful|superb|flawless|incredible",
    ),
    (
        1000,
        "fabulous|terrific|splendid|marvelous|marvellous|magnificent|stellar|exceptional|genius|bravo|kudos|hooray",
    ),
    (
        900,
        "love|loved|adore|delighted|thrilled|ecstatic|stoked|legend|lifesaver|godsend|masterpiece|phenomenal|sublime|exquisite|impeccable|spotless",
    ),
    (800, "great|super|best"),
    (
        700,
        "thank|thanks|helpful|useful|clear|nice|good|correct|right|true|enjoyed|impressive|impressed|lovely|cool",
    ),
    (
        700,
        "i|we|really|do|also|always|particularly like|liked|enjoy, like|liked it|this|that|how|the|your|these",
    ),
    (
        700,
        "solid|handy|insightful|informative|accurate|precise|elegant|satisfied|satisfying|grateful|smart|clever|valuable|fun",
    ),
    (
        700,
        "understandable|readable|convincing|interesting|fascinating|pleasant|delightful|complete|thorough|magic|congrat*",
    ),
    (700, "well done|explained|written|put|said"),
    (700, "better|happy|pleased|glad|appreciate|appreciated|neat|sweet|finally"),
    (
        700,
        "\u{1f44d}|\u{2764}|\u{1f600}|\u{1f603}|\u{1f604}|\u{1f60a}|\u{1f60d}|\u{1f64f}|\u{1f389}|\u{1f44f}|\u{1f4af}",
    ),
    (WEAK, "wow"),
    (
        700,
        "yess|yesss|yessss|fab|yay|woohoo|sweet|dope|lit|nifty|slick|crisp|polished|classy|witty|funny|charming|cute|adorable|refreshing|reassuring|relevant",
    ),
    (
        700,
        "lgtm|ace|sensible|reasonable|logical|consistent|reliable|trustworthy|comprehensive|detailed|succinct|concise|efficient, was|is|so|very|super|really|nice quick|fast, quick and",
    ),
    (
        700,
        "thorough|rich|vivid|inspiring|encouraging|practical|actionable|workable|usable|digestible|memorable|apt|fitting|balanced|fair",
    ),
    (
        600,
        "welcome|relieved|grateful|content|agree|agreed|indeed|absolutely|definitely|precisely, all good|done|clear|right",
    ),
    (WEAK, "okay|fine|alright|sure|acceptable|decent|passable|fairly, not terrible|horrible|awful"),
    // Bad.
    (
        -1000,
        "terrible|horrible|awful|useless|worst|garbage|rubbish|nonsense|worthless|hate|hated|disaster|pathetic|stupid",
    ),
    (-1000, "idiotic|ridiculous"),
    (
        -800,
        "unacceptable|unusable|crap|trash|joke|insult*|offensive|frustrat*|infuriat*|angry|upset, fed up, sick|tired of",
    ),
    (
        -600,
        "inadequate|insufficient|incomplete|flawed|faulty|buggy|lame|dull|tedious|clumsy|messy|shallow|superficial|redundant",
    ),
    (
        -600,
        "repetitive|pointless|silly|dumb|mess|failure|nonsensical|gibberish|illogical|contradict*|rude|condescending|generic",
    ),
    (
        -700,
        "bad|wrong|poor|worse|disappointing|disappointed|unhelpful|annoying|broken|sloppy|lazy|misleading",
    ),
    (-700, "incorrect|mistaken|inaccurate"),
    (-700, "\u{1f44e}|\u{1f621}|\u{1f620}|\u{1f612}|\u{1f61e}|\u{1f644}"),
    (
        -500,
        "boring|slow|confusing|unclear|mediocre|irrelevant|outdated|unnecessary|forever|shabby|ugh|argh|yuck|dislike",
    ),
    (-500, "failed|fails|error|errors|lacking|sad|pity"),
    (-500, "long|lengthy"),
    (
        -700,
        "sucks|suck|sucked|crappy|wtf|smh|meh|bleh|yikes|facepalm|lies|lying|liar|fake|dangerous|careless|embarrassing|atrocious|dreadful",
    ),
    (
        -700,
        "abysmal|hopeless|ineffective|unprofessional|unreliable|untrue|false|fabricated|invented|bogus|absurd|insane|disgusting|ugly|cringe",
    ),
    (
        -600,
        "overkill|bloated|rambling|preachy|patronizing|robotic|cheesy|corny|clunky|stiff|vague|weak|thin|subpar|lackluster|underwhelming",
    ),
    (
        -600,
        "unimpressive|unconvincing|unreadable|unrelated|unwanted|unfriendly|inconsistent|incoherent|overwhelming|dense|dry|stale|obsolete|waffle",
    ),
    (
        -600,
        "nope|wordy|longwinded|overcomplicated|oversimplified|biased|one sided|naive|amateurish|childish|arrogant|cold|abrupt|sarcastic|lecture",
    ),
    (
        -500,
        "unfortunately|regret|typo|typos|bugs|crashed|crashes|crash|glitch|stuck|gaps|holes|lacks|lacking|lack|forgot|overlooked|omits|shame",
    ),
];

/// How an order begins that is the next request and no reaction.
pub(crate) const REQUESTS: &[&str] = &[
    "^ write|give|open|translate|list|show|tell|find|explain|create|make|summarize|summarise|draft|compare|convert|add|remove",
    "^ do|send|plan|recommend|suggest|calculate|book|read|search|look|check|continue|go|let, ^ i will, ^ i'll",
    "^ evaluate|condense|lay|pour|figure|bring|have|reply|proofread|paraphrase|organize|arrange|estimate|assess|review|implement|debug",
    "^ refactor|migrate|invent|imagine|compose|discuss|debate|simplify|decide|dress|select|recap|sum|unsubscribe|cancel|lock|mute|switch",
    "^ text|phone|invite|submit|sign|accept|reject|approve|wipe|erase|format|publish|port|polish, ^ clear|empty|correct|tidy the|my|this|all",
    "^ what|how|when|where|who|which|whose|is|are|can|could|does|do|did|will|would|should",
    "^ my|our, i|we need|want|i'd a|an|to|some|help|advice|someone, ^ i'm|we're looking|planning|going|writing|trying|working|moving|thinking",
    "^ rewrite|rephrase|schedule|set|remind|order|buy|play|call|print|save|rename|move|update|change|run|build|design|prepare|turn|put|use",
    "^ sort|generate|help|describe|name|pick|choose|fix|solve|prove|compute|analyze|analyse|teach|remove|define|outline|transfer|delete|post",
    "^ why|whose|whom, ^ next question|topic|task|one|up, ^ now the|for|to|on|about|let|we",
];

/// Before an "if": what follows is granted, or open, and is not a condition.
pub(crate) const GRANTING: &[&str] = &["even|what|see|check|test|know|tell|say|wonder $, _ as $"];

/// After an "if": said by the way, and not a condition.
pub(crate) const BY_THE_WAY: &[&str] = &[
    "^ you ask|permit|pardon|know|can|could|would|ever|will, ^ you don't|do|wouldn't mind, ^ i may|might|do|must|can|recall|remember",
    "^ it's|that's not|okay|alright|possible|fine, ^ i'm not|honest|correct, ^ i am not|honest, ^ we're honest",
    "^ not|a|an|slightly|somewhat|rather|perhaps|maybe|anything|possible|need|necessary|so|any|still",
];

/// After an "if": what is not so, or what nobody wants. Praise under such a condition is mockery.
pub(crate) const UNREAL: &[&str] = &[
    "^ you|they|somebody|someone|anyone|people|one wanted|meant|intended|tried|aimed|hoped|planned|set|ignore|forget|overlook|squint",
    "^ you|they was|were|are trying|going|hoping|aiming|planning|out, ^ you're trying|going|hoping|aiming|planning",
    "^ you|one|people like|love|enjoy|fancy|prefer being|getting|wasting|guessing|waiting|walls|riddles|pain|nonsense",
    "^ you don't need|care|want|read|know|look|think",
    "^ the|your|that|this .. goal|aim|point|idea|plan|purpose|intention|task|job|question|request is|was|were|had",
    "^ i|we|i'd wanted|asked|needed|liked|enjoyed|was|were, ^ i|we|i'd had asked|wanted|needed|been, ^ i'd asked|wanted|needed|been",
    "^ it|that|this|they|the|any .. worked|were|was|answered|helped|made|did|could|compiled|ran|existed|had, ^ only",
];

/// Words that turn a score round.
pub(crate) const NEGATORS: &str = "not|no|never|isn't|wasn't|aren't|don't|doesn't|didn't|can't|couldn't|hardly|nothing|without\
     |wouldn't|won't|neither|barely|scarcely|haven't|hasn't|weren't|shouldn't|none";

/// Those of them that reach a word further.
pub(crate) const FAR_NEGATORS: &str =
    "not|isn't|wasn't|don't|doesn't|didn't|can't|couldn't|wouldn't|won't|haven't|hasn't";

/// After these a "never" is praise or blame of the highest degree: "never had such a good answer".
pub(crate) const NEVER_SO: &str = "so|such|this|as|more|better|seen|had|been";

/// Words that strengthen what follows by half.
pub(crate) const STRONGER: &str = "very|really|so|extremely|absolutely|totally|completely|way|much|far|such";

/// Score of a correction and of a question, in thousandths, before the penalties.
pub(crate) const CORRECTED: i32 = -400;
/// See [`CORRECTED`].
pub(crate) const QUESTIONED: i32 = -300;

/// Said out of politeness, before a complaint too.
pub(crate) const POLITE: &str = "thanks|thank|appreciate|appreciated|sorry";

/// Praise and blame that leave less than this say nothing.
pub(crate) const BALANCED: i32 = 200;

/// From this score on a clause is a complaint.
pub(crate) const COMPLAINT: i32 = -300;

/// From this score on a condition is something that nobody wants.
pub(crate) const UNWANTED: i32 = -500;
