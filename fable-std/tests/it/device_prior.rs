//! `fable device prior` against a device with a flash store: what a fitted prior is worth to the user after the next forgetting.
#![cfg(unix)]

use fable_core::catalog::TAU2;
use fable_core::host::HostLearner;
use fable_core::journal::Observation;
use fable_core::posterior::{Factor, Prior};
use fable_core::record::{prior::prior_len, snapshot::max_len};
use fable_core::{Action, Context, Learner, Policy, Settings, Workspace, user_hash};
use fable_embedded::flash::{Blocking, FlashStore, Layout};
use fable_embedded::{Device, Server, UserStore, mock::Mock};
use fable_std::prior::{Evidence, Options, fit};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

type Flash = Mock<4, 1024>;
type Store = FlashStore<Blocking<Flash>, true>;

const PAGES: usize = 20;
const LAYOUT: Layout = Layout::with_prior::<Blocking<Flash>>(
    0,
    1024 * PAGES as u32,
    max_len::<f32>(&TAU2, 8),
    prior_len::<f32>(&TAU2),
);

struct Line(TcpStream);

impl embedded_io::ErrorType for Line {
    type Error = embedded_io::ErrorKind;
}

impl embedded_io::Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, embedded_io::ErrorKind> {
        self.0.read(bytes).map_err(|_| embedded_io::ErrorKind::Other)
    }
}

impl embedded_io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, embedded_io::ErrorKind> {
        self.0.write(bytes).map_err(|_| embedded_io::ErrorKind::Other)
    }

    fn flush(&mut self) -> Result<(), embedded_io::ErrorKind> {
        self.0.flush().map_err(|_| embedded_io::ErrorKind::Other)
    }
}

/// A device as a firmware is one, behind a TCP port: it begins from another prior when its store says so.
fn device() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let mut policy = Policy::new(&TAU2, Settings::default()).unwrap();
        let mut learner: Learner<f32, Vec<f32>, 8> = Learner::from_storage(vec![0.0; TAU2.state_len()]);
        let mut workspace = Workspace::from_storage(vec![0.0; TAU2.workspace_len()]);
        let mut store = Store::from_flash(Blocking(Flash::new(PAGES)), LAYOUT);
        store.format(&policy, 7, 8).unwrap();
        store.restore(&policy, &mut learner, &mut workspace).unwrap();
        store.compact(&learner.bind(&policy, &mut workspace).unwrap()).unwrap();
        for stream in listener.incoming() {
            let mut line = Line(stream.unwrap());
            loop {
                if store.outdated() {
                    policy = match store.next_prior(&policy).unwrap() {
                        None => Policy::new(&TAU2, Settings::default()).unwrap(),
                        Some(numbers) => {
                            let mut packed = vec![0.0; TAU2.layout().packed_len()];
                            store.copy_prior(numbers, &mut packed).unwrap();
                            let factor = Factor::new(TAU2.layout(), packed.leak(), &mut workspace).unwrap();
                            Policy::with_prior(&TAU2, Settings::default(), Prior::Factor(factor)).unwrap()
                        }
                    };
                    store.adopt(&policy, &mut learner, &mut workspace).unwrap();
                }
                let user = learner.bind(&policy, &mut workspace).unwrap();
                let _ = Server::new(Device::new(user, &mut store)).serve(&mut line);
                if !store.outdated() {
                    break; // the client has gone
                }
            }
        }
    });
    address
}

/// What `fable prior fit` writes, for people who like every third action.
fn crowd(settings: Settings<'_>) -> Vec<u8> {
    let policy = Policy::<f64>::new(&TAU2, settings).unwrap();
    let context = Context::new(&TAU2, None, &[]).unwrap();
    let mut people = vec![Evidence::default(); 8];
    for (person, shift) in people.iter_mut().zip(0_u8..) {
        for action in 0..18 {
            let reward = if action % 3 == 2 { 0.75 } else { -0.25 } + f64::from(shift) / 64.0;
            person.reward(
                &policy,
                &Observation { context, action: Action(action), baseline: 0.0, reward, weight: 1.0 },
            );
        }
    }
    fit(&policy, &people, &Options { steps: 3, ..Options::default() })
        .unwrap()
        .snapshot(&policy, user_hash(""))
        .unwrap()
}

