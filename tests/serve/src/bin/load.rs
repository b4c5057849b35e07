//! Measures `fable serve` over a pipe and over HTTP: rounds a second, start-up, getting a user back, memory.

use clap::{Parser, Subcommand};
use fable_serve_tests::fleet::{self, Shape};
use fable_serve_tests::frames::remove;
use fable_serve_tests::http::HttpService;
use fable_serve_tests::load::Load;
use fable_serve_tests::postgres::{Database, Postgres};
use fable_serve_tests::process::{memory, processor_time};
use fable_serve_tests::service::Service;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Puts `fable serve` under load and measures it, on the catalog `agent`. Every answer is checked.
#[derive(Parser)]
struct Arguments {
    /// The command; by default the one beside this program.
    #[arg(long, global = true)]
    fable: Option<PathBuf>,
    /// Where stores are made: on a disk, not in memory.
    #[arg(long, global = true, default_value = "target")]
    folder: PathBuf,
    /// The numbers in which users are kept.
    #[arg(long, global = true, default_value = "f32")]
    scalar: String,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Rounds a second, decide and feedback, with and without waiting for the disk.
    Rounds {
        /// Users, round robin.
        #[arg(long, default_value_t = 1_000)]
        users: usize,
        /// Rounds that are on their way at a time.
        #[arg(long, default_value_t = 1_000)]
        window: usize,
        /// Rounds in one measurement.
        #[arg(long, default_value_t = 60_000)]
        rounds: usize,
        /// Measurements of each kind, in turn.
        #[arg(long, default_value_t = 5)]
        repeat: usize,
        /// Fails when the best one with waiting for the disk has fewer rounds a second.
        #[arg(long, default_value_t = 0.0)]
        durable: f64,
        /// Fails when the best one without waiting has fewer.
        #[arg(long, default_value_t = 0.0)]
        undurable: f64,
    },
    /// Rounds a second over HTTP, waiting for the disk, one request at a time on each of many connections.
    Http {
        /// Connections.
        #[arg(long, default_value_t = 64)]
        connections: usize,
        /// Users at random.
        #[arg(long, default_value_t = 1_024)]
        users: usize,
        /// Rounds in one measurement.
        #[arg(long, default_value_t = 40_000)]
        rounds: usize,
        /// Measurements.
        #[arg(long, default_value_t = 3)]
        repeat: usize,
        /// Fails when the best one has fewer rounds a second.
        #[arg(long, default_value_t = 0.0)]
        least: f64,
        /// More arguments of `fable serve`.
        #[arg(last = true)]
        more: Vec<String>,
    },
    /// Rounds a second of several processes over HTTP on one PostgreSQL, which is started for it, and how many inserts pgbench commits
    /// there, in turn.
    Fleet {
        /// Processes.
        #[arg(long, default_value_t = 3)]
        processes: usize,
        /// Clients, each with one request under way.
        #[arg(long, default_value_t = 96)]
        clients: usize,
        /// Users at random.
        #[arg(long, default_value_t = 1_000)]
        users: usize,
        /// Rounds in one measurement.
        #[arg(long, default_value_t = 40_000)]
        rounds: usize,
        /// Measurements.
        #[arg(long, default_value_t = 3)]
        repeat: usize,
        /// Fails when the best one, with users who do not stick to a process, has fewer rounds a second.
        #[arg(long, default_value_t = 0.0)]
        least: f64,
        /// Fails when that is a smaller part of what pgbench commits.
        #[arg(long, default_value_t = 0.0)]
        part: f64,
        /// More arguments of `fable serve`.
        #[arg(last = true)]
        more: Vec<String>,
    },
    /// Many users who are not in memory, over HTTP: how long an answer takes, and how much memory the process has.
    Many {
        /// Users.
        #[arg(long, default_value_t = 100_000)]
        users: usize,
        /// Rounds that each of them has behind.
        #[arg(long, default_value_t = 50)]
        rounds: usize,
        /// Rounds of users at random that are measured.
        #[arg(long, default_value_t = 20_000)]
        measured: usize,
        /// Clients at a time.
        #[arg(long, default_value_t = 2)]
        clients: usize,
        /// Memory for users in the service.
        #[arg(long, default_value = "700MiB")]
        cache: String,
        /// Fails when a hundredth of the answers takes longer, in milliseconds.
        #[arg(long, default_value_t = 5.0)]
        most: f64,
    },
    /// From starting the command to its first answer, after an orderly end and after `kill -9` under load.
    Start {
        /// Users in the store.
        #[arg(long, default_value_t = 100_000)]
        users: usize,
        /// Fails when it takes longer, in seconds.
        #[arg(long, default_value_t = 0.5)]
        most: f64,
    },
    /// Getting a user back who is not in memory.
    Cold {
        /// Users, each with about this many rounds behind.
        #[arg(long, default_value_t = 600)]
        rounds: usize,
        /// How many of them.
        #[arg(long, default_value_t = 60)]
        users: usize,
        /// Fails when the median is longer, in milliseconds.
        #[arg(long, default_value_t = 5.0)]
        most: f64,
    },
    /// How long others wait while users are forgotten.
    Forget {
        /// Users in the store.
        #[arg(long, default_value_t = 1_000_000)]
        users: usize,
        /// How many of them are forgotten, and as many unknown names.
        #[arg(long, default_value_t = 200)]
        forgets: usize,
        /// Fails when the slowest hundredth of the others waits longer, in milliseconds.
        #[arg(long, default_value_t = 50.0)]
        most: f64,
    },
    /// The same users for a long time: the store's files stop growing.
    Soak {
        /// Users. Each has its whole history, 4,096 events, after a third of five minutes.
        #[arg(long, default_value_t = 100)]
        users: usize,
        /// Minutes.
        #[arg(long, default_value_t = 60)]
        minutes: usize,
        /// Rounds a second.
        #[arg(long, default_value_t = 5_000)]
        rate: usize,
    },
    /// Memory against the number of users in it.
    Memory {
        /// Users.
        #[arg(long, default_value_t = 3_000)]
        users: usize,
    },
}

