//! Real people: what the settings and a fitted prior are worth to those nobody has seen.

pub mod camera;
pub mod computer;
pub mod panel;

use fable_core::catalog::Block;

/// A block for each of `N` components and one for each pair of them, `B` in all.
const fn mains_and_pairs<const N: u8, const B: usize>() -> [Block; B] {
    let mut blocks = [Block::complete(); B];
    let mut next = N as usize;
    let mut first = 0;
    while first < N {
        blocks[first as usize] = Block::main(first);
        let mut second = first + 1;
        while second < N {
            blocks[next] = Block::pair(first, second);
            next += 1;
            second += 1;
        }
        first += 1;
    }
    blocks
}

fn number(cell: &str) -> Option<usize> {
    cell.trim().parse().ok()
}
