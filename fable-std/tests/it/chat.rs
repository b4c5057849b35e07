//! `fable chat` over a pipe: what it prints, what it keeps, and what it never does.

use crate::endpoint::{Endpoint, Reply, completion, reply};
use fable_core::{Policy, Settings, catalog::AGENT, user_hash};
use fable_std::chat::Chat;
use fable_std::store::{FileStore, Identity, Policies, Store};
use fable_std::text::Rules;
use proptest::prelude::*;
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const SECRET: &str = "sk-very-secret-0123456789";

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("chat.fable");
    (folder, store)
}

fn command(store: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    command
        .args(["chat", "--store"])
        .arg(store)
        .args(flags)
        .env_remove("FABLE_API_KEY")
        .env_remove("OPENAI_API_KEY");
    command
}

fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input); // a command that refuses to start reads nothing
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// What a session that goes well prints.
fn says(store: &Path, flags: &[&str], input: &str) -> String {
    let output = run(command(store, flags), input.as_bytes());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn other(arguments: &[&str], store: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fable")).args(arguments).arg("--store").arg(store).output().unwrap()
}

/// The session in the README is what the command prints, for its seed.
#[test]
fn the_readme_shows_a_real_session() {
    let readme = include_str!("../../README.md");
    let section = readme.split_once("<!-- chat -->").unwrap().1.split_once("<!-- /chat -->").unwrap().0;
    let script = section.split_once("<<'END'\n").unwrap().1.split_once("END\n```").unwrap().0;
    let shown = section.split_once("```text\n").unwrap().1.split_once("```").unwrap().0;
    assert_eq!(script.lines().count(), 8);
    let (_folder, store) = place();
    assert_eq!(says(&store, &[], script), shown);
}

const SESSION: &str = "\
/prefer I like short answers, please never run code
What's the weather in Oslo today?
too long
Delete all my emails from 2019
/why
++
/why
/whynot tool=code_execution style=detailed
/forbid tool=web_search
Explain how to sort a list in Python
Perfect, now do it in Rust.
no, I meant Go
thanks
/allow code_execution
Which of my invoices are overdue?
+
/profile
Recommend a book for my sister
";

/// A process for each line, or one for all: the same words, and the same bytes at the end. Only the conversation ends with the
/// process, so no request here depends on it.
#[test]
fn a_restart_changes_nothing() {
    let ((_one, whole), (_two, pieces)) = (place(), place());
    for user in ["me", "an\u{e1} with a name"] {
        let flags = ["--user", user, "--seed", "7", "--nu", "1"];
        let expected = says(&whole, &flags, SESSION);
        assert!(
            expected.matches("\nchosen ").count() == 6 && expected.matches("\nreaction ").count() == 5,
            "{expected}"
        );
        let said: String = SESSION.lines().map(|line| says(&pieces, &flags, line)).collect();
        assert_eq!(said, expected);
        let exported = [&whole, &pieces].map(|store| other(&["export", user, "-"], store).stdout);
        assert!(exported[0].len() > 300);
        assert_eq!(exported[0], exported[1]);
    }
    let replayed = other(&["replay", "me", "--nu", "1"], &whole);
    let replayed = String::from_utf8(replayed.stdout).unwrap();
    assert!(replayed.contains("6 of 6 decisions are the same, bit for bit"), "{replayed}");
}

/// What was shown is on disk, whatever happens to the process then.
#[test]
fn what_was_said_survives_kill() {
    let (_folder, store) = place();
    for round in 1..=4 {
        let mut child = command(&store, &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap(); // stays open: the chat waits for more when it is killed
        input
            .write_all(
                format!("/forbid {}\n/ask What is a monad?\n+\n", ["web_search", "ask_user"][round % 2])
                    .as_bytes(),
            )
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(lines.take(5).last().unwrap(), "reaction     +0.70, learned");
        child.kill().unwrap();
        child.wait().unwrap();
        let profile = says(&store, &[], "/profile\n");
        assert!(profile.contains(&format!("learned from {round}. ")), "{profile}");
        assert_eq!(profile.matches("rule ").count(), round.min(2), "{profile}");
    }
}

/// A request that takes several events (what was not answered in time is learned from, then the decision) happens as a whole or
/// not at all, also when the disk is full.
#[cfg(target_os = "linux")]
#[test]
fn without_room_on_the_disk_nothing_is_half_done() {
    let (_folder, store) = place();
    let flags = ["--deadline", "rounds=0", "--expiry", "impute=-0.25"];
    let asked = says(&store, &flags, &"/ask What is a monad?\n".repeat(20)).matches("\nchosen ").count();
    assert_eq!(asked, 20);
    // No file may grow past this size; a write beyond it is an error to the process.
    let blocks = std::fs::metadata(&store).unwrap().len() / 512 + 8;
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let chat = command(&store, &flags);
    let mut limited = Command::new("sh");
    limited.args(["-c", &script]).arg(chat.get_program()).args(chat.get_args()).env("FABLE_LOG", "off");
    let output = run(limited, "/ask What is a monad?\n".repeat(600).as_bytes());
    let told = String::from_utf8(output.stdout).unwrap();
    let (done, failed) = (told.matches("\nchosen ").count(), told.matches("not done     ").count());
    assert!(done > 0 && failed > 0, "{done} {failed} {}", String::from_utf8_lossy(&output.stderr));
    // A decision expires with the second one after it, and never without it.
    let rounds = asked + done;
    let profile = says(&store, &flags, "/profile\n");
    assert!(
        profile.contains(&format!("{rounds} requests, learned from {}. ", rounds - 2)),
        "{rounds}: {profile}"
    );
    let replayed = other(&["replay", "me"], &store);
    let replayed = String::from_utf8(replayed.stdout).unwrap();
    assert!(replayed.contains(&format!("{rounds} of {rounds} decisions are the same")), "{replayed}");
}

fn bold() -> Policies<'static, f64> {
    let adapters = Settings {
        context_adapter: Rules::CONTEXT,
        feedback_adapter: Rules::FEEDBACK,
        ..Settings::default()
    };
    let exploration = fable_core::Exploration::Constant(3.0);
    Policies::from(Policy::new(&AGENT, Settings { exploration, noise_variance: 0.05, ..adapters }).unwrap())
}

fn open<'p>(policies: &'p Policies<'p, f64>, store: &Path) -> Chat<'p> {
    Chat::open(
        policies,
        Box::new(FileStore::open(store, &Identity::new(policies.newcomers())).unwrap()),
        "me",
        &Rules,
        None,
    )
    .unwrap()
}

/// Actions chosen in many rounds by a learner that explores boldly, with a restart now and then, and reactions that speak for
/// what is forbidden.
fn chosen(store: &Path, before: &[&str]) -> Vec<String> {
    let policies = bold();
    let mut chat = open(&policies, store);
    for line in before {
        assert!(!chat.line(line, 0).unwrap().to_string().contains("not done"));
    }
    let mut chosen = Vec::new();
    for round in 0..100 {
        if round % 20 == 19 {
            drop(chat);
            chat = open(&policies, store);
        }
        let request = ["What's the weather in Oslo today?", "Fix the bug in my code"][round % 2];
        let reply = chat.line(&format!("/ask {request}"), 0).unwrap();
        chosen.push(reply.lines.iter().find(|line| line.label == "chosen").unwrap().text.clone());
        chat.line(if chosen[round].contains("web_search") { "++" } else { "--" }, 0).unwrap();
    }
    chosen
}

#[test]
fn what_is_forbidden_is_never_chosen() {
    let ((_one, free), (_two, forbidden), (_three, stated)) = (place(), place(), place());
    let count =
        |chosen: &[String], value: &str| chosen.iter().filter(|action| action.contains(value)).count();
    let without = chosen(&free, &[]);
    assert!(count(&without, "web_search") > 25 && count(&without, "ask_user") > 0);
    let with = chosen(&forbidden, &["/forbid tool=web_search ask_user"]);
    assert_eq!((count(&with, "web_search"), count(&with, "ask_user"), with.len()), (0, 0, 100));
    let with = chosen(&stated, &["/prefer never search the web"]);
    assert_eq!((count(&with, "web_search"), with.len()), (0, 100));
    // Until it is allowed again.
    let policies = bold();
    assert!(
        open(&policies, &stated)
            .line("/allow web_search", 0)
            .unwrap()
            .to_string()
            .contains("no more: never tool=web_search")
    );
    assert!(count(&chosen(&stated, &[]), "web_search") > 25);
}

/// On a terminal: what somebody new types first are preferences, unless it is empty, a command, or has none in it.
#[test]
fn somebody_new_is_asked_first() {
    let policies = bold();
    let first = |lines: &[&str]| {
        let (_folder, store) = place();
        let mut chat = open(&policies, &store);
        assert!(chat.greet("FILE").to_string().contains("kept in FILE.\n"));
        let said: Vec<String> = lines.iter().map(|line| chat.line(line, 0).unwrap().to_string()).collect();
        drop(chat);
        (said.concat(), open(&policies, &store).greet("FILE").to_string())
    };
    let stated = "I like short answers, never search the web";
    let (said, again) = first(&[stated]);
    assert!(
        said.starts_with("prefers      style=concise")
            && said.contains("\nrule         never tool=web_search\n"),
        "{said}"
    );
    assert!(
        again.starts_with("Welcome back, me: 0 requests, learned from 0.") && !again.contains("Enter"),
        "{again}"
    );
    for skipped in [&["", stated][..], &["/profile", stated]] {
        let (said, again) = first(skipped);
        assert!(said.contains("request ") && again.contains("1 request, learned from 0."), "{said} {again}");
    }
    let (said, _) = first(&["What is the capital of France?"]);
    assert!(said.starts_with("request      factual\n"), "{said}");
    let (said, again) = first(&["", "/quit"]);
    assert!(
        said.is_empty() && again.contains("Enter skips"),
        "nothing is kept of somebody who said nothing: {again}"
    );
}

/// A request that goes on with the last one is read with it, and not any more in the next chat.
#[test]
fn the_conversation_counts_while_it_lasts() {
    let (_folder, store) = place();
    let said = says(&store, &[], "What's the weather in Oslo today?\n/ask and Bergen?\n");
    assert_eq!(said.matches("request      factual, ").count(), 2, "{said}");
    assert_eq!(said.matches("tool_need 0.9").count(), 2, "{said}");
    let alone = says(&store, &[], "/ask and Bergen?\n");
    assert!(!alone.contains("factual") && alone.contains("ambiguity"), "{alone}");
}

#[test]
fn a_rule_that_leaves_nothing_is_refused() {
    let (_folder, store) = place();
    let all = "/forbid direct concise detailed step_by_step ask_clarification confirm_first";
    let said = says(&store, &[], &format!("{all}\n/profile\nWhat is a monad?\n"));
    assert!(said.starts_with("not done     your rules would leave nothing"), "{said}");
    assert!(said.contains("Nothing is known about you yet.") && said.contains("\nchosen "), "{said}");
}

/// What became certain is announced once, stands in the instruction from then on, and in the profile of the next chat.
#[test]
fn certain_preferences_are_announced_and_used() {
    let (_folder, store) = place();
    let policies = bold();
    let mut chat = open(&policies, &store);
    // Less to choose from, so that it does not take long.
    for values in [
        "direct step_by_step ask_clarification confirm_first",
        "recent_memory semantic_memory preference_memory profile_summary",
        "web_search file_search code_execution preference_checker ask_user",
    ] {
        chat.line(&format!("/forbid {values}"), 0).unwrap();
    }
    let mut announced: Option<String> = None;
    for round in 0..600 {
        let asked = chat.line("/ask Whales and dolphins at night, please", 0).unwrap().to_string();
        if let Some(sentence) = &announced {
            let (sentence, _) = sentence.split_once(" (by ").unwrap();
            assert!(!asked.contains(sentence), "without memory it is not told: {asked}");
            chat.line("/allow profile_summary", 0).unwrap();
            chat.line("/forbid no_memory", 0).unwrap();
            let asked = chat.line("/ask Tell me about whales", 0).unwrap().to_string();
            assert!(asked.contains(&format!("\ninstruction  {sentence} ")), "{asked}");
            break;
        }
        assert!(!asked.contains("The user prefers"), "{asked}");
        let reaction = if asked.contains("concise\n") { "++" } else { "--" };
        let learned = chat.line(reaction, 0).unwrap().to_string();
        announced =
            learned.split_once("\ncertain      ").map(|(_, text)| text.lines().next().unwrap().to_owned());
        assert!(round < 599, "nothing became certain");
    }
    let announced = announced.unwrap();
    assert!(
        announced.starts_with("The user prefers brief answers to detailed ones. (by the model, "),
        "{announced}"
    );
    drop(chat);
    let profile = open(&policies, &store).line("/profile", 0).unwrap().to_string();
    assert!(profile.contains(&format!("certain      {announced}\n")), "{profile}");
}

#[test]
fn nothing_of_a_forgotten_person_is_in_the_file() {
    let rule = "/prefer never search the web, my name is Zebedee\n";
    let script = format!("{rule}What's the weather in Oslo today?\ntoo long\n/forbid tool=ask_user\n");
    for by_command in [false, true] {
        let (_folder, store) = place();
        for user in ["Xanthippe", "ana"] {
            says(&store, &["--user", user], &script);
        }
        let hash = user_hash("Xanthippe").to_le_bytes();
        let kept = |user: &str| {
            let kept = FileStore::open_any(&store).unwrap().named(user).ok();
            kept.map(|kept| {
                [
                    kept.row.encode(),
                    kept.wishes,
                    kept.journal.iter().flat_map(|part| part.bytes.clone()).collect(),
                ]
                .concat()
            })
        };
        let found =
            |what: &[u8]| kept("Xanthippe").is_some_and(|kept| memchr::memmem::find(&kept, what).is_some());
        assert!(found(b"Xanthippe") && found(&hash) && found(b"never search the web"));
        assert!(
            !found(b"Zebedee") && !found(b"Oslo") && !found(b"too long"),
            "only the words of a rule are kept"
        );
        // Nothing of that can be read in the file.
        let bytes = std::fs::read(&store).unwrap();
        assert!(
            [&b"Xanthippe"[..], &hash, b"never search"]
                .iter()
                .all(|what| memchr::memmem::find(&bytes, what).is_none())
        );
        if by_command {
            assert!(other(&["forget", "Xanthippe"], &store).status.success());
        } else {
            // Anything but yes is no, and is not taken for a reaction.
            let said =
                says(&store, &["--user", "Xanthippe"], "/forget\nno\n/profile\n/forget\nyes\n/profile\n");
            assert!(said.contains("Nothing was forgotten.\nrule "), "{said}");
            assert!(said.ends_with("can be read any more.\nNothing is known about you yet.\n"), "{said}");
        }
        assert!(kept("Xanthippe").is_none());
        // Somebody else's rules are still there, and the last ones go with the last person.
        let profile = says(&store, &["--user", "ana"], "/profile\n");
        assert!(
            profile.starts_with("rule         never tool=web_search (\"never search the web\")\n"),
            "{profile}"
        );
        says(&store, &["--user", "ana"], "/forget yes\n");
        assert!(kept("ana").is_none());
    }
}

#[test]
fn rules_travel_with_an_exported_person() {
    let ((folder, store), (_other, new)) = (place(), place());
    says(&store, &[], "/prefer never search the web\nWhat is a monad?\n+\n");
    let file = folder.path().join("me.user");
    let file = file.to_str().unwrap();
    assert!(other(&["export", "me", file], &store).status.success());
    let adapters = ["--context-adapter", Rules::CONTEXT, "--feedback-adapter", Rules::FEEDBACK];
    let imported = other(&[&["import", file][..], &adapters].concat(), &new);
    assert!(imported.status.success(), "{imported:?}");
    assert_eq!(says(&new, &[], "/profile\n"), says(&store, &[], "/profile\n"));
    // A damaged rule is refused with the rest: it is never dropped.
    let mut bytes = std::fs::read(file).unwrap();
    let at = memchr::memmem::find(&bytes, b"web_search").unwrap();
    bytes[at] = b'W';
    let end = bytes.len() - 4;
    let sum = fable_core::record::checksum(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&sum);
    std::fs::write(file, bytes).unwrap();
    let refused = other(&[&["import", file][..], &adapters].concat(), &folder.path().join("third.fable"));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("rules cannot be read"), "{refused:?}");
}

