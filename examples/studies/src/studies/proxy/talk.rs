//! Simulated people who talk to an assistant through the proxy, and the assistant.
//!
//! A person sees answers, not actions: whether an answer is liked is a matter of its form, and what is said about it is in words.

use fable_core::user_hash;
use fable_simulate::Random;
use serde_json::{Value, json};

/// How an answer can be: what the assistant is told for it, and what it then says.
pub struct Form {
    instruction: &'static str,
    answer: &'static str,
}

/// The forms; the first four are liked by somebody.
pub const FORMS: [Form; 6] = [
    Form { instruction: "Answer briefly.", answer: "Use a loop." },
    Form {
        instruction: "Answer directly.",
        answer: "Go through it once and keep what you need in a list. Return the list in the end.",
    },
    Form {
        instruction: "Answer in detail.",
        answer: "There are several ways, and each has advantages that depend on what you have. The first one is easy to read and \
                 takes more memory. The second one takes less memory and is harder to read. Which of them suits you depends on how much there is \
                 to do and on who reads it later. In most cases the first one is the better choice, and it is easy to change later.",
    },
    Form {
        instruction: "Answer step by step.",
        answer: "Step 1: write down what you have. Step 2: go through it in order. Step 3: keep what you need. Step 4: look at what came out.",
    },
    Form {
        instruction: "Answer with a question that clarifies the request.",
        answer: "Which version do you have?",
    },
    Form {
        instruction: "Say what you are about to do and wait for confirmation.",
        answer: "I am about to write it down. Shall I?",
    },
];
/// So many of them are liked by somebody.
pub const LIKED: usize = 4;
/// What the assistant does when it is told nothing, or does not listen.
const OWN: usize = 2;

/// Requests of one conversation.
pub const TURNS: u32 = 6;

/// How often the assistant does not do what it is told, and how often a person says nothing about an answer.
const DEAF: f64 = 0.1;
const SILENT: f64 = 0.5;

/// What is asked: two kinds of requests, which the rules take for different tasks.
const QUESTIONS: [[&str; 3]; 2] = [
    [
        "Write a Python function that sorts a list",
        "Write a Python function that counts words",
        "Write a Python function that finds duplicates",
    ],
    ["Plan a trip to Rome", "Plan a birthday party", "Plan the move to another flat"],
];

/// What is said about answers.
const PRAISE: &str = "Thanks, perfect.";
const TOO_LONG: &str = "That was too long.";
const TOO_SHORT: &str = "That was too short.";
const OTHERWISE: &str = "No, that is not what I asked for.";

/// Somebody, by number: which form is liked for each kind of request.
#[derive(Clone, Debug)]
pub struct Person {
    number: u64,
    liked: [usize; 2],
}

impl Person {
    /// Likes are drawn, each on its own.
    pub fn new(number: u64) -> Self {
        let mut random = Random::new([number, 0, 0, 0x9a0c]);
        Self { number, liked: [random.below(LIKED), random.below(LIKED)] }
    }

    /// As the application calls them.
    pub fn name(&self) -> String {
        format!("person-{}", self.number)
    }

    fn die(&self, round: u32, what: u64) -> Random {
        Random::new([self.number, u64::from(round), what, 0x9a0c])
    }

    fn kind(&self, round: u32) -> usize {
        self.die(round, 1).below(QUESTIONS.len())
    }

    /// What is asked in a round.
    pub fn question(&self, round: u32) -> String {
        let questions = QUESTIONS.get(self.kind(round)).copied().unwrap_or_default();
        let question = questions.get(self.die(round, 2).below(questions.len())).copied().unwrap_or_default();
        format!("{question}, number {round}.")
    }

    /// The form that is liked in a round.
    pub fn wanted(&self, round: u32) -> usize {
        self.liked.get(self.kind(round)).copied().unwrap_or_default()
    }

