//! How a line after an answer falls into a reaction and a request, and how an answer asks back.

/// Words that begin a turn of talk and say nothing about the answer when a request follows.
pub(crate) const MARKERS: &str =
    "okay|fine|alright|sure|right|yes|yeah|yep|yup|no|nope|nah|well|good|cool|great|hm|hmm|so|now $";

/// How the next request begins.
pub(crate) const REQUEST_STARTS: &[&str] = &[
    "^ now|next|then|also|what|how|when|where|who|which|whose|why|please",
    "^ can|could|would|will|do|does|is|are|should i|we|you|it|there|this|that|the|they|he|she",
    "^ write|give|open|translate|list|show|tell|find|explain|create|make|summarize|summarise|draft|compare|convert|add|remove",
    "^ do|send|plan|recommend|suggest|calculate|book|read|search|look|check|continue|go|let's|try|help|turn|put|use|sort|fix",
    "^ rewrite|rephrase|schedule|set|remind|order|buy|play|call|print|save|rename|move|update|change|run|build|design|prepare",
    "i have|got another|one|a|some|two more|further|question|questions|thing|request, one|another|next more|thing|question",
    "i|we need|want|would, i'd|i'd also like|want|need",
];

/// Words with which a request begins where no sign of punctuation parts it from what stands before.
pub(crate) const JOINED: &str = "now|next|can|could|what|how|when|where|who|which|why|also|then";

/// Words about oneself or the world, and words about the answer: what has only the former is not a reaction.
pub(crate) const OWN_MATTERS: &str = "^ i|i'm|my|we|we're|our|he|he's|she|she's|they|they're|there|at|in";

/// See [`OWN_MATTERS`].
pub(crate) const ABOUT_ANSWER: &str =
    "it|this|that|you|your|you're|answer|reply|explanation|summary|those|these|more|less|better";

/// An answer asks for what it lacks.
pub(crate) const ASKS: &[&str] = &[
    "which|what|who|whose|when|where|how .. do|did|would|are|were|have|will|can you",
    "which|what|where|when|how .. should|shall i|we|it|this|that|the",
    "which|what one|ones|of, which _ .. mean|meant|want|need|prefer|use, what|who|where|when is|are|was|were your|you|this|that|it",
    "which|what kind|type|sort|version|language|city|country|date|time|day|size|format|file|files|budget|style|tone|topic",
    "what|where exactly|specifically, how many|much|long|often|soon|old|big",
    "are|were you .. looking|referring|asking|talking|using|interested|trying|planning|running|after|thinking|working",
    "do|did you .. mean|want|have|need|prefer|know|remember|plan|use|intend, have you .. tried|checked|set|got",
    "should|shall i|we|it|this|that, is|was this|that|it|your|the .. for|about|your|correct|right, is there .. specific|particular|certain",
    "can|could|would|will you .. clarify|specify|provide|share|tell|give|paste|send|confirm|describe|explain|elaborate|attach|upload",
    "can|could|would|will you .. point|narrow|be, would|do you prefer, would you like .. or, or something else",
];

/// An answer asks for what it lacks, as an order or as a statement, and whatever else it says.
pub(crate) const NEEDS: &[&str] = &[
    "can|could|would you .. clarify|specify|provide|share|paste|attach|upload|elaborate",
    "^ please|kindly clarify|specify|provide|share|tell|paste|confirm|describe|attach|upload|send|let",
    "need|needs|require .. more|some|further|additional|few .. information|details|detail|context|info",
    "^ let me know .. which|what|where|when|who|how|whether|the|your, ^ tell|give|send me .. which|what|where|when|who|whether|your",
    "i|i'd need|have to know, did you mean, do you mean, what .. mean, which .. mean",
    "not|unsure sure|certain which|what|whether|who, not clear which|what|whether|who",
    "don't|can't|doesn't see .. file|attachment|text|code|image|document|article, don't have .. file|text|code|article|document",
    "please|first .. answer|fill",
];

/// An answer offers more; what it was asked for it has.
pub(crate) const OFFERS: &[&str] = &[
    "anything|something|someone else|more, what|how else|other, any other|more|further questions|question|thoughts|concerns",
    "would you like|want|care|prefer me|to|some|an|a|more|another|help|it|this|that",
    "do you want|need|wish me|to|some|any|more|another|help, want me to, want to|more, interested in, shall|should|may|can i|we",
    "can|may|could i|we .. help|assist|do|be, need any|more|help|anything, how can|may i, what can|would|may i|you .. do|like|today",
    "does|do|is|did that|this|it|these .. help|helps|work|sense|clear|answer|sound|look|okay|good|useful|fit|make|suit",
    "how does|do|is|about that|this|it|these, sound|sounds|look good|right|okay, what do you think, are you ready|curious",
    "let me know .. if|any|anytime, feel free, want|like to know|see|hear|learn|try|read more|how|why|it|one",
    "ready|shall to|we, would|will that|this, make|makes sense",
];

/// An offer of which the person has to say which.
pub(crate) const CHOICES: &str = "or, which, what kind|sort|type|language|format|style|tone, how many|much|long, what|when|where|how|who .. would|do you like|want";

/// An offer for which permission is needed.
pub(crate) const PERMISSION: &str = "me to, ^ should|shall|may|can i|we";

/// An offer of something beyond what was asked for.
pub(crate) const MORE: &str = "more|else|also|too|further|another|other|help|assist|today, as well";

/// An order that need not be followed.
pub(crate) const WHENEVER: &str =
    "let me know .. if|any|anything, feel free, ask|tell|say|contact me|us if|any|anytime, just ask";

/// Said out of politeness, and neither an answer nor a question.
pub(crate) const COURTESY: &[&str] = &[
    "sure|certainly|okay|great|thanks|thank|hello|hi|hey|absolutely|alright|understood|sorry|welcome|yes|good, of course",
    "happy|glad|love|pleased to, i|i'd|i'll|i'm can|could|happy|glad|be, help you, let me, no problem, to help",
    "so that i, so i can, then i, i'll then|be|get|start|take, before i, once i|you|we, that way, thanks|thank, in advance, e, g",
];

/// A question that wants no answer.
pub(crate) const TAGS: &[&str] = &[
    "isn't|aren't|wasn't|doesn't|don't|won't|wouldn't it|they|he|she|that|you|this .. $, ^ right|huh|eh $",
    "^ why|how not|cool|great|nice|interesting, who knows|knew, who would, why not $",
];