#[test]
fn mistakes_are_told_in_a_line_and_the_session_goes_on() {
    let (_folder, store) = place();
    let told = |line: &str| {
        let said = says(&store, &[], &format!("{line}\n/help\n"));
        let (told, rest) = said.split_once('\n').unwrap();
        assert!(rest.starts_with("  a request "), "{said}");
        told.to_owned()
    };
    for (line, says) in [
        ("/fobid tool=web_search", "not done     there is no command '/fobid'; did you mean '/forbid'?"),
        (
            "/forbid tool=websearch",
            "not done     'tool' has no value 'websearch'; did you mean 'web_search'?",
        ),
        ("/forbid tol=web_search", "not done     there is no component 'tol'; did you mean 'tool'?"),
        ("/whynot consice", "not done     there is no value 'consice'; did you mean 'concise'?"),
        ("/whynot concise", "not done     there is no answer yet"),
        ("/why", "not done     there is no answer yet"),
        ("/forbid", "not done     /forbid needs a value"),
        ("+", "not done     there is no answer yet"),
        ("/prefer the sky is blue", "not done     nothing in it says what you like"),
        ("/allow concise", "No rule stands against it."),
        ("/etc/passwd", "not done     there is no command '/etc/passwd'"),
    ] {
        let told = told(line);
        assert!(told.starts_with(says), "{line}: {told}");
    }
    assert!(says(&store, &[], "/quit\n/profile\n").is_empty());
    for input in ["", "\n", " \n\r\n\t\n"] {
        assert_eq!(says(&store, &[], input), "");
    }
    assert!(says(&store, &[], "What is a monad?").contains("chosen"), "a last line without its end");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is typed in whatever order: an answer that says only itself, and the chat goes on.
    #[test]
    fn any_lines_are_answered(lines in prop::collection::vec((0..LINES.len(), ".{0,30}"), 1..12)) {
        let policies = bold();
        let store = FileStore::in_memory(&Identity::new(policies.newcomers())).unwrap();
        let mut chat = Chat::open(&policies, Box::new(store), "me", &Rules, None).unwrap();
        if lines.len() % 2 == 0 {
            chat.greet("FILE");
        }
        for (line, rest) in lines {
            let reply = chat.line(&format!("{}{rest}", LINES[line]), 0).unwrap();
            prop_assert!(reply.to_string().chars().all(|letter| letter == '\n' || !letter.is_control()));
        }
        prop_assert!(chat.line("/ask What is a monad?", 0).unwrap().to_string().contains("chosen "));
    }
}

