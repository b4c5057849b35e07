//! What requests are about.
//!
//! The weight of a task is that of its best pattern and one for each further one, up to three. The heaviest task wins, the
//! earlier one of equals; below [`LEAST`] there is none.

use super::context::Cue;

/// The name of a task, its own levels of risk, ambiguity, memory_need and tool_need, and the words for it.
pub(crate) type Task = (&'static str, [u8; 4], &'static [Cue]);

/// The least weight of a task.
pub(crate) const LEAST: u8 = 4;

/// From this ambiguity on a request has no task unless its weight is above the other number.
pub(crate) const NOBODY_KNOWS: (u8, u8) = (9, 7);

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
    (9, "blank|white|black|empty|blue page|screen, keeps asking|saying|showing|popping|telling"),
    (9, "why does|do|is|are|has|won't my|our .. not|never|always|keep"),
    (8, "battery|tank|fridge|screen is|are empty|dead|black, what could be the reason|cause|problem|matter"),
    (
        8,
        "complains|complaining|choppy|jerky|garbled|distorted|unstable|pixelated|scratchy, yellow|brown|wilting|droopy leaves, stop|stops being|running|making",
    ),
    (
        8,
        "^ my|the|our|this _ .. doesn't|won't|isn't|can't|never|nothing|keeps|always|hardly|suddenly, does nothing, nothing happens",
    ),
    (
        8,
        "get|got|getting|gives|throws|returns|says|with a|an|error|code|status #, since this|yesterday|last morning|week|update|night",
    ),
    (
        7,
        "on|by its own, by itself, jumps around|about, any more, anymore, when i press|click|plug|open|start|turn|push|switch|touch",
    ),
    (4, "^ my|the|our _ _ _"),
    (
        8,
        "logs|kicks|signs|throws me|us out, goes|going|went wrong, comes|came|turns|turned out wrong|dense|burnt|dry|flat|soggy|blurry|blank",
    ),
    (
        8,
        "get|make my|the|it|our .. to work|pair|start|connect|open|charge|sync|again|stop, smoke|water|sparks|noise|smell|oil coming|comes",
    ),
    (
        8,
        "can't|cannot|couldn't|doesn't|won't|unable|impossible .. find|reach|access|log|sign|get|see|join|read|write|delete my|the|to|in|any|into",
    ),
    (
        7,
        "drips|dripping|drip|leaks|beeps|squeaks|sparks|smokes|stinks|rusting|wobbles|vibrates|overflows|loops|spins|rattles|clicks",
    ),
    (
        9,
        "won't|doesn't|didn't|don't|can't|isn't|aren't|wasn't|not|never|hardly .. work~|start~|turn|open~|connect~|load~|boot~",
    ),
    (
        9,
        "won't|doesn't|didn't|don't|can't|isn't|aren't|not|never .. print~|charge~|respond~|pair~|sync~|install~|launch~|compile~",
    ),
    (
        9,
        "won't|doesn't|didn't|don't|isn't|not .. save|play|show|detect*|recogni*|ring~|heat~|cool|drain~|flush~|spin~|close|stop",
    ),
    (
        9,
        "won't|doesn't|isn't|not|can't .. download~|upload~|update|register~|hold|stay|scroll~|react~|unlock~|build|receive|hear",
    ),
    (
        9,
        "what am i doing wrong, what are we doing wrong, says|shows|reads|shows .. offline|disconnected|busy|unavailable|full|error|zero",
    ),
    (
        9,
        "stopped|stops|quit working|responding|charging|syncing|loading|printing|playing, refuse~ to, fails|failed|failing to",
    ),
    (
        9,
        "crash*|freezes|freezing|frozen|froze|hangs|leak~|overheat*, keeps|kept _, broke|broken|busted|bricked|died|dies",
    ),
    (
        9,
        "acting|acts|act up|weird|strange|strangely|funny|odd, playing|plays up, messed up, out of order, shuts|shut|shutting down|off",
    ),
    (
        8,
        "fail|fails|failed|failing, went|goes|gone|turns|turned black|blank|dead|dark|off|down|crazy|haywire|red|yellow|brown",
    ),
    (
        8,
        "i|we|i'm|keep|always get|got|getting|see|seeing|have .. error*|<quote>, throws|throwing .. error*|exception*, error message",
    ),
    (
        8,
        "says|shows|reports|displays|prints <quote>|error*, shows|displays .. instead, gives me .. error*|<quote>",
    ),
    (
        8,
        "strange|weird|odd|funny|loud|grinding|burning|knocking|humming|scraping|hissing|rattling noise|sound|smell|behaviour|behavior, bad|burnt smell",
    ),
    (
        8,
        "no|lost sound|signal|internet|picture|power|connection|response|output|audio|wifi|display|image, on|by its own|itself",
    ),
    (
        8,
        "^ why is|are|does|do|did|won't|isn't|has my|the|this .. slow|hot|loud|noisy|down|blinking|stuck|empty|dead|wet|cold|red",
    ),
    (
        7,
        "what is wrong with my|the|our, figure out why my|the, what is happening|up|going .. with|to my|the|our",
    ),
    (
        7,
        "how do|can|to i|we|you .. fix|repair|unblock|reset|unclog|unfreeze|recover|restore|resolve, get rid of, how to fix|repair",
    ),
    (
        7,
        "troubleshoot*|diagnos*|malfunction*|glitch*|jammed|jams|corrupt*|flicker*|disappear*|rattl*|squeak*|stutter*|laggy|lags",
    ),
    (
        6,
        "missing|beeps|beeping|buzzing|clogged|dripping|smoking|unplugged|rebooting|reboots|restarts|restarting|crackl*|blurry",
    ),
    (
        6,
        "too|so|super|really|suddenly|getting|gets slow|hot|loud|noisy|warm, no longer, all of a sudden, won't let me, out of memory",
    ),
    (
        6,
        "i|we|you can't|couldn't _, locked out, battery|screen|phone|car|printer|laptop|router|fridge .. dead|dies|drains|problem|issue",
    ),
    (
        5,
        "disconnects|disconnecting|drops|dropping|blinking|stuck|unresponsive|error|errors|exception|traceback|issue|issues|dead",
    ),
    (5, "problem|problems|trouble with, after|since .. update|upgrade|reinstall*"),
    (2, "^ fix|repair"),
];