struct Bench {
    fable: PathBuf,
    store: PathBuf,
    scalar: String,
}

impl Bench {
    /// With room for so many users in memory.
    fn start(&self, durability: &str, users: usize) -> Service {
        let cache = (users * if self.scalar == "f32" { 113_500 } else { 219_000 }).to_string(); // `user_bytes` of fable-std
        let arguments = ["--durability", durability, "--scalar", &self.scalar, "--cache", &cache, "--store"]
            .map(Path::new);
        Service::start(&self.fable, arguments.into_iter().chain([self.store.as_path()]))
    }

    /// Time from the start of the command to its first answer.
    fn first_answer(&self, durability: &str) -> (Service, Duration) {
        let started = Instant::now();
        let mut service = self.start(durability, 1_024);
        service.ask(r#"{"op":"stats"}"#);
        (service, started.elapsed())
    }

    fn rounds(&self, users: usize, window: usize, rounds: usize, repeat: usize) -> [f64; 2] {
        let mut rates = [vec![], vec![]];
        for number in 1..=repeat {
            for (durability, rates) in ["commit", "none"].into_iter().zip(&mut rates) {
                remove(&self.store);
                let (mut service, mut load) = (self.start(durability, 1_024), Load::new(users));
                load.run(&mut service, users, window); // everyone once: nobody is new after that
                let before = processor_time(service.id());
                let rate = rounds as f64 / load.run(&mut service, rounds, window).as_secs_f64();
                print!("{number}. {durability:<6} {rate:>7.0} rounds/s; us of processor time a round:");
                for (name, time) in processor_time(service.id()) {
                    let earlier =
                        before.iter().find(|thread| thread.0 == name).map_or(0.0, |thread| thread.1);
                    print!(" {name} {:.1}", (time - earlier) / rounds as f64 * 1e6);
                }
                println!();
                rates.push(rate);
                assert!(service.finish().success());
            }
        }
        rates.map(|mut rates| {
            rates.sort_by(f64::total_cmp);
            println!("best {:.0}, median {:.0}", rates[rates.len() - 1], rates[rates.len() / 2]);
            rates[rates.len() - 1]
        })
    }

    fn http(&self, connections: usize, users: usize, rounds: usize, repeat: usize, more: &[String]) -> f64 {
        let mut best = 0.0;
        for number in 1..=repeat {
            remove(&self.store);
            let store = [
                "--scalar",
                &self.scalar,
                "--cache",
                "512MiB",
                "--store",
                self.store.to_str().unwrap_or_default(),
            ];
            let arguments = store.into_iter().chain(more.iter().map(String::as_str));
            let mut service = HttpService::start(&self.fable, arguments, &[]);
            // Two threads of clients: what one of them sends is answered while the other one reads.
            let shape = Shape { clients: connections, threads: 2, users, rounds, sticky: true };
            let services = [service];
            let _ = fleet::run(&services, Shape { rounds: 2 * users, ..shape }, 7); // most are not new after that
            let before = processor_time(services[0].id());
            let (time, mut times) = fleet::run(&services, shape, number as u64);
            [service] = services;
            let rounds = times.len() / 2;
            let rate = rounds as f64 / time.as_secs_f64();
            times.sort_unstable();
            let part = |part: usize| ms(times[times.len() * part / 1_000]);
            print!(
                "{number}. {rate:>7.0} rounds/s; ms to an answer: median {:.2}, 99% {:.2}, 99.9% {:.2};",
                part(500),
                part(990),
                part(999)
            );
            for (name, time) in processor_time(service.id()) {
                let earlier = before.iter().find(|thread| thread.0 == name).map_or(0.0, |thread| thread.1);
                print!(" {name} {:.1}", (time - earlier) / rounds as f64 * 1e6);
            }
            println!(" us of processor time a round");
            best = rate.max(best);
            assert!(service.finish().success());
        }
        best
    }

    /// The best rate, and the best of pgbench.
    fn fleet(&self, processes: usize, shape: Shape, repeat: usize, more: &[String]) -> Option<(f64, f64)> {
        let server = Postgres::start()?;
        let (mut best, mut inserts) = (0_f64, 0_f64);
        for number in 1..=repeat {
            let inserted = server.pgbench(32, 5);
            inserts = inserts.max(inserted);
            println!("{number}. pgbench {inserted:>7.0} inserts/s at 32 clients");
            for sticky in [false, true] {
                let database = Database::of(&server);
                let url = database.url();
                let start = |_| {
                    let arguments = ["--scalar", &self.scalar, "--store", &url].into_iter();
                    HttpService::start(&self.fable, arguments.chain(more.iter().map(String::as_str)), &[])
                };
                let mut services: Vec<HttpService> = (0..processes).map(start).collect();
                let _ = fleet::run(&services, Shape { rounds: 2 * shape.users, sticky, ..shape }, 7); // most are not new after that
                let (time, mut times) = fleet::run(&services, Shape { sticky, ..shape }, number as u64);
                let rate = times.len() as f64 / 2.0 / time.as_secs_f64();
                times.sort_unstable();
                let part = |part: usize| ms(times[times.len() * part / 100]);
                let conflicts: f64 =
                    services.iter().map(|service| counted(service, "fable_conflicts_total")).sum();
                println!(
                    "{number}. {} {rate:>7.0} rounds/s, {:.2} of pgbench; ms to an answer: median {:.1}, 99% {:.1}; conflicts a round {:.3}",
                    if sticky { "users stick to a process:" } else { "users go to any process: " },
                    rate / inserted,
                    part(50),
                    part(99),
                    conflicts / (times.len() as f64 / 2.0)
                );
                if sticky {
                    let of = |table: &str| format!("SELECT pg_total_relation_size('{table}')");
                    let events = database.ask("SELECT sum(count) FROM fable_events");
                    println!(
                        "{number}. {events} events; bytes: {} of them, {} of {} users",
                        database.ask(&of("fable_events")),
                        database.ask(&of("fable_users")),
                        shape.users
                    );
                } else {
                    best = best.max(rate);
                }
                for service in &mut services {
                    assert!(service.finish().success());
                }
            }
        }
        Some((best, inserts))
    }

    /// The time that a hundredth of the answers exceeds, in milliseconds.
    fn many(&self, users: usize, rounds: usize, shape: Shape, cache: &str) -> f64 {
        let store = self.store.to_str().unwrap_or_default();
        // Draws are cheap; how users are explored is not part of what is kept.
        let arguments = [
            "--durability",
            "none",
            "--scalar",
            &self.scalar,
            "--nu",
            "0.3",
            "--cache",
            cache,
            "--store",
            store,
        ];
        let (mut service, mut load) = (Service::start(&self.fable, arguments), Load::new(users));
        // Some of them at a time, so that they are in memory meanwhile.
        load.run_by(&mut service, users, rounds, 4_000);
        assert!(service.finish().success());
        println!("{users} users of {rounds} rounds each, {} MB of files", self.bytes() >> 20);
        let mut service = HttpService::start(
            &self.fable,
            ["--scalar", &self.scalar, "--cache", cache, "--store", store],
            &[],
        );
        let services = [service];
        let _ = fleet::run(&services, Shape { rounds: shape.rounds / 2, ..shape }, 7); // until there is no room any more
        let (time, mut times) = fleet::run(&services, shape, 8);
        [service] = services;
        times.sort_unstable();
        let part = |part: usize| ms(times[times.len() * part / 1_000]);
        let (now, most) = memory(service.id());
        println!(
            "{:.0} rounds/s; ms to an answer: median {:.2}, 99% {:.2}, 99.9% {:.2}; memory {} MB, at most {} MB",
            times.len() as f64 / 2.0 / time.as_secs_f64(),
            part(500),
            part(990),
            part(999),
            now >> 20,
            most >> 20
        );
        assert!(service.finish().success());
        part(990)
    }

    fn startup(&self, users: usize) -> f64 {
        let (mut service, mut load) = (self.start("none", 1_024), Load::new(users));
        load.run(&mut service, users, 2_000);
        assert!(service.finish().success());
        println!(
            "{users} users, {} MB",
            std::fs::metadata(&self.store).map_or(0, |metadata| metadata.len() >> 20)
        );
        let mut longest = 0_f64;
        for _ in 0..3 {
            let (mut service, orderly) = self.first_answer("commit");
            load.run(&mut service, 2_000, 500);
            let killer = std::thread::scope(|scope| {
                let id = service.id().to_string();
                let killer = scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(300));
                    std::process::Command::new("kill").args(["-9", &id]).status()
                });
                // Until it is killed; what it answered last is not known, so these users are left alone afterwards.
                let mut line = String::new();
                let decide = r#"{"op":"decide","user":"somebody","context":{"risk":0,"ambiguity":0,"memory_need":0,"tool_need":0}}"#;
                let lines = format!("{decide}\n").repeat(50);
                service.send(lines.clone().into_bytes());
                let mut answered = 0;
                while service.answer(&mut line) {
                    answered += 1;
                    if answered % 50 == 0 {
                        service.send(lines.clone().into_bytes());
                    }
                }
                killer.join()
            });
            assert!(killer.is_ok());
            service.kill();
            let (service, killed) = self.first_answer("commit");
            assert!(service.finish().success());
            println!("first answer after {:.0} ms; after kill -9, {:.0} ms", ms(orderly), ms(killed));
            longest = longest.max(orderly.as_secs_f64()).max(killed.as_secs_f64());
        }
        longest
    }

    fn cold(&self, users: usize, rounds: usize) -> f64 {
        let (mut service, mut load) = (self.start("none", users), Load::new(users));
        load.run(&mut service, users * rounds, users);
        assert!(service.finish().success());
        let mut service = self.start("commit", 1);
        let mut times = [vec![], vec![]];
        for user in 0..users {
            let ask = format!(r#"{{"op":"profile","user":"{}"}}"#, load.name(user));
            // The first answer brings the user back, the second finds everything there.
            for times in &mut times {
                let started = Instant::now();
                assert!(service.ask(&ask).get("error").is_none(), "{ask}");
                times.push(ms(started.elapsed()));
            }
        }
        assert!(service.finish().success());
        println!("{users} users with {rounds} rounds each; answers in ms, median, 95% and longest:");
        for (place, times) in ["not in memory", "in memory"].into_iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            println!(
                "{place:<13} {:.2} {:.2} {:.2}",
                times[users / 2],
                times[users * 95 / 100],
                times[users - 1]
            );
        }
        times[0][users / 2]
    }

    /// Longest wait of the slowest hundredth, in milliseconds.
    fn forget(&self, users: usize, forgets: usize) -> f64 {
        let (mut service, mut load) = (self.start("none", 1_024), Load::new(users));
        load.run(&mut service, users, 2_000);
        assert!(service.finish().success());
        println!("{users} users, {} MB", self.bytes() >> 20);
        let mut service = self.start("commit", 1_024);
        let ask = |service: &mut Service, line: &str| {
            let started = Instant::now();
            let answer = service.ask(line);
            (ms(started.elapsed()), answer)
        };
        let percentile = |times: &mut Vec<f64>, part: usize| {
            times.sort_by(f64::total_cmp);
            times[(times.len() * part / 100).min(times.len() - 1)]
        };
        let (mut known, mut unknown, mut others, mut calm) = (vec![], vec![], vec![], vec![]);
        let decide = |user: &str| {
            format!(
                r#"{{"op":"decide","user":"{user}","context":{{"risk":0,"ambiguity":0,"memory_need":0,"tool_need":0}}}}"#
            )
        };
        for number in 0..forgets {
            calm.push(ask(&mut service, &decide(load.name(users - 1 - number))).0);
        }
        for number in 0..forgets {
            // Somebody else asks right behind, and waits for both.
            let started = Instant::now();
            let forget = |name: &str| format!(r#"{{"op":"forget","user":"{name}"}}"#);
            let other = decide(load.name(users - 1 - number));
            service.send(format!("{}\n{other}\n", forget(load.name(number))).into_bytes());
            let mut line = String::new();
            assert!(service.answer(&mut line) && line.contains("true"), "{line}");
            known.push(ms(started.elapsed()));
            assert!(service.answer(&mut line) && line.contains("decision"), "{line}");
            others.push(ms(started.elapsed()));
            let (time, answer) = ask(&mut service, &forget(&format!("nobody {number}")));
            assert_eq!(answer["forgotten"], false);
            unknown.push(time);
        }
        assert!(service.finish().success());
        println!("answers in ms, median, 99% and longest:");
        let waited = percentile(&mut others, 99);
        for (what, times) in [
            ("a decision alone", &mut calm),
            ("a decision behind a forget", &mut others),
            ("forget", &mut known),
            ("forget of an unknown name", &mut unknown),
        ] {
            println!(
                "{what:<27} {:.2} {:.2} {:.2}",
                percentile(times, 50),
                percentile(times, 99),
                percentile(times, 100)
            );
        }
        waited
    }

    /// Bytes of all files of the store.
    fn bytes(&self) -> u64 {
        let file = |end: &str| PathBuf::from(format!("{}{end}", self.store.display()));
        ["", ".key", ".index"].iter().filter_map(|end| Some(file(end).metadata().ok()?.len())).sum()
    }

    /// Whether the files stopped growing: their mean size in the last third of the time is that of the second third. Sizes go up
    /// and down with every compaction, so that single sizes say little.
    fn soak(&self, users: usize, minutes: usize, rate: usize) -> bool {
        let (mut service, mut load) = (self.start("commit", 1_024), Load::new(users));
        let mut sizes = Vec::new();
        for minute in 1..=minutes {
            for _ in 0..60 {
                let started = Instant::now();
                load.run(&mut service, rate, users.min(rate));
                sizes.push(self.bytes());
                std::thread::sleep(Duration::from_secs(1).saturating_sub(started.elapsed()));
            }
            println!(
                "{minute} min: {} events, files {} KB",
                sizes.len() * 2 * rate,
                sizes.last().unwrap_or(&0) >> 10
            );
        }
        assert!(service.finish().success());
        let mean = |third: &[u64]| third.iter().sum::<u64>() / third.len().max(1) as u64;
        let third = sizes.len() / 3;
        let (before, last) = (mean(&sizes[third..2 * third]), mean(&sizes[2 * third..]));
        println!(
            "mean of the second third {} KB, of the last third {} KB, at most 15% more",
            before >> 10,
            last >> 10
        );
        last as f64 <= 1.15 * before as f64
    }

    fn memory(&self, users: usize) {
        for cache in [10, 100, 1_000] {
            remove(&self.store);
            let (mut service, mut load) = (self.start("none", cache), Load::new(users));
            load.run(&mut service, 3 * users, 1_000);
            let (now, most) = memory(service.id());
            println!("{cache} of {users} users in memory: {} MB, at most {} MB", now >> 20, most >> 20);
            assert!(service.finish().success());
        }
    }
}