/// What lines begin with.
const LINES: [&str; 14] = [
    "",
    "",
    "too long ",
    "thanks, now ",
    "+",
    "/forbid tool=",
    "/forbid style=concise ",
    "/allow concise ",
    "/why",
    "/whynot direct ",
    "/prefer never search the web ",
    "/forget",
    "yes",
    "/profile",
];

#[test]
fn no_line_is_too_much() {
    let (_folder, store) = place();
    let long = "why ".repeat(40_000);
    let fits = format!("/forbid {}", "x".repeat(60_000));
    let input = [
        long.as_bytes(),
        b"\n\xff\xfe bytes\n",
        fits.as_bytes(),
        b"\nEsc \x1b[31m\x07 \xe2\x80\xae?\n/profile\n",
    ]
    .concat();
    let output = run(command(&store, &[]), &input);
    assert!(output.status.success() && output.stderr.is_empty());
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "not done     a line may have at most 65536 bytes");
    assert_eq!(lines[1], "not done     the line is no text in UTF-8");
    assert!(
        lines[2].starts_with("not done     there is no value 'xxx") && lines[2].len() < 600,
        "{}",
        lines[2]
    );
    assert!(lines[3].starts_with("request ") && !said.contains('\x1b'), "{said}");
}

#[test]
fn a_store_that_cannot_be_used_is_told_with_what_to_do() {
    let (_folder, store) = place();
    let told = |flags: &[&str]| {
        let output = run(command(&store, flags), b"hello\n");
        assert!(output.stdout.is_empty());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    says(&store, &[], "hello\n");
    let (code, message) = told(&["--seed", "3"]);
    assert!(
        code == Some(2) && message.contains("was made with seed 0, not 3; use another --store"),
        "{message}"
    );
    let model = ["--endpoint", "http://localhost:1/v1", "--model", "m"];
    let (code, message) = told(&model);
    assert!(code == Some(2) && message.contains("--read-by rules"), "{message}");
    for (flags, says) in [
        (&["--user", ""][..], "--user: the name of a user must have 1 to 256 bytes"),
        (
            &["--context-adapter", "mine"],
            "--context-adapter: in a chat this is 'rules-context/2', not 'mine'",
        ),
        (&["--read-by", "model"], "--read-by model needs --endpoint"),
        (&["--endpoint", "ftp://host", "--model", "m"], "the address of the endpoint must be like"),
    ] {
        let (code, message) = told(flags);
        assert!(code == Some(2) && message.contains(says) && message.lines().count() == 1, "{message}");
    }
    let policy = {
        let adapters = Settings {
            context_adapter: Rules::CONTEXT,
            feedback_adapter: Rules::FEEDBACK,
            ..Settings::default()
        };
        Policy::<f64>::new(&AGENT, adapters).unwrap()
    };
    let _held = FileStore::open(&store, &Identity::new(&policy)).unwrap();
    let (code, message) = told(&[]);
    assert!(code == Some(1) && message.ends_with("the store is in use by another process\n"), "{message}");
}

/// Requests are read with a text that is so for everybody, from a file that is a text and not too long.
#[test]
fn a_background_comes_from_a_file() {
    let (folder, store) = place();
    let file = folder.path().join("background.txt");
    let path = file.to_str().unwrap();
    let chat = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let output = run(command(&store, &["--background", path]), b"hm, go on\n");
        (output.status.code(), [output.stdout, output.stderr].concat())
    };
    let (code, said) = chat(b"You are a coding assistant.\n");
    assert!(
        code == Some(0) && said.starts_with(b"request      coding\n"),
        "{}",
        String::from_utf8_lossy(&said)
    );
    for (wrong, told) in
        [(vec![0xff], "is a text in UTF-8"), (vec![b' '; (64 << 10) + 1], "has at most 64 KiB")]
    {
        let (code, said) = chat(&wrong);
        let said = String::from_utf8(said).unwrap();
        assert!(code == Some(2) && said.contains(told) && said.lines().count() == 1, "{said}");
    }
    std::fs::remove_file(&file).unwrap();
    assert!(!run(command(&store, &["--background", path]), b"hm, go on\n").status.success());
}