const CODING: &[Cue] = &[
    (
        9,
        "something|script|tool|program|command|liner .. that|to|which renames|sorts|parses|counts|converts|downloads|reads|prints|extracts",
    ),
    (
        9,
        "command .. to print|list|count|find|delete|copy|show, best practice for, how .. in|with python|rust|java|javascript|sql|css|html",
    ),
    (
        8,
        "what is wrong with this|the line|code|function|snippet|query|loop|regex, thread safe, memory leak, race condition, wrong .. <code>",
    ),
    (10, "rewrite|convert|change|turn|translate|simplify .. code|function|script|class|callback|query"),
    (9, "macro|vba|parallelize|pipeline|makefile|localhost|middleware|typecheck, ci pipeline|job"),
    (
        7,
        "awk|sed|grep|curl|ssh|vim|unittest|pytest|junit|postgres|mysql|sqlite|mongodb|redis|graphql|jwt|cors|vue|nextjs|laravel|rails",
    ),
    (7, "get|post|http|api|rest route|request|server|call, last commit, unused import"),
    (
        7,
        "terraform|ansible|github|gitlab|jenkins|linter|eslint|clippy|tokio|serde|qt|unity|arduino|verilog|matlab|latex|excel formula",
    ),
    (
        9,
        "in python|rust|java|javascript|typescript|c++|c#|golang|go|kotlin|haskell|ruby|php|perl|scala|swift|sql|bash|c|r|react",
    ),
    (
        9,
        "write|create|build|make|add|implement|generate|code|need .. function|script|class|query|test|tests|parser|program|api|bot",
    ),
    (
        9,
        "write|create|build|make|add|implement|refactor|debug|review|port|migrate|fix .. code|app|website|endpoint|component|module",
    ),
    (
        8,
        "fix|find|spot|solve .. bug|bugs, code|codes that|to|which|for|review, this|the|my|following code|function|script|query|loop",
    ),
    (
        9,
        "regex|refactor*|codebase, merge|bubble|insertion sort, regular expression*, unit|integration test*, pull|merge request, source code, command line, web app",
    ),
    (
        7,
        "function|quicksort|mergesort|python|rust|java|javascript|typescript|c++|c#|golang|kotlin|haskell|ruby|php|perl|scala",
    ),
    (
        7,
        "sql|html|css|bash|powershell|react|django|flask|angular|svelte|numpy|pandas|pytorch|tensorflow|node|npm|pip|cargo|webpack",
    ),
    (
        6,
        "code|coding|script|snippet|div|flexbox|stylesheet|selector|comprehension|statement|algorithm*|compile*|hashmap|mutex|iterator*|struct|recursi*|pseudocode, linked list",
    ),
    (
        6,
        "programming|programmatically|implement*|debug*|api|endpoint*|git|docker|dockerfile|kubernetes|json|yaml|shell, stack trace",
    ),
    (
        6,
        "built in, cron job, null pointer, type error|hints, for|while loop, data structure, big o, merge conflict, commit|branch|rebase",
    ),
    (
        5,
        "array|arrays|string|strings|pointer*|multithread*|async|boolean|integer|lambda|dictionary|tuple|dataframe|closure*",
    ),
    (
        5,
        "class|loop|loops|module|parser|query|queries|database|migration|bug|bugs|variable*|compiler|library|parse|parses, login page",
    ),
    (5, "<code>"),
    (
        5,
        "microservice*|backend|frontend|middleware|webhook*|oauth|scraper|scrape|deploy*|serializ*|deserializ*|dependency|dependencies",
    ),
    (3, "test|tests|package|server|software|app|website"),
];