/// A number that a service counts.
fn counted(service: &HttpService, name: &str) -> f64 {
    let text = service.connect().ask("GET", "/metrics").body;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    line.unwrap_or_else(|| panic!("{name} is not in {text}"))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn main() -> ExitCode {
    let Arguments { fable, folder, scalar, command } = Arguments::parse();
    let beside = || std::env::current_exe().map(|path| path.with_file_name("fable")).unwrap_or_default();
    let Ok(folder) = tempfile::tempdir_in(&folder) else {
        eprintln!("load: nothing can be written to {}", folder.display());
        return ExitCode::FAILURE;
    };
    let bench =
        Bench { fable: fable.unwrap_or_else(beside), store: folder.path().join("users.fable"), scalar };
    let good = match command {
        Command::Rounds { users, window, rounds, repeat, durable, undurable } => {
            let [with, without] = bench.rounds(users, window, rounds, repeat);
            with >= durable && without >= undurable
        }
        Command::Http { connections, users, rounds, repeat, least, more } => {
            bench.http(connections, users, rounds, repeat, &more) >= least
        }
        Command::Fleet { processes, clients, users, rounds, repeat, least, part, more } => {
            let shape = Shape { clients, threads: 2, users, rounds, sticky: false };
            bench
                .fleet(processes, shape, repeat, &more)
                .is_none_or(|(best, inserts)| best >= least && best >= part * inserts)
        }
        Command::Many { users, rounds, measured, clients, cache, most } => {
            let shape = Shape { clients, threads: 1, users, rounds: measured, sticky: true };
            bench.many(users, rounds, shape, &cache) <= most
        }
        Command::Start { users, most } => bench.startup(users) <= most,
        Command::Cold { rounds, users, most } => bench.cold(users, rounds) <= most,
        Command::Forget { users, forgets, most } => bench.forget(users, forgets) <= most,
        Command::Soak { users, minutes, rate } => bench.soak(users, minutes, rate),
        Command::Memory { users } => {
            bench.memory(users);
            true
        }
    };
    if good {
        ExitCode::SUCCESS
    } else {
        eprintln!("load: that is not what was asked for");
        ExitCode::FAILURE
    }
}