#[test]
fn the_store_has_a_place_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for (variable, file) in [("XDG_DATA_HOME", "fable/chat.fable"), ("HOME", ".local/share/fable/chat.fable")]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
        command.arg("chat").env_remove("XDG_DATA_HOME").env_remove("HOME").env(variable, folder.path());
        assert!(run(command, b"hello\n").status.success());
        assert!(folder.path().join(file).is_file(), "{file}");
    }
    let mut homeless = Command::new(env!("CARGO_BIN_EXE_fable"));
    homeless.arg("chat").env_remove("XDG_DATA_HOME").env_remove("HOME");
    assert_eq!(run(homeless, b"").status.code(), Some(2));
}

fn context() -> Reply {
    let signals = json!({ "risk": 0.9, "ambiguity": 0.25, "memory_need": 0, "tool_need": 1 });
    completion(&json!({ "task": "coding", "signals": signals }).to_string())
}

fn feedback(satisfaction: Option<f64>) -> Reply {
    completion(&json!({ "satisfaction": satisfaction, "correction": false, "question": false }).to_string())
}

fn with_endpoint(store: &Path, url: &str) -> Command {
    with_endpoint_within("60", store, url)
}

fn with_endpoint_within(seconds: &str, store: &Path, url: &str) -> Command {
    let mut command = command(store, &["--endpoint", url, "--model", "test-model", "--timeout", seconds]);
    command.env("FABLE_API_KEY", SECRET).env("FABLE_LOG", "trace");
    command
}