/// Languages.
macro_rules! languages {
    () => {
        "english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|finnish|polish|czech|russian|greek\
         |turkish|arabic|hebrew|hindi|chinese|mandarin|japanese|korean|latin|ukrainian|hungarian|romanian|vietnamese|thai\
         |bulgarian|croatian|serbian|slovak|icelandic|irish|welsh|persian|farsi|urdu|bengali|tamil|swahili|indonesian|malay|catalan"
    };
}

const TRANSLATION: &[Cue] = &[
    (9, concat!("letter|email|text|sign|menu|message|note in ", languages!())),
    (10, concat!("need|want|have|get|give .. in ", languages!())),
    (12, concat!("in plain|good|simple|everyday ", languages!())),
    (
        9,
        "translat*, how do|would|can|does _ .. say|write|spell, what does|do|is|did .. mean in, is <quote> _ for",
    ),
    (9, "say|write|put|express|call|called <quote> .. in|into"),
    (8, concat!("in|into|to ", languages!())),
    (12, concat!(languages!(), " word|words|expression|equivalent|translation|version|phrase|term|for")),
    (8, concat!("in proper|correct|fluent|formal|colloquial|simplified|brazilian|mexican ", languages!())),
    (6, concat!("from ", languages!())),
];

const SUMMARIZATION: &[Cue] = &[
    (
        9,
        "action items|points, pull|extract the|all|out .. from|points|items|decisions|facts|dates, plot of, explain the plot",
    ),
    (9, "the essentials|basics|gist|highlights|conclusions, into a tweet|sentence|line|headline"),
    (4, "report|article|minutes|transcript|paper|chapter|lecture|memo|podcast episode"),
    (
        9,
        "what does|do|did <url>|<file>|<quote>|they|he|she|it|this|that .. say|conclude|argue|decide|claim|recommend|cover",
    ),
    (
        9,
        "pull|pick|take|get out .. decisions|points|actions|conclusions|essentials, key facts|figures|results|terms|dates, too long to read",
    ),
    (
        9,
        "what happens|happened in .. book|novel|film|movie|story|episode|chapter|play|odyssey|meeting, plot of, the point of it|this|that",
    ),
    (
        8,
        "highlights|conclusions|essentials|crux|upshot|precis|brief from|of|on, in a nutshell, go|read through .. and",
    ),
    (
        9,
        "summar*|tl;dr|gist|recap*|synopsis|takeaway*|digest|nutshell, sum up, sum this|that|it|them|everything up, boil .. down",
    ),
    (
        9,
        "what does|did|do|the .. report|article|paper|book|text|email|thread|chapter|letter|study|document .. say|about",
    ),
    (
        8,
        "main|key|important|central|essential|core|crucial|major points|point|ideas|idea|findings|arguments|messages|message|insights",
    ),
    (
        8,
        "^ shorten|condense|compress|abridge|distill, overview|outline|abstract|highlights|essence of, short|shorter version",
    ),
    (
        8,
        "in essence, cliff notes, short|quick|brief version|rundown, the bottom line, catch me up, fill me in, what did i miss",
    ),
    (
        8,
        "what is|was|are .. about|say, most important|relevant things|parts|part|points, bring me up to speed",
    ),
    (
        7,
        "shorten|condense|compress|distill .. text|article|report|notes|paragraph|chapter|document|email|it|this|that|these",
    ),
    (6, "bullet points .. from|of, turn .. into bullet|bullets, pick out .. important"),
];

