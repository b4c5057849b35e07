//! The bytes of every message are pinned, because devices and hosts are not updated together.

use fable_core::catalog::{AGENT, TAU2};
use fable_core::explain::{Share, Source};
use fable_core::preference::{Assessment, Average, Certifier, Gap, ProbeOutcome, Standing, Trial, Verdict};
use fable_core::record::checksum;
use fable_core::{Context, HostUser, Policy, Promotion, Settings};
use fable_wire::{
    Defaults, Draft, Fault, Frame, Hello, Key, MAX_FRAME, Reply, Request, Session, Statistics, StorageFault,
    StoreUsage, VERSION, WireContext, WireShare, read_defaults, read_feasible, write_entry,
};

fn requests() -> Vec<(Request, Vec<u8>)> {
    let coding =
        WireContext::new(&Context::new(&AGENT, AGENT.task("coding").ok(), &[0.5, 0.25, 1.0, 0.0]).unwrap());
    let nowhere = WireContext::new(&Context::new(&TAU2, None, &[]).unwrap());
    vec![
        (Request::Hello, vec![]),
        (
            Request::Onboard { response: 1.0, precision: 4.0 },
            [write_entry(24, 1.0), write_entry(300, -1.0)].concat(),
        ),
        (Request::Decide { context: coding.clone(), time: 1_700_000_000 }, vec![]),
        (Request::Decide { context: nowhere.clone(), time: 0 }, 0x3_ffff_u32.to_le_bytes().to_vec()),
        (Request::Feedback { incarnation: 2, round: 300, reward: 0.5, weight: 1.0, time: 0 }, vec![]),
        (Request::Observe { context: coding.clone(), action: 179, reward: -1.0, weight: 0.5 }, vec![]),
        (
            Request::Unlearn {
                context: nowhere.clone(),
                action: 3,
                baseline: -0.125,
                reward: 1.0,
                weight: 1.0,
                imputed: false,
                kept: 1.0,
                probed: [5, 0],
            },
            vec![],
        ),
        (Request::Explain { incarnation: 0, round: 7, other: None, first: 0 }, vec![]),
        (Request::Explain { incarnation: 0, round: 7, other: Some(129), first: 12 }, vec![]),
        (Request::Assess { contrast: 5 }, vec![]),
        (Request::Compare { context: nowhere, prefer: 1, over: 2, total: true }, vec![]),
        (Request::Profile { index: 3 }, vec![]),
        (Request::Promote { time: 9 }, vec![]),
        (Request::Statistics, vec![]),
        (Request::Expire { time: 10 }, vec![]),
        (Request::Snapshot { offset: 256 }, vec![]),
        (Request::Stage { offset: 512 }, vec![0, 1, 2, 0]),
        (Request::Commit { length: 2048 }, vec![]),
        (Request::Event { index: 4 }, vec![]),
        (Request::Forget, vec![]),
        (Request::Prior { next: true, offset: 256 }, vec![]),
        (Request::CommitPrior { length: 70_000 }, vec![]),
        (Request::Trial { contrast: 5 }, vec![]),
        (Request::Recommend { context: coding }, vec![1, 0, 0, 0, 0, 0, 0, 63]),
        (Request::UserRule { code: 1 << 18 | 0x101, stands: true }, vec![]),
        (Request::Open { nonce: 0x0102_0304_0506_0708 }, vec![]),
    ]
}

const FAULTS: [Fault; 18] = [
    Fault::Malformed,
    Fault::Oversized,
    Fault::Version { found: 2 },
    Fault::UnknownRequest,
    Fault::Content,
    Fault::Missing,
    Fault::Learner(13),
    Fault::Context(3),
    Fault::Record(4),
    Fault::Storage(StorageFault::Unsupported),
    Fault::Storage(StorageFault::Full),
    Fault::Storage(StorageFault::Medium),
    Fault::Storage(StorageFault::Damaged),
    Fault::Storage(StorageFault::Order),
    Fault::Limited,
    Fault::Locked,
    Fault::Session,
    Fault::Keyless,
];

