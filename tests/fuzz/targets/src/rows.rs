//! Any bytes are entries of a journal, a user's row, an exported user, or an error.
//! All of them are written again as they were read.

use fable_core::record::checksum;
use fable_std::store::UserRow;
use fable_std::store::journal::{Entries, Segment};
use fable_std::store::transfer::{VERSION, read};

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

pub fn rows(data: &[u8]) {
    let entries = Entries::new(data).take_while(Result::is_ok).count() as u64;
    if let Ok(segment) = Segment::read(7, data) {
        let mut again = Segment { first: 7, ..Segment::default() };
        segment.from(0).for_each(|entry| again.push(&entry.unwrap()));
        assert_eq!((&again, again.count, again.bytes.as_slice()), (&segment, entries, data));
        for position in 7..=again.end() {
            assert_eq!(segment.from(position).count() as u64, segment.end() - position);
        }
    }
    if let Ok(row) = UserRow::decode(data) {
        assert_eq!(row.encode(), data);
    }
    // A sound checksum is put in, or no mutation would pass it.
    let _ = read(data);
    let Some(end) = data.len().checked_sub(4) else { return };
    let bytes = [&data[..end], &checksum(&data[..end]).to_le_bytes()].concat();
    let Ok(stored) = read(&bytes) else { return };
    let (seen, snapshot) = stored.snapshot.unwrap_or_default();
    let [segment] = stored.journal.as_slice() else { panic!("{} parts", stored.journal.len()) };
    let again = [
        &[b'F', b'A', b'B', b'X', VERSION][..],
        &stored.row.incarnation.to_le_bytes(),
        &(stored.row.name.len() as u16).to_le_bytes(),
        stored.row.name.as_bytes(),
        &stored.row.header.encode(),
        &with_length(&stored.wishes),
        &with_length(&stored.prior.unwrap_or_default()),
        &with_length(&stored.memory.encode()),
        &seen.to_le_bytes(),
        &with_length(&snapshot),
        &segment.count.to_le_bytes(),
        &segment.bytes,
    ]
    .concat();
    assert_eq!((again.as_slice(), segment.first), (&bytes[..end], seen));
}