const WRITING: &[Cue] = &[
    (
        9,
        "^ reply|respond|answer to, find|finding the|right|my words, break up with, put .. into words, how to word|phrase|say|tell|address",
    ),
    (
        4,
        "letter|essay|post|article|wording|phrase|caption|headline|sentence|paragraph|greeting|signature|intro|conclusion|draft",
    ),
    (
        9,
        "in a kind|polite|nice|friendly|professional|gentle|funny|formal|diplomatic|warm way|manner|tone, say no to, let .. down gently",
    ),
    (
        9,
        "make|sound|sounds this|it|that|them|my|the .. more|less|formal|polite|friendlier|professional|casual|funnier|catchier|persuasive",
    ),
    (
        9,
        "knock|put|throw|whip together|up .. apology|email|letter|note|speech|text|message|post|blurb|pitch|ad, turn <quote> into",
    ),
    (
        8,
        "way|ways|words to tell|say|congratulate|thank|apologi*|announce|ask|phrase|open|close|begin, how do|should|can i put it|this|that",
    ),
    (
        8,
        "apology|blurb|cv|resume|testimonial|brochure|flyer|manifesto|memoir|autobiography|prologue|epilogue|verse|couplet|riddle|pun",
    ),
    (
        8,
        "names|name|title|titles|captions|hashtags|nicknames for, continue|finish|end|begin the|this|my story|poem|sentence|paragraph|chapter",
    ),
    (
        8,
        "spruce|jazz|tidy|touch .. cv|resume|text|letter|essay|email|bio|profile|draft, two|three|four|five|# sentences|lines|verses about|on",
    ),
    (
        9,
        "write|draft|compose|create|need|make|prepare .. email|mail|letter|poem|story|essay|post|speech|article|blog|toast|tweet|bio",
    ),
    (
        9,
        "write|draft|compose|create|need|make .. message|invitation|apology|description|announcement|review|reply|response|caption|ad",
    ),
    (
        9,
        "write|draft|compose|create .. newsletter|obituary|eulogy|resignation|proposal|memo|resume|cv|slogan|headline|limerick|haiku",
    ),
    (
        8,
        "draft|drafting|compose|rewrite|rephrase|paraphrase|proofread|reword|ghostwrite, ^ polish|edit, cover letter, press release",
    ),
    (
        8,
        "correct|check|fix|improve|polish|edit|clean .. grammar|spelling|wording|style|paragraph|essay|letter|text|email|typos|writing",
    ),
    (
        8,
        "sound|sounds|read|reads|look .. better|nicer|friendlier|warmer|formal|professional|polite|less|more|natural|smoother|casual",
    ),
    (
        8,
        "birthday|farewell|greeting|welcome|wedding|thank|sympathy|condolence .. message|note|wishes|greeting|speech|card|letter|text",
    ),
    (
        8,
        "into a|an .. paragraph|email|letter|text|article|post|story|poem, ^ invent|imagine, how|what should|do|can|would i .. word|phrase",
    ),
    (
        8,
        "what should|do|can|could i .. write|say|reply|answer .. to|in|when|back, better|nicer|polite|politely|professional way to say",
    ),
    (
        8,
        "say|tell|decline|ask|refuse|apologi* .. politely|nicely|gently|diplomatically|tactfully|professionally, thank you|love note|letter",
    ),
    (
        7,
        "poem|poems|haiku|sonnet|limerick|rhyme|song|lyrics|story|stories|tale|chapter|joke|speech|toast|essay|blog|slogan*|motto|tagline",
    ),
    (
        7,
        "tone|dialogue|monologue|eulogy|pitch|screenplay|fanfic|vows, linkedin post, product description, plot twist",
    ),
    (
        7,
        "headline*|caption*|letter|newsletter|obituary|invitation|bio|biography|tweet, subject line, opening line|sentence|paragraph",
    ),
    (
        8,
        "need|want|like|send a|an|some text|message|note|email|mail|line|lines .. to|for|saying|that, word|phrase a|an|this|that|my",
    ),
    (
        8,
        "sound|sounds|sounding|feels|reads .. clunky|awkward|off|stiff|wooden|weird|harsh|rude|robotic|flat, smooth .. out",
    ),
    (7, "^ write|writing|type, make .. rhyme, fill in the blanks, in the style of"),
    (
        6,
        "write|reply|respond|answer .. email|mail|letter|message, come up with .. name|names|title|titles|slogan|lines, name|title for",
    ),
    (3, "paragraph|sentence|wording|words|email"),
];