fn replies() -> Vec<(Reply, Vec<u8>)> {
    let hello = Hello {
        protocol: 1,
        record: 1,
        fingerprint: 0x0102_0304_0506_0708,
        guarantee_fingerprint: 0x0a0b_0c0d,
        catalog: 0x2122_2324_2526_2728,
        digits: 24,
        actions: 18,
        dimension: 29,
        tasks: 0,
        signals: 0,
        contrasts: 6,
        ring: 8,
        user: 0x1112_1314_1516_1718,
        incarnation: 1,
        site: 3,
        rounds: 1000,
        observations: 999,
    };
    let assessment = Assessment {
        mean: 0.5,
        sd: 0.25,
        probability: 0.977,
        beta: 4.0,
        radius: 1.0,
        lower: -0.5,
        upper: 1.5,
        threshold: 0.999,
        evidence: 200,
        verdict: Verdict::Open,
        gap: Gap { distance: 0.5, rounds: Some(600) },
        valid: true,
    };
    let promotion = Promotion {
        contrast: 5,
        verdict: Verdict::For,
        valid: true,
        by: Certifier::Probes,
        round: 100,
        time: 7,
        evidence: 90,
        lower: 0.125,
        upper: 0.5,
    };
    let share = Share {
        source: Source::Block(4),
        chosen: 0.5,
        other: -0.5,
        chosen_coordinate: Some(24),
        other_coordinate: None,
    };
    let probe = ProbeOutcome { contrast: 5, preferred: true, expected: 0.25 };
    let average = Average { mean: 0.5, lower: -0.25, upper: 1.25 };
    let (trials, e_value, needed, certified) = (40, 12.5, 480.0, Verdict::Open);
    let trial = Trial { trials, e_value, needed, average, certified, valid: true };
    let store = StoreUsage { generation: 2, events: 40, free: 3000, erases: 5 };
    let mut all: Vec<(Reply, Vec<u8>)> = FAULTS.map(|fault| (Reply::Fault(fault), vec![])).into();
    all.extend([
        (Reply::Hello(hello), b"tau2".to_vec()),
        (Reply::Done { count: 130 }, vec![]),
        (Reply::Decided { round: 7, action: 130, baseline: -0.125, probes: heapless::Vec::new() }, vec![]),
        (
            Reply::Decided { round: 8, action: 2, baseline: 0.0, probes: [probe].into_iter().collect() },
            vec![],
        ),
        (
            Reply::Explanation {
                chosen: 1,
                intended: 2,
                probed: [5, 0],
                other: 2,
                feasible: true,
                explored: false,
                chosen_score: 0.5,
                other_score: 0.25,
                shares: 9,
            },
            share_bytes(&WireShare::new(&share)),
        ),
        (Reply::Assessment(assessment), vec![]),
        (Reply::Promotion { count: 0, entry: None }, vec![]),
        (Reply::Promotion { count: 1, entry: Some((promotion, Standing::Doubtful)) }, vec![]),
        (
            Reply::Statistics(Statistics {
                rounds: 9,
                observations: 8,
                waiting: 1,
                promotions: 0,
                answered: 700,
                refused: 2,
                store,
            }),
            vec![],
        ),
        (Reply::Chunk { offset: 256 }, vec![9, 0, 9]),
        (Reply::Event { index: 4 }, vec![1, 2, 3]),
        (Reply::Trial(trial), vec![]),
        (Reply::Opened { nonce: 0x0102_0304_0506_0708, count: 300 }, vec![]),
    ]);
    all
}

/// The payload of an explanation with one share.
fn share_bytes(share: &WireShare) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::reply(&mut buffer, 1, &Reply::Done { count: 0 });
    let empty = draft.free().len();
    assert!(draft.push_share(share));
    let length = empty - draft.free().len();
    let mut frame = draft.seal().to_vec();
    frame.pop();
    let body = cobs::decode_vec(&frame).unwrap();
    body[body.len() - 4 - length..body.len() - 4].to_vec()
}

/// A frame of a message with any content.
fn any_frame(message: &[u8]) -> Vec<u8> {
    let body = [&[VERSION], &7_u32.to_le_bytes()[..], message].concat();
    cobs::encode_vec(&[&body[..], &checksum(&body).to_le_bytes()].concat())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn request_frame(sequence: u32, request: &Request, payload: &[u8]) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::request(&mut buffer, sequence, request);
    assert!(draft.push(payload));
    draft.seal().to_vec()
}

fn reply_frame(sequence: u32, reply: &Reply, payload: &[u8]) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::reply(&mut buffer, sequence, reply);
    assert!(draft.push(payload));
    draft.seal().to_vec()
}

#[test]
fn the_bytes_of_every_request_are_pinned_and_read_back() {
    let mut written = String::new();
    for (request, payload) in requests() {
        let mut frame = request_frame(0x0100_0001, &request, &payload);
        written += &hex(&frame);
        written.push('\n');
        frame.pop();
        assert_eq!(Frame::open(&mut frame).unwrap().request(), Ok((request, &payload[..])));
    }
    assert_eq!(written, REQUESTS);
}

#[test]
fn the_bytes_of_every_reply_are_pinned_and_read_back() {
    let mut written = String::new();
    for (reply, payload) in replies() {
        let mut frame = reply_frame(0x0100_0001, &reply, &payload);
        written += &hex(&frame);
        written.push('\n');
        frame.pop();
        assert_eq!(Frame::open(&mut frame).unwrap().reply(), Ok((reply, &payload[..])));
    }
    assert_eq!(written, REPLIES);
}