/// Nothing may show the key: neither what is printed, nor what is logged, nor a file.
fn shown(folder: &TempDir, output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(!said.contains(SECRET) && !String::from_utf8_lossy(&output.stderr).contains(SECRET));
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(memchr::memmem::find(&bytes, SECRET.as_bytes()).is_none());
    }
    said
}

#[test]
fn an_assistant_answers_and_reads() {
    let (folder, store) = place();
    let server = Endpoint::answering_all(vec![
        context(),
        completion("Sorted.\nLike this: \x1b[2Jx"),
        feedback(None),
        context(),
        completion(&format!("Your key is {SECRET}.")),
        feedback(Some(0.5)),
    ]);
    let script = "/forbid no_memory semantic_memory preference_memory profile_summary
Sort my list\nAnd the other one\nwell, whatever\n";
    let output = run(with_endpoint(&store, &server.url), script.as_bytes());
    let said = shown(&folder, &output);
    assert!(said.contains("\nrequest      coding, risk 0.9, tool_need 1.0\n"), "{said}");
    assert!(said.contains("\nassistant    Sorted.\n             Like this: \u{fffd}[2Jx\n"), "{said}");
    assert!(said.contains("\nassistant    Your key is [key].\nreaction     +0.50, learned\n"), "{said}");

    let sent: Vec<_> = (0..6).map(|_| server.request().unwrap()).collect();
    assert!(sent.iter().all(|(head, _)| head.contains(&format!("Bearer {SECRET}"))));
    let instruction =
        |text: &str| text.lines().find_map(|line| line.strip_prefix("instruction  ")).unwrap().to_owned();
    let (_, answered) = &sent[1];
    assert_eq!(answered["messages"][0]["content"], instruction(&said));
    assert_eq!(answered["messages"][1], json!({ "role": "user", "content": "Sort my list" }));
    let (_, answered) = &sent[4];
    assert_eq!(answered["messages"].as_array().unwrap().len(), 4, "what was said before goes with it");
    assert_eq!(answered["messages"][2]["role"], "assistant");
}