const PLANNING: &[Cue] = &[
    (
        9,
        "what do|must i|we have|need to, take care of, figure|work|find out .. day|time|date|slot, split|break|divide .. into .. chunks|parts|steps|phases",
    ),
    (9, "what|which steps|stages|phases"),
    (
        9,
        "what order, when should i|we, when to, from .. to .. in .. weeks|months|days, how do|can|should i|we go from, do what $",
    ),
    (
        4,
        "trip|holiday|vacation|wedding|party|exam|project|renovat*|moving|weekend|deadline|marathon|garden|event|conference|semester",
    ),
    (
        9,
        "way|ways|how|help|me|us .. organize|organise|plan|schedule|arrange|coordinate|structure, ^ outline|list|sketch the|all .. phases|steps|stages",
    ),
    (
        8,
        "map|lay|plan|work|sketch it|this|that|everything out, phases|stages of|in, good|best|nice route|itinerary|order",
    ),
    (6, "weekend|day|road|business|city|school trip, trip to, getting|get married|ready"),
    (
        9,
        "what|which .. do|should|must i|we .. tackle|get|do|finish|prepare|sort .. first|before|done|ready, by when, get|be ready|done .. before",
    ),
    (
        9,
        "how would you structure|organize|organise|approach|schedule|spread|plan, get through all|my|this|everything, sort|work|figure out a|the route|plan|order|schedule|days",
    ),
    (
        8,
        "rota|roster|curriculum|syllabus|regimen|logistics|gantt|sprint|backlog|countdown|preparations|arrangements|seating",
    ),
    (
        9,
        "^ plan|organize|organise|schedule|arrange|map, plan~ .. trip|holiday|vacation|week|weekend|day|party|wedding|move|visit|menu",
    ),
    (
        9,
        "plan|schedule|timetable|calendar|checklist|itinerary|roadmap|timeline for, step plan, plan of action, action plan",
    ),
    (
        8,
        "itinerary|schedule|timetable|roadmap|agenda|checklist|timeline, to do list, training|meal|study|workout|lesson|project plan",
    ),
    (
        8,
        "next steps, what needs|need|has|have to happen|be, packing|shopping|task list, in what|which order, where do|should i|we start|begin, what comes|do first",
    ),
    (
        8,
        "how should|do|can|could|would i|we .. organize|organise|arrange|prepare|structure|schedule|tackle|approach|split|spend|divide",
    ),
    (
        8,
        "how should|do i|we go about, break|split|divide .. into steps|milestones|phases|tasks|chunks|stages, milestones",
    ),
    (
        8,
        "fit|squeeze|juggle|balance .. into|in|around|with .. week|day|schedule|work|job|calendar, meal prep, lay out .. steps|plan",
    ),
    (
        7,
        "plan|map|work .. week|weekend|day|days|trip|holiday|vacation|party|wedding|event|month, what should i do before|first|next",
    ),
    (
        7,
        "routine|route|milestone*, get .. done, find|agree|pick .. time|date|slot, day|days|week|weeks|weekend|night in|at|around",
    ),
    (
        7,
        "steps to|for|i|we|do, what do i|we need to do, what to do before|first, by friday|monday|next, manage my|our time|project",
    ),
    (
        6,
        "prepare for, get ready for, how long before, step*|tasks|things to do|take before|for, budget for|my, sequence|prioriti*",
    ),
    (5, "plan|plans|planning|deadline*|organize|organise|organizing|launch|prepare"),
];

