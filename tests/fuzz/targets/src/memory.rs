//! Any bytes are a memory or an error. A memory is written as it was read.
//! Its content stays within bounds and within its frame.

use fable_std::memory::{Bounds, EXCHANGE_BYTES, Exchange, MODES, Memory, Sources, Stated, recall};

pub fn memory(data: &[u8]) {
    // With a checksum that is right, too.
    let summed = [data, &crc32fast::hash(data).to_le_bytes()].concat();
    for bytes in [data, &summed] {
        let Ok(memory) = Memory::decode(bytes) else { continue };
        assert_eq!(memory.encode(), bytes);
        frames(&memory);
    }
    // Words of anybody.
    let text = String::from_utf8_lossy(data);
    let (request, answer) = text.split_once('\0').unwrap_or((&text, ""));
    let bounds = Bounds { exchanges: 3, bytes: 5_000 };
    let mut memory = Memory::default();
    for at in 0..5 {
        memory.push(Exchange::new(request, answer, at), &bounds);
        let kept = memory.exchanges();
        assert!(kept.len() <= 3 && kept.iter().map(Exchange::size).sum::<usize>() <= 5_000);
        assert!(kept.iter().all(|kept| kept.request.len() + kept.answer.len() <= EXCHANGE_BYTES));
    }
    assert_eq!(Memory::decode(&memory.encode()).unwrap(), memory);
    frames(&memory);
}

fn frames(memory: &Memory) {
    let said = memory.exchanges().last().map_or("", |exchange| &exchange.request);
    let stated = [Stated::Rule { rule: said.to_owned(), words: said.to_owned() }];
    for mode in MODES {
        let recalled = recall(mode, said, &Sources { memory, stated: &stated, profile: "" });
        assert!(recalled.exchanges.iter().all(|exchange| memory.exchanges().contains(exchange)));
        let lines: Vec<&str> = recalled.text.split('\n').collect();
        let quoted = if mode == "preference_memory" { 1 } else { recalled.exchanges.len() };
        assert_eq!(lines.len(), if quoted == 0 { 1 } else { quoted + 2 });
        for line in lines.iter().skip(1).take(quoted) {
            assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object());
        }
    }
}