/// A request with a seal of a session that both sides have derived.
#[test]
fn the_bytes_of_a_seal_are_pinned() {
    let session = Session::new(&Key::new(*b"sixteen bytes..."), 1, 2, 3);
    let mut buffer = [0; MAX_FRAME];
    let frame = Draft::request(&mut buffer, 0x0100_0001, &Request::Hello).seal_by(&session, 5);
    assert_eq!(hex(frame), SEALED);
}

/// The longest messages with the longest payloads, with all bits set if possible.
#[test]
fn the_longest_messages_fit() {
    let signals = vec![255_u8; 64];
    let mut decide = any_frame(&[&[2, 64, 16][..], &signals, &[0]].concat());
    let (Request::Decide { context, .. }, []) = Frame::open(&mut decide).unwrap().request().unwrap() else {
        panic!("no request to decide")
    };
    let number = f64::from_bits(u64::MAX);
    let weight = f32::from_bits(u32::MAX);
    let longest: [(Request, usize); 5] = [
        (Request::Onboard { response: number, precision: number }, 240),
        (Request::Decide { context: context.clone(), time: u32::MAX }, 128),
        (
            Request::Unlearn {
                context: context.clone(),
                action: u16::MAX,
                baseline: number,
                reward: number,
                weight,
                imputed: false,
                kept: 1.0,
                probed: [5, 0],
            },
            0,
        ),
        (Request::Compare { context, prefer: u16::MAX, over: u16::MAX, total: true }, 0),
        (Request::Stage { offset: u32::MAX }, 256),
    ];
    for (request, payload) in longest {
        let mut frame = request_frame(u32::MAX, &request, &vec![255; payload]);
        assert!(frame.len() <= MAX_FRAME);
        frame.pop();
        let frame = Frame::open(&mut frame).unwrap();
        let (again, rest) = frame.request().unwrap();
        assert_eq!((format!("{again:?}"), rest.len()), (format!("{request:?}"), payload)); // NaN is not equal to itself
    }
    for (reply, payload) in
        [(Reply::Chunk { offset: u32::MAX }, 256), (Reply::Event { index: u32::MAX }, 260)]
    {
        let mut frame = reply_frame(u32::MAX, &reply, &vec![255; payload]);
        frame.pop();
        assert_eq!(Frame::open(&mut frame).unwrap().reply().unwrap().1.len(), payload);
    }
}

const SEALED: &str = "034401010201020501010d59f449c9c8844ae7c6b7032300";

const REQUESTS: &str = "\
0304010102010544fb280e00
03040101030101010101010103f03f01010101010410401801010101010105f03f2c01010101010107f0bf04dbfd8e00
0304010105010201040101023f0103803e0103803f0101010a80e2cfaa06d02b4c4900
03040101030102010104ffff03059a12864a00
0304010106010302ac02010101010103e03f0103803f05c7e8847d00
0304010105010401040101023f0103803e0103803f01010103b301010101010103f0bf0101063ff781ba8200
03040101030105010203010101010103c0bf010101010103f03f0103803f010104803f050548fe808900
0304010103010602070105cfec49bc00
030401010301060a070181010cdca0e1ec00
0304010108010705b720969c00
030401010301080108010201aa184b3a00
03040101080109030ca876eb00
0304010108010a09d1128e2000
0304010107010bcc22fa9900
0304010108010c0aede4ddef00
0304010109010d800276d7f62200
0304010105010e800403010205bee30cfd00
0304010109010f80105072cbd200
0304010108011004b79412ee00
03040101070111b6db986400
030401010a0112018002c860706400
030401010a0113f0a2045ffd1b2600
0304010108011405256179fd00
0304010105011501040101023f0103803e0103803f01010102010101010101063fa79af9b500
030401010b011681821001bf51775300
030401010f0117080706050403020193590cf200
";

const REPLIES: &str = "\
03840101020101050da8ab2b00
03840101020106019b98ac5c00
038401010201070202363ba07000
0384010102010603b7f9a2b200
0384010102010604146cc62c00
0384010102010605825cc15b00
03840101020107060da3e3738400
038401010201070703e5ffd07a00
03840101020107080489762c6300
038401010201020905d1835a7d00
03840101020107090147b35d0a00
038401010201070902fde2549300
0384010102010709036bd253e400
038401010201070904c847377a00
038401010201060a13417ecb00
038401010201060b857179bc00
038401010201060c26e41d2200
038401010201060db0d41a5500
038401011c0101010108070605040302010d0c0b0a282726252423222118121d0119060818171615141312110103e807e70774617532a01d3d4d00
038401010901028201a926aed100
03840101060103078201010101010103c0bf05e9929e2300
03840101050103080201010101010101040105010107803ee7d2ac0300
03840101060104010205030201010101023f0105803e09080101023f010104bf011805261fc59b00
03840101030105010101010103e03f01010101010bd03fdd2406819543ef3f0101010101031040010101010103f03f010101010103e0bf01010101010ef83f2b8716d9cef7ef3fc8010101010101010be03f01d80401db20b38900
0384010103010601052a4415a800
038401010a010601010502010164010102070101025a0101010101023e0101073f0195b1c3bf00
038401010601070908010dbc05020228b817050924e15200
03840101060108800209060924eebb6400
038401010b010904010203c2aaccf800
0384010104010a2801010101010329400101010101037e40010101010103e03f010101010103d0bf010101010109f43f010149406e9e00
0384010111010b0807060504030201ac024bf9af1d00
";