const RECOMMENDATION: &[Cue] = &[
    (
        9,
        "is|are there .. good|decent|nice|cheap|great|reliable, songs|books|films|shows|places|games|bands like",
    ),
    (
        10,
        "help me|us .. choose|pick|find|buy|select|decide|get a|an|some|the|which|new, you recommend|suggest",
    ),
    (
        7,
        "what|which _ should|can|could i|we, what|which _ _ should|can|could i|we, what|which _ survive|suit|last",
    ),
    (
        4,
        "laptop|phone|tablet|headphones|earbuds|camera|monitor|mattress|vacuum|bike|sneakers|backpack|jacket|perfume|novel|series|documentary",
    ),
    (
        4,
        "restaurant|hotel|cafe|bar|museum|beach|hike|album|band|podcast|gadget|brand|school|insurance|gym|dentist|toy|board game",
    ),
    (8, "what|which _ .. work|works|go|goes well|best for, need|want new|another|better _"),
    (
        9,
        "which|what _ .. is|are worth, who are some, what are some, what is a good|nice|great|decent|cheap _, somewhere|someplace|anywhere _",
    ),
    (
        9,
        "find|get|buy|choose|picking|choosing|finding a|an|some|me|us .. car|laptop|phone|flat|hotel|gift|tv|bike|camera|doctor|course|school",
    ),
    (
        9,
        "playlist|reading|watch|bucket list for, new hobby|book|series|show|podcast|phone|laptop|car|recipe|game, top #|three|five|ten",
    ),
    (
        8,
        "authors|bands|artists|directors|movies|books|films|songs|shows|games|brands|places .. similar|like|worth|to, would you get|buy|choose",
    ),
    (
        9,
        "recommend*|suggestion*, suggest|suggests|suggesting _, worth reading|watching|visiting|seeing|buying|trying|a|the",
    ),
    (
        9,
        "to|in|help|trying|ready|here|interested|assist .. buy~|purchas* .. a|an|some|new|the, shopping for, in the market for",
    ),
    (
        9,
        "order|get|find|select|pick up|me|a|an .. i|i'd like|prefer|want|love|would|preferred, want|like to order|get|buy a|an",
    ),
    (
        8,
        "any|know|got|have .. good|nice|great|ideas|tips|favourite|recommendations, ^ best|top _, should|must everyone|one|people",
    ),
    (
        8,
        "things|places|what|somewhere|something|stuff|spots to do|see|visit|eat|read|watch|stay|go|try|listen|play",
    ),
    (
        8,
        "what|which .. should|can|could|shall|would|do i|we|you .. buy|get|read|watch|visit|see|book|listen|choose|try|play|recommend",
    ),
    (
        8,
        "where should|can|could|shall|do|to i|we|you .. eat|go|stay|buy|have|find|drink|get|shop, where to eat|stay|go|buy|shop",
    ),
    (
        7,
        "best|good|great|cheap|decent|nice|fun|cool|affordable|reliable .. laptop|phone|camera|book|books|novel|novels|film|films",
    ),
    (
        7,
        "best|good|great|cheap|decent|nice|fun|cool .. movie|movies|series|game|games|headphones|shoes|bike|tv|show|shows|app|apps|course",
    ),
    (
        7,
        "best|good|great|cheap|decent|nice|cool|fun .. hotel|hotels|restaurant|restaurants|cafe|bar|podcast|podcasts|gift|present|place",
    ),
    (
        7,
        "best|good|great|cheap|decent|nice|cool|fun .. places|beach|museum|hike|trail|spot|spots|recipe|recipes|album|albums|tool|tools",
    ),
    (
        8,
        "^ good|best|nice|great|cool|fun|cheap|decent|top|cheapest _ _, what|which .. should|shall|could|do i|we .. go|stay|travel",
    ),
    (
        7,
        "looking|searching for a|an|some|something|new, what could|can i|we .. do, what are .. good|best|great|must, thinking of getting",
    ),
    (
        7,
        "similar to, alternative|alternatives to|for, more like, if|i|i've liked|loved|enjoyed|finished, what next, options for, favourites for",
    ),
    (5, "i|we need|want _ .. for"),
    (6, "gift|present|ideas|idea .. for, need a|some|something new|good|nice|decent|cheap, want something"),
    (6, "recipe|recipes|restaurant|restaurants|hotel|hotels|movie|movies|podcast|podcasts"),
];

const SIMPLE_PREFERENCE: &[Cue] = &[
    (11, "should|shall i|we .. have|eat|drink|wear|order _ .. or"),
    (
        10,
        "sweet or salty, red or white, hot or cold, still or sparkling, do i want|like|prefer|fancy, would i want|like|prefer|enjoy",
    ),
    (5, "^ my _ $, ^ my _ _ $, ^ my _ _ please"),
    (
        4,
        "tonight|dinner|lunch|breakfast|outfit|snack|drink|color|colour|music|mood|dessert|flavour|flavor|wallpaper|ringtone|font",
    ),
    (
        9,
        "should|does|do it|this|that|they|these|those go|belong, ^ dress|surprise|feed|entertain|cheer|style me|us, what i|we always|usually|normally have|take|wear|drink|eat|order",
    ),
    (
        9,
        "goes|go|matches|look|looks .. with my|the, decide|choose|pick between, the way i, where it|they|he|she belong~|goes, mix|fix|make me a",
    ),
    (
        9,
        "what|which .. should|shall|do i|we .. put on|have for, heads or tails, flip a coin, which one .. me|i, something warm|cold|sweet|cozy",
    ),
    (
        10,
        "my|the usual, what i normally|usually|always, my|our favourite|regular|go, the way i like, the right|usual|proper place|spot",
    ),
    (
        9,
        "^ pick|choose|select, ^ put on some|something|a|my, ^ play some|something|a|my, ^ bring|fetch|grab|hand|serve|pour|get me|us",
    ),
    (
        9,
        "should|shall|do i|we .. wear|drink, which|what .. should|shall i|we .. wear|take|use|have|drink|order|serve|cook",
    ),
    (
        9,
        "^ _ or _ .. $, ^ _ _ or _ $, ^ _ or _ _ $, ^ _ _ or _ _ $, ^ a|the _ or a|the _ .. $, something|anything to drink|eat|snack",
    ),
    (
        8,
        "^ _ or _ _ with|for|tonight|today, fits|suits|matches|match my|me, what should|shall|do i|we .. eat|have|cook|make|order",
    ),
    (
        8,
        "bring|fetch|get|grab|hand me|us|everyone something|some|a|anything, put|place|store .. where, where i want|like|keep",
    ),
    (
        10,
        "what|which color|colour|shirt|dress|tie|outfit|flavor|flavour|topping|mug|wallpaper|theme|song|jacket|tea|wine|filling|shoes",
    ),
    (
        7,
        "surprise me, your|you pick|choose|decide, which one do i|you, in the mood for, i feel|fancy like, would i like|prefer|enjoy",
    ),
    (
        7,
        "put|place|arrange|organize|set|keep .. away|where|nearby|here|there|place, set .. temperature|thermostat|lights|volume",
    ),
    (6, "for me $, my taste, i'd like|prefer|enjoy|want, a snack|drink|coffee|tea|beer"),
    (5, "should|shall i have|eat|take, i like|love|enjoy|prefer, craving|thirsty|hungry|peckish"),
];