#[test]
fn a_prior_is_loaded_shown_used_and_removed() {
    let address = device();
    let run = |arguments: &[&str]| -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
        command.args(["device", "--tcp", &address]).args(arguments).output().unwrap()
    };
    let text = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let fails = |code: i32, arguments: &[&str]| {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(code), true), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let base = "this user began from the base prior\nthe next one begins from the base prior\n";
    assert_eq!(text(&["prior", "show"]), base);
    text(&["decide", "--all"]); // from here on the user has begun

    // What does not belong to this device.
    let crowd_bytes = crowd(Settings::default());
    let good = file("crowd.prior", &crowd_bytes);
    let other = file("other.prior", &crowd(Settings { noise_variance: 0.5, ..Settings::default() }));
    assert!(fails(2, &["prior", "load", &other]).contains("another catalog or other settings"));
    assert!(
        fails(3, &["prior", "load", &other, "--noise-variance", "0.5"])
            .contains("the device refuses: the record belongs to")
    );
    assert!(fails(2, &["prior", "load", &file("short", &crowd_bytes[..900])]).contains("ends too early"));
    assert!(fails(1, &["prior", "load", "/no/such/file"]).contains("/no/such/file"));
    assert_eq!(text(&["prior", "show"]), base);

    let loaded = text(&["prior", "load", &good]);
    assert!(
        loaded.starts_with("this user began from the base prior\nthe next one begins from prior "),
        "{loaded}"
    );
    text(&["decide"]);
    assert!(text(&["replay"]).contains("2 decisions"));
    assert_eq!(text(&["forget", "--yes"]), "forgotten, incarnation 1\n");
    let shown: serde_json::Value = serde_json::from_str(&text(&["--json", "prior", "show"])).unwrap();
    let hello: serde_json::Value = serde_json::from_str(&text(&["--json", "hello"])).unwrap();
    assert_eq!((&shown["now"], &shown["next"]), (&hello["fingerprint"], &hello["fingerprint"]));
    assert_eq!((hello["settings"].as_str(), hello["prior"].as_str()), (Some("default"), Some("population")));

    // The first decision is the host's with the same prior; with the base prior it would be another one.
    let decided: serde_json::Value = serde_json::from_str(&text(&["--json", "decide"])).unwrap();
    let isotropic = Policy::<f32>::new(&TAU2, Settings::default()).unwrap();
    let packed = fable_std::prior_file::read_rounded(&isotropic, &crowd_bytes).unwrap();
    let factor = Factor::new(TAU2.layout(), &packed, &mut vec![0.0; TAU2.workspace_len()]).unwrap();
    let informed = Policy::with_prior(&TAU2, Settings::default(), Prior::Factor(factor)).unwrap();
    assert_eq!(hello["fingerprint"], format!("{:016x}", informed.fingerprint()));
    let first = |policy: &Policy<'_, f32>| {
        let header = fable_core::record::Header::new(fable_core::record::Kind::Journal, policy, 7, 8);
        let mut learner = HostLearner::<f32, 8>::for_policy(policy);
        learner.start_journal_in(policy, &header, 1).unwrap();
        let mut workspace = vec![0.0; TAU2.workspace_len()];
        let (context, all) = (Context::new(&TAU2, None, &[]).unwrap(), fable_core::Feasible::all(&TAU2));
        let mut user = learner.bind(policy, &mut workspace).unwrap();
        let action = user.decide(&fable_core::Request::new(&context, &all)).unwrap().action;
        TAU2.action_name(action).unwrap().to_string()
    };
    let chosen = |decided: &serde_json::Value| {
        let part = |name: &str| format!("{name}={}", decided["action"][name].as_str().unwrap());
        ["memory", "tool", "style"].map(part).join("*")
    };
    assert_eq!(chosen(&decided), first(&informed));
    let informed_action = chosen(&decided);
    assert!(text(&["replay"]).contains("1 decisions"));

    assert!(text(&["prior", "remove"]).ends_with("the next one begins from the base prior\n"));
    text(&["forget", "--yes"]);
    assert_eq!(text(&["prior", "show"]), base);
    assert_ne!(
        informed_action,
        first(&Policy::new(&TAU2, Settings::default()).unwrap()),
        "the prior made a difference"
    );
}