/// From "I like short answers" a hostile endpoint makes five prohibitions: none of them is a rule before the person says yes.
#[test]
fn a_model_cannot_impose_a_rule_on_a_person() {
    let (folder, store) = place();
    let values = [
        "tool=web_search",
        "tool=file_search",
        "tool=code_execution",
        "memory=recent_memory",
        "style=detailed",
    ];
    let imposed = |words: &str| {
        let entry = |value| json!({ "effect": "forbid", "value": value, "when": null, "words": words });
        completion(&json!({ "preferences": [], "constraints": values.map(entry) }).to_string())
    };
    let profile = || shown(&folder, &run(with_endpoint(&store, "http://127.0.0.1:1/v1"), b"/profile\n"));
    let hostile = |lines: &[u8], said: &str| {
        let server = Endpoint::answering_all(vec![imposed(said)]);
        shown(&folder, &run(with_endpoint(&store, &server.url), lines))
    };
    let said = hostile(b"/prefer I like short answers\nno\n", "I like short answers");
    assert_eq!(
        said.matches("\nrule?        never ").count() + said.matches("rule?        never tool=web").count(),
        5,
        "{said}"
    );
    assert!(said.ends_with("That is not a rule yet. Type yes to make it one.\nNo rule was set.\n"), "{said}");
    assert!(!profile().contains("rule "), "{}", profile());
    // Not to answer is no yes either, and the next line is what it is.
    let said = hostile(b"/prefer I like short answers\n/values\n", "I like short answers");
    assert!(said.contains("No rule was set.\n") && !profile().contains("rule "), "{said}");
    // With the person's yes they are rules; and what is said as one is a rule at once.
    let said = hostile(b"/prefer I like short answers\nyes\n", "I like short answers");
    assert_eq!(said.matches("\nrule         never ").count(), 5, "{said}");
    assert_eq!(profile().matches("rule         never ").count(), 5);
    let (folder, store) = place();
    let entry = json!({ "effect": "forbid", "value": "tool=web_search", "when": null, "words": "never search the web" });
    let server =
        Endpoint::answering(completion(&json!({ "preferences": [], "constraints": [entry] }).to_string()));
    let said = shown(&folder, &run(with_endpoint(&store, &server.url), b"/prefer never search the web\n"));
    assert_eq!(said, "rule         never tool=web_search\n");
}