const ANALYSIS: &[Cue] = &[
    (10, "<math>"),
    (8, "is there anything|something|any to|in it|that|the, some|many people say|claim|think|argue|believe"),
    (
        8,
        "whether|if .. is|are|makes|was healthy|normal|realistic|worth|right|fair|true|enough|sensible, devil's advocate, steelman|rebut|refute, lessons",
    ),
    (
        4,
        "risk|cost|budget|investment|savings|healthy|impact|theory|claim|evidence|argument|strategy|policy|crisis|economy|inflation|profit",
    ),
    (
        8,
        "in what|which ways|way|respects, overlap|overlaps|similarities|similarity|parallels, so|too expensive|cheap|popular|rare|common, support the claim",
    ),
    (
        9,
        "square|cube root, root of, # plus|minus|times|divided|over|x #, can|could i|we .. afford, stands|stand|jumps out, outweigh*",
    ),
    (
        8,
        "^ discuss|debate|examine|critique|reason|argue|reflect|contrast, ethics|morality|merits|significance|role|importance of|did|does",
    ),
    (
        8,
        "role .. play|played, how much .. afford|left|total, make|made of this|these|the .. numbers|figures|results|data, what drives",
    ),
    (
        9,
        "analy*|compar*|evaluat*|assess*|calculat*|comput*|estimat*|interpret*|probabilit*|statistic*|correlat*|contrast",
    ),
    (
        9,
        "# <operator> #, # percent|% of, pros and cons, for and against, how likely, the odds|chances|likelihood, what are my chances",
    ),
    (
        9,
        "solve|simplify|factor|integrate|differentiate|derive|prove|expand .. equation|expression|for|inequality|system|that|the|x",
    ),
    (
        9,
        "find|determine|what is|give .. value|number|area|volume|sum|product|length|measure|radius|perimeter|probability|ratio of",
    ),
    (
        9,
        "find|determine|express|evaluate|convert .. integer*|equation|coordinates|degrees|roots|solutions|radical|fraction|decimal|point",
    ),
    (
        8,
        "advantages|disadvantages|benefits|drawbacks|downsides|upsides|tradeoff*|vs|weigh, trade offs, work|figure out",
    ),
    (
        8,
        "mean of|value, better off|deal|choice|investment, worth it|the, break even, median|average|variance|percentage|trend|trends|regression",
    ),
    (
        8,
        "implications|consequences|repercussions, root cause, how would|will|might|could .. affect|change|impact|look, what would happen",
    ),
    (
        8,
        "which|what is|are|of .. better|cheaper|best|worse|safer|faster|healthier|stronger|riskier|smarter for|than|to|option|choice",
    ),
    (
        8,
        "make|makes|making sense, percent|interest, per month|year, stack up, hold up, critique|scrutinize, strengths and weaknesses",
    ),
    (
        8,
        "triangle|polynomial|integer|integers|equation|equations|remainder|divisor|vertices|hypotenuse|quadratic|logarithm|matrix|modulo",
    ),
    (
        8,
        "^ should i|we .. or, is|would it|be .. better|cheaper|smarter|wise|wiser|worth, is it a good idea, what is driving|behind, what explains",
    ),
    (
        7,
        "cause|causes|caused|reason|reasons|effect|effects|factors of|for|behind|why, what if, how does|do|did .. differ|relate|compare",
    ),
    (
        7,
        "risks|impact of|on, affect*|influence*|impact*|outlier*|anomal*|pattern*|arguments|argument, how come, what makes|made",
    ),
    (
        7,
        "^ should i|we, ^ is|are|do|does .. cheaper|better|worse|unusual|normal|significant|realistic|odd|worth, too high|low",
    ),
    (
        6,
        "my|our|the|these .. numbers|expenses|spending|sales|figures|results|costs|budget|data, differences between, ^ why, logical|flaw*",
    ),
    (
        6,
        "how much .. save|pay|earn|cost|owe|spend|need .. if|per|a|to, difference|differences between, dataset|metrics|kpi|survey",
    ),
    (5, "cheaper, look|looks unusual|odd|wrong|normal|high|low, explain why|how, why"),
    (4, "explain why, how come"),
];