/// Default scores follow the words of the feasible set, and are recognized by the length of the payload.
#[test]
fn defaults_are_told_from_a_feasible_set() {
    let read = |payload: &[u8]| {
        let mut defaults = <Defaults>::new();
        read_defaults(&TAU2, payload, &mut defaults).map(|set| (defaults.to_vec(), set.to_vec()))
    };
    let scores: Vec<u8> = (0..18_u8).flat_map(|score| (f32::from(score) / 8.0).to_le_bytes()).collect();
    let expected: Vec<f64> = (0..18).map(|score| f64::from(score) / 8.0).collect();
    assert_eq!(read(&[]), Ok((vec![], vec![])));
    assert_eq!(read(&[7, 0, 0, 0]), Ok((vec![], vec![7, 0, 0, 0])));
    assert_eq!(read(&scores), Ok((expected.clone(), vec![])));
    assert_eq!(read(&[&[7, 0, 0, 0], &scores[..]].concat()), Ok((expected, vec![7, 0, 0, 0])));
    // One byte more or less is not a set of the catalog.
    let ana = HostUser::<f32>::new(&Policy::new(&TAU2, Settings::default()).unwrap(), "ana").unwrap();
    for wrong in [&scores[1..], &[&[7], &scores[..]].concat()] {
        let set = read(wrong).unwrap().1;
        assert!(read_feasible(&TAU2, ana.state(), &set).is_err(), "{set:?}");
    }
    // The catalog `agent` has 180 actions, and their scores do not fit into a frame.
    assert_eq!(read_defaults(&AGENT, &[0; 720], &mut <Defaults>::new()), Err(Fault::Content));
    const { assert!(MAX_FRAME < 720) };
}

/// Hosts and firmware read the same key file.
#[test]
fn a_key_is_read_from_digits_and_nothing_else() {
    let bytes: [u8; 16] = core::array::from_fn(|index| u8::try_from(index * 17).unwrap());
    let digits = bytes.map(|byte| format!("{byte:02x}")).concat();
    let key = Some(Key::new(bytes));
    for text in [digits.clone(), digits.to_uppercase(), format!("{digits}\n"), format!(" \t{digits}\r\n")] {
        assert_eq!(Key::from_hex(text.as_bytes()), key, "{text:?}");
    }
    for wrong in [
        &digits[1..],
        &format!("{digits}00"),
        &format!("{digits}0"),
        &digits.replace("00", "0 "),
        &digits.replace('f', "g"),
        "",
    ] {
        assert_eq!(Key::from_hex(wrong.as_bytes()), None, "{wrong:?}");
    }
    assert_eq!((Key::from_hex(&bytes), Key::from_hex(&[0xff; 32])), (None, None));
}

/// Unknown tags, wrong bools and option tags, long varints, too many signals, and messages that end early.
#[test]
fn contents_that_no_message_has_are_refused() {
    let request = |message: &[u8]| Frame::open(&mut any_frame(message)).unwrap().request().map(drop);
    let reply = |message: &[u8]| {
        let body = [&[VERSION | 0x80], &7_u32.to_le_bytes()[..], message].concat();
        let mut frame = cobs::encode_vec(&[&body[..], &checksum(&body).to_le_bytes()].concat());
        Frame::open(&mut frame).unwrap().reply().map(drop)
    };
    assert_eq!(request(&[24]), Err(Fault::UnknownRequest));
    for wrong in [&[][..], &[1], &[18, 2, 0], &[6, 0, 0, 2, 0], &[10, 0x80, 0x00], &[21, 0, 17], &[0, 0]] {
        assert_eq!(request(wrong), Err(Fault::Content), "{wrong:?}");
    }
    for wrong in [&[][..], &[12], &[0, 14], &[0, 9, 5], &[2], &[6, 0, 2], &[2, 0, 0]] {
        assert_eq!(reply(wrong), Err(Fault::Content), "{wrong:?}");
    }
    for right in [&[0, 9, 4][..], &[2, 0], &[6, 0, 0]] {
        assert_eq!(reply(right), Ok(()), "{right:?}");
    }
}
