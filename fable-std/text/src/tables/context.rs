//! What requests are about and what they need.
//!
//! The weight of a task is that of its best pattern and one for each further one, up to three. The heaviest task wins, the
//! earlier one of equals; below [`LEAST`] there is none. Signals are in tenths: the highest of the task's own level and of
//! the patterns that match.

/// A weight or a level in tenths, and a pattern.
pub(crate) type Cue = (u8, &'static str);

/// The name of a task, its own levels of risk, ambiguity, memory_need and tool_need, and the words for it.
pub(crate) type Task = (&'static str, [u8; 4], &'static [Cue]);

/// The least weight of a task.
pub(crate) const LEAST: u8 = 4;

/// From this ambiguity on a request has no task unless its weight is above the other number.
pub(crate) const NOBODY_KNOWS: (u8, u8) = (9, 5);

/// Orders to act. They are no task of the catalog, but they take the place of one.
pub(crate) const ORDER: &str = "";

pub(crate) const TASKS: &[Task] = &[
    ("troubleshooting", [2, 3, 1, 3], TROUBLESHOOTING),
    ("coding", [1, 2, 1, 2], CODING),
    ("translation", [1, 1, 1, 1], TRANSLATION),
    ("summarization", [1, 2, 1, 3], SUMMARIZATION),
    ("writing", [2, 2, 2, 1], WRITING),
    ("planning", [2, 3, 3, 3], PLANNING),
    ("recommendation", [2, 3, 5, 5], RECOMMENDATION),
    ("simple_preference", [1, 2, 7, 1], SIMPLE_PREFERENCE),
    ("analysis", [1, 2, 2, 3], ANALYSIS),
    (ORDER, [5, 3, 3, 5], ORDERS),
    ("factual", [1, 1, 1, 2], FACTUAL),
];

const TROUBLESHOOTING: &[Cue] = &[
    (9, "won't|doesn't|didn't|don't|can't .. work|start|turn|open|connect|load|boot|print|charge|respond"),
    (9, "not|isn't|aren't working, stopped|stops working, refuses|refuse|refused to"),
    (9, "crash*|freezes|frozen|hangs|leak*|overheat*, keeps|kept _, broke|broken"),
    (8, "fail|fails|failed|failing"),
    (8, "i|we get|got .. error*|<quote>, throws .. error*|exception*"),
    (8, "says|shows|reports|displays|prints <quote>|error*, shows|displays .. instead"),
    (8, "strange|weird|odd|funny noise|sound|smell|behaviour|behavior, goes|went|turns black|blank|dead|dark|off|down"),
    (8, "^ why is|are|does|do|did|won't my|the .. slow|hot|loud|noisy|down|blinking|stuck"),
    (7, "what's|what is wrong with my|the"),
    (6, "troubleshoot*|diagnos*|malfunction*|glitch*|jammed|corrupt*|flicker*|disappear*|missing|rattl*"),
    (6, "too|so slow|hot|loud|noisy, no longer, all of a sudden"),
    (6, "i|we can't _"),
    (5, "disconnects|blinking|stuck|unresponsive|error|errors|exception|traceback"),
    (4, "how do|can i fix|repair|unblock|reset"),
    (2, "^ fix|repair"),
];

const CODING: &[Cue] = &[
    (7, "regex|refactor*|codebase, regular expression*, unit test*, pull request, source code, command line, web app"),
    (7, "function|functions|python|rust|java|javascript|typescript|c++|c#|golang|kotlin|haskell|ruby|php|perl|scala|swift"),
    (7, "sql|html|css|bash|powershell|react|django|angular|numpy|pandas, in go|c|r"),
    (6, "code|coding|script|scripts|snippet|algorithm*|compile*|hashmap|mutex|iterator*|struct|recursion, linked list"),
    (6, "programming|programmatically|implement*|debug*|api|endpoint*|git|docker|json|yaml|shell, stack trace, built in"),
    (5, "array|arrays|string|strings|pointer*|thread|threads|async|boolean|integer|lambda|dictionary|tuple"),
    (5, "class|loop|loops|module|parser|query|queries|database|migration|bug|bugs|variable*|compiler|library|parse, login page"),
    (5, "<code>"),
    (3, "test|tests|package|server|software|frontend|backend"),
];

/// Languages.
macro_rules! languages {
    () => {
        "english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|finnish|polish|czech|russian|greek\
         |turkish|arabic|hebrew|hindi|chinese|japanese|korean|latin|ukrainian|hungarian|romanian|vietnamese|thai"
    };
}

const TRANSLATION: &[Cue] = &[
    (9, "translat*, how do you|i|we say _ in, what does|do|is .. mean in, say|write <quote> in, is <quote> _ for"),
    (8, concat!("in|into|to ", languages!())),
    (8, concat!(languages!(), " word|expression|equivalent|translation|version")),
];

const SUMMARIZATION: &[Cue] = &[
    (9, "summar*|tl;dr|gist|recap*|synopsis|takeaway*|digest|nutshell, sum up, sum this|that|it|them up"),
    (8, "main|key|important|central points|point|ideas|findings|arguments|messages"),
    (8, "^ shorten|condense|compress|abridge, overview|outline|abstract of, short version, in essence, bullet points"),
    (8, "in one|two|three|four|five|a|# sentence|sentences|words|lines|paragraph, in a few|couple words|sentences"),
    (8, "in brief|short"),
];

const WRITING: &[Cue] = &[
    (8, "draft|compose|rewrite|rephrase|proofread|reword, ^ polish|edit"),
    (8, "correct|check|fix|improve .. grammar|spelling|wording|style|paragraph|essay|letter|text"),
    (8, "sound|sounds|read|reads better|nicer|friendlier|warmer|formal|professional|polite|less|more"),
    (8, "birthday|farewell|greeting|welcome|wedding|thank|sympathy .. message|note|wishes|greeting|speech|card"),
    (8, "into a|an .. paragraph|email|letter|text|article|post, ^ invent|imagine"),
    (7, "poem|poems|haiku|sonnet|rhyme|song|lyrics|story|stories|tale|chapter|joke|speech|toast|essay|blog|slogan*|motto"),
    (7, "tone|dialogue|monologue"),
    (7, "headline*|caption*|letter|newsletter|obituary|invitation|bio|biography, press release"),
    (7, "^ write"),
    (6, "write|reply|respond|answer .. email|mail|letter|message, come up with .. name|names|title|titles|slogan"),
    (3, "paragraph|sentence|wording"),
];

const PLANNING: &[Cue] = &[
    (9, "^ plan|organize|organise|schedule"),
    (8, "itinerary|schedule|timetable|roadmap|agenda|checklist|timeline, to do list, training|meal|study plan, next steps"),
    (8, "in what|which order, how should|do|can i|we .. organize|organise|arrange|prepare|structure"),
    (7, "plan|map .. week|weekend|day|days|trip|holiday|vacation|party|wedding|event|month"),
    (7, "routine|route|milestone*, get .. done, find|agree .. time|date|slot, day|days|week|weeks in|at|around"),
    (6, "prepare for, get ready for, how long before, step*|tasks|things to do|take before|for, budget for|my"),
    (5, "plan|planning|deadline*"),
];

const RECOMMENDATION: &[Cue] = &[
    (9, "recommend*|suggestion*, suggest|suggests _"),
    (8, "any|know .. good|nice|great|ideas|tips|favourite|favorite, ^ best|top _, should|must everyone|one|people"),
    (8, "things|places|what|somewhere to do|see|visit|eat|read|watch|stay|go"),
    (8, "what|which .. should|can|could|shall i|we .. buy|get|read|watch|visit|see|book|listen|choose|try"),
    (8, "where should|can|could|shall i|we .. eat|go|stay|buy|have|find|drink"),
    (7, "best|good|great|cheap|decent .. laptop|phone|camera|book|books|novel|novels|film|films|movie|movies|series|game|games"),
    (
        7,
        "best|good|great|cheap|decent .. hotel|hotels|restaurant|restaurants|cafe|bar|podcast|podcasts|gift|present|place|places",
    ),
    (7, "looking for a|an|some|something, what could|can i|we .. do"),
    (6, "gift|present .. for"),
];

const SIMPLE_PREFERENCE: &[Cue] = &[
    (10, "my|the usual, what i normally|usually|always"),
    (9, "^ pick|choose|select, ^ put on some|something|a|my, ^ play some|something|a|my"),
    (9, "should|shall i .. wear|drink, which|what .. should|shall i|we .. wear|take|use|have|drink"),
    (9, "^ _ or _ .. $"),
    (8, "^ _ or _ _ with|for|tonight|today, fits|suits|matches my|me, what should|shall i .. eat|have"),
    (7, "surprise me, your|you pick|choose|decide, which one do i|you"),
    (6, "for me $"),
    (5, "should|shall i have|eat|take, i like|love|enjoy"),
];

const ANALYSIS: &[Cue] = &[
    (9, "analy*|compar*|evaluat*|assess*|calculat*|comput*|estimat*|interpret*|probabilit*|statistic*|correlat*"),
    (9, "# <operator> #, # percent of, pros and cons, for and against, how likely, the odds|chances"),
    (8, "advantages|drawbacks|tradeoff*|versus|vs|weigh|cheaper, trade offs, work|figure out, better off, worth it"),
    (8, "median|average|mean|variance|percentage|trend|trends|regression|implications|consequences, root cause"),
    (8, "which|what is|are better|cheaper|best|worse|safer|faster for|than, make|makes sense, percent|interest, per month|year"),
    (7, "cause|causes|reason|reasons|effect|effects of|for|behind, what if, how does|do|did .. differ|work|relate, risks of"),
    (7, "affect*|influence*|impact*|outlier*|anomal*|pattern*|arguments"),
    (7, "^ should i|we, ^ is|are|do|does .. cheaper|better|worse|unusual|normal|significant|realistic|odd, too high|low"),
    (6, "my|our|the .. numbers|expenses|spending|sales|figures|results|costs|budget, difference|differences between, ^ why"),
    (5, "look|looks unusual|odd|wrong|normal|high|low"),
    (4, "explain why, how come"),
];

const ORDERS: &[Cue] = &[
    (9, "^ delete|erase|wipe|remove|cancel|pay|send|transfer|wire|order|sell|forward|unsubscribe|uninstall|post|publish"),
    (9, "^ buy # _, ^ book|reserve a|an|the|us|me, ^ format .. disk|drive|card|stick|partition, ^ empty the|my"),
    (9, "^ call|text|phone|invite|switch|open|close|lock|unlock|move|rename|submit|sign|approve|accept|reject"),
    (9, "^ turn on|off|up|down, ^ reply yes|no|that"),
];

const FACTUAL: &[Cue] = &[
    (7, "capital|population|currency|author|president|inventor|area|height of, ^ define|name, definition of"),
    (7, "weather, forecast for, exchange rate, stock price, price of"),
    (7, "how far|many|much|old|tall|long|high|big|deep|heavy|fast|often|hot|cold"),
    (6, "^ who|who's|when|when's|where|where's|whose|whom, in|since which|what year|country|city|century"),
    (6, "tallest|largest|smallest|longest|oldest|fastest|deepest|highest|biggest|richest"),
    (6, "point|date|place|number|name|size|speed|age|temperature|meaning|list of"),
    (6, "latest|current|newest version|price|score|news|record"),
    (5, "^ what|what's|which, ^ is|are|was|were|does|did|has|have|can it|there|the|a|an|they|he|she|you"),
    (4, "meaning of, what does .. mean"),
];

/// What is at stake, in tenths.
pub(crate) const RISK: &[Cue] = &[
    (9, "^ delete|erase|wipe|destroy|purge|overwrite|remove|empty .. all|everything|files|emails|photos|data|account|disk|drive"),
    (9, "^ delete|erase|wipe|destroy|purge|overwrite|remove|empty .. backup*|history|database|trash"),
    (9, "^ format .. disk|drive|card|stick|partition"),
    (9, "stroke|overdose*|suicid*|poison*|bleeding|unconscious|seizure, chest pain, heart attack, swallowed _, kill myself"),
    (9, "can't breathe"),
    (8, "drop|drops|delete|deletes|truncate .. table|tables|database|production, in|on|to production"),
    (7, "pill|pills|tablet|tablets|dose|dosage|medicine|medication|aspirin|ibuprofen|paracetamol|insulin|antibiotic*|warfarin"),
    (7, "prescri*|symptom*|pregnan*|allerg*|diagnosed|surgery|vaccin*, blood pressure"),
    (7, "lawsuit|sue|court|lawyer|custody|divorce|visa|immigration|evict*|criminal|police"),
    (7, "transfer|wire|send|lend .. money|<money>|#|euros|dollars|pounds"),
    (7, "^ pay|cancel|sell|wire|transfer|sign|submit|publish|approve|unsubscribe|order, ^ buy # _, ^ reply yes|no|that"),
    (7, "^ send|forward|post|email .. all|everyone|customers|clients|team|company|boss|him|her|them"),
    (7, "deletes|removes|deleting .. files|logs|log|data|records"),
    (5, "mortgage|loan|invest*|shares|stocks|tax|taxes|insurance|pension|contract|password*|bank|claim|resign*|salary"),
    (5, "^ book|reserve"),
    (3, "boss|client|customer|interview|application|official|form"),
];

/// How unclear a request is when it brings nothing along: no quote, no code, no text, no file, no address.
pub(crate) const VAGUE: &[Cue] = &[
    (9, "^ do|fix|handle|finish|change|check|continue it|this|that|these|those $"),
    (9, "^ do|fix|handle|finish|change it|this|that again|now $"),
    (9, "the other one|ones, the first|second|third|last|next one"),
    (9, "^ what|how about it|this|that|them|the, ^ help $, something|anything about|with it|that|this"),
    (7, "^ translate|summarize|summarise|shorten|rewrite|improve|explain this|it|that $"),
    (7, "translate|turn this|it|that in|into|to"),
    (7, "make this|it|that .. better|nicer|sound|shorter|longer|faster"),
    (7, "^ it doesn't|won't|isn't|stopped|keeps"),
    (7, "^ thoughts|opinions|ideas|and $, ^ i have a|some question|questions|problem|request|idea $"),
    (5, "^ rewrite|shorten|condense|improve|edit|correct this|that|the|my, sum this|it|that up"),
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
pub(crate) const GREETINGS: &str =
    "hi|hello|hey there|again|you|all, hi|hello|hey|yo|greetings, good morning|evening|afternoon|day";

/// References to what the assistant should know already.
pub(crate) const MEMORY: &[Cue] = &[
    (9, "my|the usual, what i normally|usually|always"),
    (8, "last time, as|like before|always|usual"),
    (6, "the same _"),
    (8, "we .. talked|discussed|decided|agreed|looked|used|were|wrote|did|had|spoke|chose|made|started"),
    (8, "i .. told|mentioned|said|gave|showed|sent you"),
    (8, "our last|previous|earlier|meeting|conversation|chat|call|discussion, you know|remember|recall"),
    (7, "i|i'd like|liked|love|loved|enjoy|enjoyed|prefer|hate"),
    (7, "from|since last, from|since yesterday|earlier, the other one|ones, ^ continue|resume, ^ carry|go on, send him|her|them"),
    (5, "^ do it|that|this, the first|second|third|last|next one"),
    (5, "my taste|style|diet|budget|size|schedule|calendar|week|day|situation|family|subscription|sister|brother|mother|father"),
    (5, "my|our .. numbers|expenses|spending|sales|figures|results"),
    (3, "my|our, for me|us"),
];

/// Needs that only a tool can meet: the world as it is now, files, exact numbers.
pub(crate) const TOOL: &[Cue] = &[
    (9, "weather|traffic|delays|currently|live, exchange rate, right now, at the moment"),
    (9, "current|today's|latest|live price|prices|rate|rates|score|scores|status|news|weather"),
    (9, "search|browse|google .. web|internet|online|for, look up, look|find .. online"),
    (8, "today|latest|newest, up to date, breaking news, next train|bus|flight|match|game, open|closed now, these days"),
    (8, "my|the .. folder|inbox|drive|downloads|desktop|calendar|mailbox|trash"),
    (8, "attached|attachment*|spreadsheet|pdf|enclosed, all my|our emails|files|photos|documents"),
    (7, "yesterday, last night, this week|month|quarter|year, nearby, near me, around here, in my area, around|near _ $"),
    (7, "under|below #, less than #, departure*|available, opening hours, in stock"),
    (6, "run|execute this|it|the|that, user manual|handbook, the .. report|manual|contract|minutes|notes, we|us .. meet"),
    (5, "# <operator> #, # percent of, calculat*|comput*|probability|compar*|cost|costs|price|prices|cheaper"),
    (5, "version|record|release*|statistics"),
    (4, "^ fix|review|test|implement|refactor|add"),
];

/// Need for a tool of a request with an address or a file.
pub(crate) const MATERIAL_TOOL: u8 = 7;

/// Lead-ins after which a colon brings the text to work on.
pub(crate) const LEAD_INS: &[&str] = &[
    "following|this|these|below|grammar|text|sentence|paragraph|code|snippet|article|email|mail|message|notes",
    "translat*|summar*|rewrite|rephrase|proofread|correct|shorten|condense|explain|convert|fix|review|improve|tl;dr",
];