const ORDERS: &[Cue] = &[
    (
        9,
        "^ clear|print|save|download|record|restore|subscribe|log|sync|scan|report|activate|deactivate|increase|decrease|lower|raise _",
    ),
    (
        9,
        "^ decline|confirm|share|install|restart|reboot|charge|deposit|withdraw|donate|swap|return _, ^ put # _, ^ put .. on hold",
    ),
    (
        10,
        "i|i'm|my|he|he's|she|she's|his|her|someone|somebody .. pills|chest|unconscious|bleeding|breathing|seizure|overdosed|swallowed|stroke|suicidal|poisoned|numb",
    ),
    (
        9,
        "^ delete|erase|wipe|remove|cancel|pay|send|transfer|wire|order|sell|forward|unsubscribe|uninstall|post|publish|archive",
    ),
    (
        9,
        "^ buy # _, ^ book|reserve a|an|the|us|me|my, ^ format .. disk|drive|card|stick|partition, ^ empty the|my, ^ set a|an|the|my",
    ),
    (
        9,
        "^ call|text|phone|invite|switch|open|close|lock|unlock|move|rename|submit|sign|approve|accept|reject|dim|mute|start|stop|pause",
    ),
    (
        9,
        "^ turn .. on|off|up|down, ^ reply yes|no|that, ^ remind me|us to|about|at|in|of|tomorrow, ^ set up .. meeting|call|appointment, ^ add .. to my|the .. list|cart|calendar|basket, ^ copy|back",
    ),
    (
        9,
        "^ email|message|tell|notify|ping _ that|to|about, ^ check me in, ^ enable|disable|mark|block|upload|renew|reschedule|refund",
    ),
];

const FACTUAL: &[Cue] = &[
    (6, "^ list|name|enumerate the|all|three|four|five|some|#"),
    (8, "how does|do|did _ work $, how does|do|did _ _ work $, is it _ or _"),
    (7, "price now|today, know who|what|when|where, ^ _ of _ $, known for, made of|from"),
    (
        10,
        "what|which .. latest|current|newest|stable|active .. version|release|line|major|point|lts, as of today|now|#",
    ),
    (
        9,
        "what does|do|is .. stand|stands|short for, what is|are|was|were .. called|named|known, what does .. mean $",
    ),
    (
        9,
        "^ what is|are the|a|an .. purpose|definition|meaning|complexity|main|point|name|symbol|role|function of|between",
    ),
    (9, "^ what is|are|was a|an _ $, ^ what is|are|was a|an _ _ $"),
    (
        9,
        "at what|which temperature|age|time|speed|altitude|pressure|point|year, ^ is|are|was a|an|the .. or, difference between _ and _ $",
    ),
    (
        7,
        "capital|population|currency|author|president|inventor|area|height|founder|ceo|mayor|king|queen|winner of, ^ define|name",
    ),
    (
        7,
        "weather|traffic|forecast|stands, stand for, exchange rate, stock price, price of, definition of, opening hours, phone number|code of",
    ),
    (7, "how far|many|much|old|tall|long|high|big|deep|heavy|fast|often|hot|cold|late|wide|large|close"),
    (
        6,
        "^ who|when|where|whose|whom, in|since|on which|what year|country|city|century|day|date|continent, who|when",
    ),
    (
        6,
        "tallest|largest|smallest|longest|oldest|fastest|deepest|highest|biggest|richest|hottest|coldest|heaviest|youngest, first person|woman|man|country|president|to",
    ),
    (
        6,
        "point|date|place|number|name|size|speed|age|temperature|meaning|list|origin|color|colour|rules|symptoms|ingredients of",
    ),
    (
        6,
        "latest|current|newest version|price|score|news|record, invented|discovered|wrote|painted|founded|won|born, what year|time|day",
    ),
    (
        6,
        "^ what|which .. kind|type|part|country|language|animal|planet|element|team|band|company|organ|metal",
    ),
    (
        5,
        "^ what|which, ^ is|are|was|were|does|did|do|has|have|can it|there|the|a|an|they|he|she|you|all|any|people|_",
    ),
    (5, "meaning of, what does .. mean, what happens|happened, true|false that"),
    (4, "how does|do|did|is|are, fact|facts about, tell me about, explain what, what"),
];