    /// What is said about an answer, if anything.
    pub fn reaction(&self, round: u32, form: Option<usize>) -> Option<&'static str> {
        if self.die(round, 3).unit() < SILENT {
            return None;
        }
        let wanted = self.wanted(round);
        match form {
            Some(form) if form == wanted => Some(PRAISE),
            Some(form) if form >= LIKED => Some(OTHERWISE),
            Some(form) if length(form) > length(wanted) => Some(TOO_LONG),
            _ => Some(TOO_SHORT),
        }
    }
}

/// The words of a form's answer.
fn length(form: usize) -> usize {
    FORMS.get(form).map_or(0, |form| form.answer.split_whitespace().count())
}

/// The form of an answer, as a person sees it.
pub fn form_of(answer: &str) -> Option<usize> {
    FORMS.iter().position(|form| form.answer == answer)
}

/// What the assistant answers to a body: what the last message tells it, except when it does not listen, by a die for the request.
pub fn answer(body: &Value) -> Value {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let last_of = |role: &str| {
        messages
            .iter()
            .rev()
            .find(|message| message["role"] == role)
            .and_then(|said| said["content"].as_str())
    };
    let (told, asked) = (last_of("system").unwrap_or_default(), last_of("user").unwrap_or_default());
    let name = format!("{}: {asked}", body["user"].as_str().unwrap_or_default());
    let deaf = Random::new([user_hash(&name), 0, 0, 0xdeaf]).unit() < DEAF;
    let form = FORMS.iter().position(|form| told.contains(form.instruction)).filter(|_| !deaf).unwrap_or(OWN);
    let text = FORMS.get(form).map_or("", |form| form.answer);
    let message = json!({"role": "assistant", "content": text});
    json!({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::AGENT;
    use fable_std::text::{ContextAdapter, FeedbackAdapter, Reaction, RequestText, Rules, Situation};

    #[test]
    fn rules_read_what_people_say_and_ask() {
        let read = |text: &str| {
            Rules
                .feedback(Reaction { text, clarifications: 0, corrections: 0 })
                .value
                .map(|read| read.reward())
        };
        // Before every next request, as it is said.
        for question in QUESTIONS.iter().flatten() {
            let with = |said: &str| read(&format!("{said} {question}, number 7."));
            assert!(with(PRAISE).is_some_and(|reward| reward > 0.3), "{question}");
            for said in [TOO_LONG, TOO_SHORT, OTHERWISE] {
                assert!(with(said).is_some_and(|reward| reward < 0.0), "{said} {question}: {:?}", with(said));
            }
        }
        let mut lengths: Vec<usize> = (0..LIKED).map(length).collect();
        lengths.sort_unstable();
        lengths.dedup();
        assert_eq!(lengths.len(), LIKED);
        let task =
            |text: &str| Rules.context(&AGENT, Situation::new(RequestText::new(text))).unwrap().value.task();
        let tasks =
            QUESTIONS.map(|questions| questions.map(|question| task(&format!("{question}, number 7."))));
        assert!(tasks.iter().all(|tasks| tasks.iter().all(|task| task == &tasks[0])), "{tasks:?}");
        assert_ne!(tasks[0][0], tasks[1][0]);
    }

    #[test]
    fn the_assistant_mostly_does_what_it_is_told() {
        let told = |instruction: &str, number: u32| {
            let messages = [
                json!({"role": "user", "content": format!("{number}")}),
                json!({"role": "system", "content": instruction}),
            ];
            form_of(
                answer(&json!({"messages": messages, "user": "ana"}))["choices"][0]["message"]["content"]
                    .as_str()
                    .unwrap(),
            )
        };
        for (index, form) in FORMS.iter().enumerate() {
            let done = (0..400).filter(|number| told(form.instruction, *number) == Some(index)).count();
            assert!(
                if index == OWN { done == 400 } else { (330..390).contains(&done) },
                "{}: {done}",
                form.instruction
            );
        }
        assert_eq!(told("", 1), Some(OWN));
        let people: Vec<Person> = (0..200).map(Person::new).collect();
        assert!((0..LIKED).all(|form| people.iter().filter(|person| person.liked[0] == form).count() > 25));
    }
}