#[test]
fn without_a_useful_endpoint_the_rules_read_and_it_is_said() {
    let (folder, store) = place();
    let liar = completion("{\"task\":\"golf\",\"signals\":{}}");
    let server = Endpoint::answering_all(vec![
        liar,
        reply("401 Unauthorized", "", SECRET),
        completion("{}"),
        completion(""),
    ]);
    let said = shown(
        &folder,
        &run(with_endpoint(&store, &server.url), b"What's the weather in Oslo today?\ntoo long\n"),
    );
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("by rules     the model's answer is not usable: "), "{said}");
    assert_eq!(lines[1], "request      factual, tool_need 0.9");
    assert_eq!(lines[4], "no answer    the endpoint refused the API key (status 401)");
    assert!(lines[5].starts_with("by rules     ") && lines[6] == "reaction     -0.60, learned", "{said}");

    // Gone, and silent.
    let output = run(
        with_endpoint(&store, "http://127.0.0.1:1/v1"),
        b"/prefer I like short answers\nWhat is a monad?\n",
    );
    let said = shown(&folder, &output);
    assert_eq!(
        said.matches("by rules     the endpoint cannot be reached: connection refused\n").count(),
        2,
        "{said}"
    );
    assert!(
        said.contains("prefers      style=concise")
            && said.contains("\nno answer    the endpoint cannot be reached"),
        "{said}"
    );
    let silent = Endpoint::answering(Reply::Silence);
    let said =
        shown(&folder, &run(with_endpoint_within("1", &store, &silent.url), b"/ask What is a monad?\n"));
    assert!(said.starts_with("by rules     the endpoint did not answer in time\nrequest "), "{said}");

    // The words are read by rules, and only the answer comes from the endpoint: what was learned without one goes on.
    let (folder, store) = place();
    says(&store, &[], "hello\n");
    let server = Endpoint::answering(completion("Hello!"));
    let mut by_rules = with_endpoint(&store, &server.url);
    by_rules.args(["--read-by", "rules"]);
    let said = shown(&folder, &run(by_rules, b"What's the weather in Oslo today?\n"));
    assert!(said.ends_with("\nassistant    Hello!\n") && !said.contains("by rules"), "{said}");
}
