//! What requests are about and what they need.
//!
//! The weight of a task is that of its best pattern and one for each further one, up to three. The heaviest task wins, the
//! earlier one of equals; below [`LEAST`] there is none. Signals are in tenths: the highest of the task's own level and of
//! the patterns that match.

/// A weight or a level in tenths, and a pattern.
pub(in super::super) type Cue = (u8, &'static str);

/// The name of a task, its own levels of risk, ambiguity, memory_need and tool_need, and the words for it.
pub(in super::super) type Task = (&'static str, [u8; 4], &'static [Cue]);

/// The least weight of a task.
pub(in super::super) const LEAST: u8 = 4;

/// Ambiguity at which a request has no task unless its weight is above this.
pub(in super::super) const NOBODY_KNOWS: (u8, u8) = (9, 5);

/// Orders to act. They are no task of the catalog, but they take the place of one.
pub(in super::super) const ORDER: &str = "";

pub(in super::super) const TASKS: &[Task] = &[
    (
        "troubleshooting",
        [2, 3, 1, 3],
        &[
            (9, "won't|doesn't|didn't|don't|can't .. work|start|turn|open|connect|load|boot|print|charge|respond"),
            (9, "not|isn't|aren't working"),
            (9, "stopped|stops working"),
            (9, "crash*|freezes|frozen|hangs|leak*|overheat*"),
            (9, "keeps|kept _"),
            (9, "broke|broken"),
            (8, "fail|fails|failed|failing"),
            (8, "i|we get|got .. error*|<quote>"),
            (8, "throws|reports|shows .. error*|exception*"),
            (8, "^ why is|are|does|do|did|won't my|the .. slow|hot|loud|noisy|down|blinking|stuck"),
            (7, "what's|what is wrong with"),
            (6, "troubleshoot*|diagnos*|malfunction*|glitch*"),
            (6, "too|so slow|hot|loud|noisy"),
            (5, "disconnects|blinking|stuck|unresponsive"),
            (5, "error|errors|exception|traceback"),
            (4, "how do|can i fix|repair|unblock|reset"),
            (2, "^ fix|repair"),
        ],
    ),
    (
        "coding",
        [1, 2, 1, 2],
        &[
            (7, "regex|refactor*|codebase, regular expression*, unit test*, pull request, source code"),
            (7, "function|functions|python|rust|java|javascript|typescript|c++|c#|golang|kotlin|sql|html|css|bash|react|django"),
            (6, "code|coding|script|scripts|snippet|algorithm*|compile*|hashmap|mutex|iterator*|struct|recursion, linked list"),
            (6, "programming|programmatically|implement*|debug*|api|endpoint*|unittest*|git|docker|json|yaml|shell, stack trace"),
            (
                5,
                "class|loop|loops|module|parser|query|queries|database|migration|bug|bugs|variable*|compiler|library|lint, login page",
            ),
            (5, "<code>"),
            (3, "test|tests|package|server|software|frontend|backend"),
        ],
    ),
    (
        "translation",
        [1, 1, 1, 1],
        &[
            (9, "translat*"),
            (9, "how do you|i|we say _ in"),
            (9, "what does|do|is .. mean in"),
            (
                8,
                "in|into|to english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|polish|russian|greek|turkish|arabic|hebrew|hindi|chinese|japanese|korean|latin|finnish|czech",
            ),
            (
                8,
                "english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|polish|russian|greek|turkish|arabic|hindi|chinese|japanese|korean|latin word|expression|equivalent|translation|version",
            ),
        ],
    ),
    (
        "summarization",
        [1, 2, 1, 3],
        &[
            (9, "summar*"),
            (9, "tl;dr"),
            (9, "gist|recap*|synopsis|takeaway*|digest|nutshell"),
            (8, "main|key|most important points|ideas|findings|arguments|messages"),
            (8, "^ shorten|condense|compress|abridge"),
            (8, "sum up|sum .. up"),
            (6, "in brief|short"),
        ],
    ),
    (
        "writing",
        [2, 2, 2, 1],
        &[
            (8, "^ draft|compose|rewrite|rephrase|proofread|reword|polish|edit"),
            (8, "draft|compose|rewrite|rephrase|proofread|reword"),
            (8, "correct|check|fix|improve .. grammar|spelling|wording|style|paragraph|essay|letter|text"),
            (8, "sound|sounds|read|reads better|nicer|friendlier|warmer|formal|professional|polite|less|more"),
            (7, "poem|poems|haiku|sonnet|rhyme|song|lyrics|story|stories|chapter|joke|speech|toast|essay|blog|slogan*"),
            (7, "headline*|caption*|letter|newsletter|obituary|invitation|bio|biography, press release"),
            (7, "^ write"),
            (6, "write|reply|respond|answer .. email|mail|letter|message"),
            (6, "come up with .. name|names|title|titles|slogan"),
            (3, "paragraph|sentence|wording|tone"),
        ],
    ),
    (
        "planning",
        [2, 3, 3, 3],
        &[
            (9, "^ plan|organize|organise|schedule"),
            (8, "itinerary|schedule|timetable|roadmap|agenda|checklist|timeline, to do list, training|meal|study plan"),
            (8, "next steps"),
            (8, "in what|which order"),
            (8, "how should|do|can i|we .. organize|organise|arrange|prepare|structure"),
            (7, "plan|map .. week|weekend|day|days|trip|holiday|vacation|party|wedding|event|month"),
            (6, "prepare for, get ready for"),
            (5, "plan|planning|deadline*|milestone*"),
        ],
    ),
    (
        "recommendation",
        [2, 3, 5, 5],
        &[
            (9, "recommend*|suggestion*"),
            (9, "suggest a|an|some|me|good|any|something"),
            (8, "any|know .. good|nice|great|ideas|tips|favourite|favorite"),
            (8, "things|places|what|somewhere to do|see|visit|eat|read|watch|stay|go"),
            (8, "what|which .. should|can|could|shall i|we .. buy|get|read|watch|visit|see|book|listen|choose|try"),
            (8, "where should|can|could|shall i|we .. eat|go|stay|buy|have|find|drink"),
            (
                7,
                "best|good|great|cheap|decent .. laptop|phone|book|books|film|films|movie|movies|hotel|hotels|restaurant|restaurants|podcast|podcasts|cafe|bar|gift|camera|game|games|novel|novels|series",
            ),
            (7, "looking for a|an|some|something"),
            (6, "gift|present .. for"),
        ],
    ),
    (
        "simple_preference",
        [1, 2, 7, 1],
        &[
            (10, "my|the usual"),
            (9, "^ pick|choose|select"),
            (9, "^ put on some|something|a|my, ^ play some|something|a|my"),
            (9, "should|shall i .. wear|drink"),
            (9, "which|what .. should|shall i|we .. wear|take|use|have|drink"),
            (9, "^ _ or _ .. $"),
            (7, "surprise me"),
            (6, "for me $"),
            (5, "should|shall i have|eat|take"),
            (5, "i like|love|enjoy"),
        ],
    ),
    (
        "analysis",
        [1, 2, 2, 3],
        &[
            (9, "analy*|compar*|evaluat*|assess*|calculat*|comput*|estimat*|interpret*|probabilit*|statistic*|correlat*"),
            (9, "pros and cons"),
            (9, "# <operator> #"),
            (9, "# percent of"),
            (8, "advantages|drawbacks|tradeoff*|versus|vs|weigh|cheaper, trade offs, work|figure out, better off, worth it"),
            (8, "median|average|mean|variance|percentage|trend|trends|regression|forecast|implications|consequences, root cause"),
            (7, "^ should i|we"),
            (7, "^ is|are|do|does .. cheaper|better|worse|unusual|normal|significant|realistic|odd, too high|low"),
            (6, "my|our|the .. numbers|expenses|spending|sales|figures|results|costs|budget"),
            (6, "difference|differences between"),
            (6, "^ why"),
            (5, "look|looks unusual|odd|wrong|normal|high|low"),
            (4, "explain why, how come"),
        ],
    ),
    (
        ORDER,
        [6, 3, 3, 5],
        &[
            (9, "^ delete|erase|wipe|remove|cancel|pay|send|transfer|wire|order|sell|forward|unsubscribe|uninstall|post|publish"),
            (9, "^ buy # _"),
            (9, "^ book|reserve a|an|the|us|me"),
            (9, "^ format .. disk|drive|card|stick|partition"),
            (9, "^ call|text|phone|invite|turn|switch|open|close|lock|unlock|move|rename|submit|sign|approve|accept|reject"),
        ],
    ),
    (
        "factual",
        [1, 1, 1, 2],
        &[
            (7, "capital|population|currency|author|president|inventor|area|height of"),
            (7, "^ define, definition of"),
            (7, "weather, forecast for, exchange rate, stock price, price of"),
            (7, "how far|many|much|old|tall|long|high|big|deep|heavy|fast|often|hot|cold"),
            (6, "^ who|when|where|whose"),
            (6, "in|since which|what year|country|city|century"),
            (6, "tallest|largest|smallest|longest|oldest|fastest|deepest|highest|biggest|richest"),
            (6, "latest|current|newest version|price|score|news|record"),
            (5, "^ what|what's|which"),
            (5, "^ is|are|was|were|does|did|has|have|can it|there|the|a|an|they|he|she|you"),
            (4, "meaning of, what does .. mean"),
        ],
    ),
];

/// What is at stake, in tenths.
pub(in super::super) const RISK: &[Cue] = &[
    (
        9,
        "^ delete|erase|wipe|destroy|purge|overwrite|remove .. all|everything|files|emails|photos|data|account|disk|drive|backup*|history|database",
    ),
    (9, "^ format .. disk|drive|card|stick|partition"),
    (9, "stroke|overdose*|suicid*|poison*|bleeding|unconscious|seizure, chest pain, heart attack, kill myself, can't breathe"),
    (8, "drop|drops|delete|deletes|truncate .. table|tables|database|production"),
    (8, "in|on|to production"),
    (
        7,
        "pill|pills|tablet|tablets|dose|dosage|medicine|medication|aspirin|ibuprofen|paracetamol|insulin|antibiotic*|warfarin|prescri*",
    ),
    (7, "symptom*|pregnan*|allerg*|diagnosed|surgery|vaccin*, blood pressure"),
    (7, "lawsuit|sue|court|lawyer|custody|divorce|visa|immigration|evict*|criminal|police"),
    (7, "transfer|wire|send|lend .. money|<money>|#|euros|dollars|pounds"),
    (7, "^ pay|cancel|sell|wire|transfer|sign|submit|publish|approve"),
    (7, "^ buy # _"),
    (7, "^ send|forward|post|email .. all|everyone|customers|clients|team|company|boss|him|her|them"),
    (7, "deletes|removes|deleting .. files|logs|log|data|records"),
    (5, "mortgage|loan|invest*|shares|stocks|tax|taxes|insurance|pension|contract|password*|bank|claim|resign*|salary"),
    (5, "^ book|reserve|order"),
    (3, "boss|client|customer|interview|application|official|form"),
];

/// How unclear a request is when it brings nothing along: no quote, no code, no text, no file, no address.
pub(in super::super) const VAGUE: &[Cue] = &[
    (9, "^ do|fix|handle|finish|change|check|continue it|this|that|these|those $"),
    (9, "^ do|fix|handle|finish|change it|this|that again|now $"),
    (9, "the other one|ones"),
    (9, "^ what|how about it|this|that|them|the"),
    (9, "^ help $"),
    (9, "something|anything about|with it|that|this"),
    (9, "you know what $"),
    (7, "^ translate|summarize|summarise|shorten|rewrite|improve|explain this|it|that $"),
    (7, "translate|turn this|it|that in|into|to"),
    (7, "make this|it|that .. better|nicer|sound|shorter|longer|faster"),
    (7, "^ it doesn't|won't|isn't|stopped|keeps"),
    (7, "^ thoughts|opinions|ideas|and $"),
    (5, "^ rewrite|shorten|condense|improve|edit|correct this|that|the|my"),
    (5, "^ make the|my"),
    (5, "^ cancel|book|reserve"),
    (5, "send him|her|them"),
    (5, "the thing|stuff, some stuff"),
    (5, "the app|thing|program|machine|device stopped|doesn't|won't|isn't"),
    (5, "my numbers|figures|results|data"),
    (3, "this|these|that|it"),
];

/// Ambiguity of a word or two that are no task.
pub(in super::super) const AMBIGUITY_ALONE: u8 = 8;

/// Greetings: a request that is nothing else asks for nothing.
pub(in super::super) const GREETINGS: &[&str] =
    &["hi|hello|hey there|again|you|all, hi|hello|hey|yo|greetings", "good morning|evening|afternoon|day"];

/// References to what the assistant should know already.
pub(in super::super) const MEMORY: &[Cue] = &[
    (9, "my|the usual"),
    (8, "last time, as|like before|always|usual"),
    (8, "we .. talked|discussed|decided|agreed|looked|used|were|wrote|did|had|spoke|chose|made|started"),
    (8, "i .. told|mentioned|said|gave|showed|sent you"),
    (8, "our last|previous|earlier|meeting|conversation|chat|call|discussion"),
    (8, "you know|remember|recall"),
    (7, "i like|liked|love|loved|enjoy|enjoyed|prefer|hate"),
    (7, "i'd like|love|enjoy"),
    (7, "from|since last, from|since yesterday|earlier"),
    (7, "the other one|ones"),
    (7, "^ continue|resume, ^ carry|go on"),
    (7, "send him|her|them"),
    (5, "^ do it|that|this"),
    (5, "my taste|style|diet|budget|size|schedule|calendar|week|day|situation|family|subscription|sister|brother|mother|father"),
    (5, "my|our .. numbers|expenses|spending|sales|figures|results"),
    (3, "my|our, for me|us"),
];

/// Needs that only a tool can meet: the world as it is now, files, exact numbers.
pub(in super::super) const TOOL: &[Cue] = &[
    (9, "weather|traffic|delays, exchange rate"),
    (9, "currently|live, right now, at the moment"),
    (9, "current|today's|latest|live price|prices|rate|rates|score|scores|status|news|weather"),
    (9, "search|browse|google .. web|internet|online|for"),
    (9, "look up, look|find .. online"),
    (8, "today|latest|newest, up to date, breaking news"),
    (8, "my|the .. folder|inbox|drive|downloads|desktop|calendar|mailbox"),
    (8, "attached|attachment*|spreadsheet|pdf|enclosed"),
    (8, "all my|our emails|files|photos|documents"),
    (7, "yesterday, last night, this week|month|quarter|year"),
    (7, "nearby, near me, around here, in my area"),
    (7, "price|prices, under|below #, less than #"),
    (7, "departure*|available, opening hours, in stock"),
    (6, "run|execute this|it|the|that"),
    (5, "# <operator> #"),
    (5, "# percent of"),
    (5, "calculat*|comput*|probability|compar*|cost|costs|cheaper"),
    (5, "version|record|release*|statistics"),
    (4, "^ fix|review|test|implement|refactor|add"),
];

/// Need for a tool of a request with an address or a file.
pub(in super::super) const MATERIAL_TOOL: u8 = 7;

/// Lead-ins after which a colon brings the text to work on.
pub(in super::super) const LEAD_INS: &[&str] = &[
    "following|this|these|below",
    "translat*|summar*|rewrite|rephrase|proofread|correct|shorten|condense|explain|convert|fix|review|improve",
    "tl;dr",
    "grammar|text|sentence|paragraph|code|snippet|article|email|message",
];
