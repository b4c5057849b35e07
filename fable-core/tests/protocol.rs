//! The bytes of every message are a promise between devices and hosts that are not updated together.

use fable_core::protocol::{
    Draft, Fault, Frame, Hello, Kept, MAX_FRAME, Reply, Request, Statistics, StorageFault, WireContext, WireShare, write_entry,
};
use fable_core::{
    Assessment, Average, Certifier, Context, Gap, Probe, Promotion, Share, Source, Standing, Trial, Verdict, catalog::AGENT,
    catalog::TAU2,
};

fn requests() -> Vec<(Request, Vec<u8>)> {
    let coding = WireContext::new(&Context::new(&AGENT, AGENT.task("coding").ok(), &[0.5, 0.25, 1.0, 0.0]).unwrap());
    let nowhere = WireContext::new(&Context::new(&TAU2, None, &[]).unwrap());
    vec![
        (Request::Hello, vec![]),
        (Request::Onboard { response: 1.0, precision: 4.0 }, [write_entry(24, 1.0), write_entry(300, -1.0)].concat()),
        (Request::Decide { context: coding.clone(), at: 1_700_000_000 }, vec![]),
        (Request::Decide { context: nowhere.clone(), at: 0 }, 0x3_ffff_u32.to_le_bytes().to_vec()),
        (Request::Feedback { incarnation: 2, round: 300, reward: 0.5, weight: 1.0, now: 0 }, vec![]),
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
        (Request::Promote { at: 9 }, vec![]),
        (Request::Statistics, vec![]),
        (Request::Expire { now: 10 }, vec![]),
        (Request::Snapshot { offset: 256 }, vec![]),
        (Request::Stage { offset: 512 }, vec![0, 1, 2, 0]),
        (Request::Commit { length: 2048 }, vec![]),
        (Request::Event { index: 4 }, vec![]),
        (Request::Forget, vec![]),
        (Request::Prior { next: true, offset: 256 }, vec![]),
        (Request::CommitPrior { length: 70_000 }, vec![]),
        (Request::Trial { contrast: 5 }, vec![]),
    ]
}

const FAULTS: [Fault; 14] = [
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
];

fn replies() -> Vec<(Reply, Vec<u8>)> {
    let hello = Hello {
        protocol: 1,
        record: 1,
        fingerprint: 0x0102_0304_0506_0708,
        promise: 0x0a0b_0c0d,
        digits: 24,
        actions: 18,
        dimension: 29,
        tasks: 0,
        signals: 0,
        contrasts: 6,
        ring: 8,
        user: 0x1112_1314_1516_1718,
        incarnation: 1,
        origin: 3,
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
        by: Certifier::Coins,
        round: 100,
        at: 7,
        evidence: 90,
        lower: 0.125,
        upper: 0.5,
    };
    let share = Share { source: Source::Block(4), chosen: 0.5, other: -0.5, chosen_coordinate: Some(24), other_coordinate: None };
    let share = postcard::to_slice(&WireShare::new(&share), &mut [0; 32]).unwrap().to_vec();
    let probe = Probe { contrast: 5, preferred: true, expected: 0.25 };
    let average = Average { mean: 0.5, lower: -0.25, upper: 1.25 };
    let (trials, e_value, needed, certified) = (40, 12.5, 480.0, Verdict::Open);
    let trial = Trial { trials, e_value, needed, average, certified, valid: true };
    let kept = Kept { generation: 2, events: 40, free: 3000, erases: 5 };
    let mut all: Vec<(Reply, Vec<u8>)> = FAULTS.map(|fault| (Reply::Fault(fault), vec![])).into();
    all.extend([
        (Reply::Hello(hello), b"tau2".to_vec()),
        (Reply::Done { count: 130 }, vec![]),
        (Reply::Decided { round: 7, action: 130, baseline: -0.125, probes: heapless::Vec::new() }, vec![]),
        (Reply::Decided { round: 8, action: 2, baseline: 0.0, probes: [probe].into_iter().collect() }, vec![]),
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
            share,
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
                kept,
            }),
            vec![],
        ),
        (Reply::Chunk { offset: 256 }, vec![9, 0, 9]),
        (Reply::Event { index: 4 }, vec![1, 2, 3]),
        (Reply::Trial(trial), vec![]),
    ]);
    all
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

fn request_frame(sequence: u8, request: &Request, payload: &[u8]) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::request(&mut buffer, sequence, request);
    assert!(draft.push(payload));
    draft.seal().to_vec()
}

fn reply_frame(sequence: u8, reply: &Reply, payload: &[u8]) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    let mut draft = Draft::reply(&mut buffer, sequence, reply);
    assert!(draft.push(payload));
    draft.seal().to_vec()
}

#[test]
fn the_bytes_of_every_request_are_pinned_and_read_back() {
    let mut written = String::new();
    for (request, payload) in requests() {
        let mut frame = request_frame(1, &request, &payload);
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
        let mut frame = reply_frame(1, &reply, &payload);
        written += &hex(&frame);
        written.push('\n');
        frame.pop();
        assert_eq!(Frame::open(&mut frame).unwrap().reply(), Ok((reply, &payload[..])));
    }
    assert_eq!(written, REPLIES);
}

/// The longest messages with the longest payloads, all bits set where that is possible.
#[test]
fn the_longest_messages_fit() {
    let signals = vec![255_u8; 64];
    let context: WireContext = postcard::from_bytes(&[&[64, 16][..], &signals].concat()).unwrap();
    let number = f64::from_bits(u64::MAX);
    let weight = f32::from_bits(u32::MAX);
    let longest: [(Request, usize); 5] = [
        (Request::Onboard { response: number, precision: number }, 240),
        (Request::Decide { context: context.clone(), at: u32::MAX }, 128),
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
        let mut frame = request_frame(255, &request, &vec![255; payload]);
        assert!(frame.len() <= MAX_FRAME);
        frame.pop();
        let frame = Frame::open(&mut frame).unwrap();
        let (again, rest) = frame.request().unwrap();
        assert_eq!((format!("{again:?}"), rest.len()), (format!("{request:?}"), payload)); // NaN is not itself
    }
    for (reply, payload) in [(Reply::Chunk { offset: u32::MAX }, 256), (Reply::Event { index: u32::MAX }, 260)] {
        let mut frame = reply_frame(255, &reply, &vec![255; payload]);
        frame.pop();
        assert_eq!(Frame::open(&mut frame).unwrap().reply().unwrap().1.len(), payload);
    }
}

const REQUESTS: &str = "\
030201053d3cdee500
04020101010101010103f03f01010101010410401801010101010105f03f2c01010101010107f0bf5799107600
0602010201040101023f0103803e0103803f0101010a80e2cfaa06678465ae00
04020102010104ffff0305aaca91f900
0702010302ac02010101010103e03f0103803f0527866ab800
0602010401040101023f0103803e0103803f01010103b301010101010103f0bf0101063ff68eb68c00
04020105010203010101010103c0bf010101010103f03f0103803f010104803f0505a918610300
0402010602070105d7fea04b00
040201060a070181010c24be439d00
0902010705e81fa4b500
040201080108010201ee69d02900
0902010903539744c200
0902010a098e2dbc0900
0802010bb5e50c7200
0902010c0ab2dbefc600
0a02010d80022ca90bd900
0602010e80040301020546fdae8c00
0a02010f80100a0c362900
0902011004e8ab20c700
08020111cf1c6e8f00
0b0201120180025c2535ef00
0b020113f0a204cbb85ead00
09020114057a5e4bd400
";

const REPLIES: &str = "\
03820101059bcbd66700
03820106010dfbd11000
0382010702022470806900
0382010603219adffe00
0382010604820fbb6000
0382010605143fbc1700
03820107060db1a8539d00
038201070703f7b4f06300
0382010708049b3d0c7a00
038201020905c3c87a6400
03820107090155f87d1300
038201070902efa9748a00
038201070903799973fd00
038201070904da0c176300
15820101010108070605040302010d0c0b0a18121d01180608181716151413121101e807e70774617532660e6c7e00
0a8201028201bb6d8ec800
07820103078201010101010103c0bf05ade5325700
06820103080201010101010101040105010107803ebdac06c300
07820104010205030201010101023f0105803e09080101023f010104bf011805e86078e200
04820105010101010103e03f01010101010bd03fdd2406819543ef3f0101010101031040010101010103f03f010101010103e0bf01010101010ef83f2b8716d9cef7ef3fc8010101010101010be03f01d804018ba0659e00
048201060105380f35b100
0b82010601010502010164010102070101025a0101010101023e0101073f019cdb04de00
078201070908010dbc05020228b817054d534d2600
078201088002090609252ffa5300
0c82010904010203295b366100
0582010a2801010101010329400101010101037e40010101010103e03f010101010103d0bf010101010109f43f01016ac7461200
";
