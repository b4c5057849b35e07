//! The best blocks for a budget of k coordinates: the block integer program of FABLE-SPCA, solved exactly.
//!
//! With q_h = 1 for a kept block and o = 1 - q, [`reduce`] adds H up to B_gh = sum of H_ij over i in block g,
//! j in block h, and
//!
//! ```text
//!   minimise    E(q) = o^T B o
//!   subject to  sum size_h q_h = k,   q_h = 1 (keep),   q_h = 0 (forbid),   q_child <= q_parent
//! ```
//!
//! *Search.* Depth first, one block after the other. A node has decided some blocks. Let O be the omitted and
//! F the free blocks, D the coordinates still to be omitted, c = sum of B over O x O and r_f = sum of B_fO.
//! Then its error is c + sum_f o_f (2 r_f + B_ff + sum_{g in F, g != f} B_fg o_g). A node is dropped if no
//! subset of F has the missing size, by an exact table of subset sums. It is also dropped if it breaks a
//! parent rule, or if its bound is no better than the best choice.
//!
//! *Bound* (Gilmore and Lawler's, for the quadratic knapsack). Let m_f be the least sum of B_fg o_g over
//! fractional o in [0, 1]^(F - f) with sizes adding up to D - size_f. The bound is c plus the least sum of
//! o_f (2 r_f + B_ff + m_f) over fractional o in [0, 1]^F with sizes adding up to D.
//!
//! Every admissible o is feasible for both, and its inner sum for an omitted f is at least m_f. So no
//! admissible choice below the node has a smaller error. The signs and the definiteness of B do not matter,
//! so blocks may cancel each other. Both minima are greedy by value per coordinate, which is optimal for one
//! equality with positive sizes.
//!
//! *Ties.* Errors closer than [`RESOLUTION`] times the sum of |B| count as equal, far above rounding. Of
//! equal choices the one that keeps the earliest blocks is taken: block 0 if any choice keeps it, and so on.
//! A second pass in definition order finds it.
//!
//! The problem is NP-hard. A dozen blocks take a tenth of a millisecond, and two dozen that cancel each other
//! a tenth of a second. For a hundred blocks [`Program::search`] stops after a given number of nodes, and
//! bounds the distance of its choice from the optimum. A node costs f^2 log f steps for f free blocks.
//!
//! ```
//! use fable_core::analysis::{Program, ProgramError};
//! // Blocks 1 and 2 cancel each other: leaving out both costs less than leaving out either.
//! let relevance = [3.0, 0.0, 0.0, 0.0, 4.0, -4.0, 0.0, -4.0, 4.5];
//! let program = Program::new(&[2, 1, 1], &relevance)?;
//! let mut scratch = [0; 8];
//! assert_eq!(program.solve(2, &mut scratch)?.retained.bits(), 0b001); // E = 4 + 4.5 - 8
//! assert_eq!(program.solve(3, &mut scratch)?.retained.bits(), 0b101); // E = 4 instead of 4.5
//! assert_eq!(program.solve(5, &mut scratch), Err(ProgramError::Infeasible { k: 5 }));
//! # Ok::<(), ProgramError>(())
//! ```

pub use super::error::ProgramError;
use super::search::Search;
use crate::catalog::{Block, BlockSet, Catalog, CoordinateSet, MAX_BLOCKS, MAX_DIMENSION};
use crate::numbers::Bits;
use nalgebra::{Dim, Matrix, RawStorage};

/// Errors closer than this part of the sum of |B| are equal. Rounding in the sums of 128 x 128 numbers is
/// below 2e-12 of it.
pub const RESOLUTION: f64 = 1e-11;

/// Adds H up block by block. `out` gets B in row order, with the catalog's number of blocks as rows.
///
/// # Errors
/// H of another shape than d x d, or another length of `out` than blocks squared.
pub fn reduce<R, C, M>(
    catalog: &Catalog<'_>,
    relevance: &Matrix<f64, R, C, M>,
    out: &mut [f64],
) -> Result<(), ProgramError>
where
    R: Dim,
    C: Dim,
    M: RawStorage<f64, R, C>,
{
    let (blocks, dimension) = (catalog.definition().blocks.len(), catalog.dimension());
    if relevance.shape() != (dimension, dimension) {
        return Err(ProgramError::Shape { expected: dimension });
    }
    if out.len() != blocks * blocks {
        return Err(ProgramError::Shape { expected: blocks });
    }
    for (g, row) in out.chunks_exact_mut(blocks).enumerate() {
        for (h, entry) in row.iter_mut().enumerate() {
            *entry = 0.0;
            for j in catalog.block_ranges(h).flatten() {
                for i in catalog.block_ranges(g).flatten() {
                    *entry += relevance.get((i, j)).copied().unwrap_or(0.0);
                }
            }
        }
    }
    Ok(())
}

/// A choice of blocks or coordinates, and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Selection<const W: usize = 4> {
    /// The kept blocks or coordinates.
    pub retained: Bits<W>,
    /// E of this choice.
    pub error: f64,
    /// epsilon_opt: no admissible choice has an error that is smaller by more, apart from the resolution. 0
    /// after a complete search.
    pub gap: f64,
}

/// Most coordinates of a [`CoordinateProgram`]. A node costs f^2 log f steps, so more coordinates would take
/// too long.
pub const MAX_MASK: usize = 1024;

/// The program over single coordinates, the paper's z. The learner retains blocks, so this tells how much
/// better a mask of coordinates could be.
///
/// ```
/// use fable_core::analysis::{CoordinateProgram, ProgramError};
/// use fable_core::catalog::AGENT;
/// let mut relevance = vec![0.0; 254 * 254];
/// (0..254).for_each(|i| relevance[i * 254 + i] = ((i * 97) % 254) as f64);
/// let program = CoordinateProgram::of_coordinates(&AGENT, &relevance)?;
/// let chosen = program.solve(10, &mut vec![0; program.scratch_len()])?;
/// assert!(chosen.retained.iter().all(|i| (i * 97) % 254 >= 244)); // without interactions the ten largest
/// # Ok::<(), ProgramError>(())
/// ```
pub type CoordinateProgram<'p> = Program<'p, { MAX_MASK / 32 }, MAX_MASK>;

/// A program: sizes, relevance and rules. See the [module](self). `N` is the most parts, and `W` the words of
/// a set of them.
#[derive(Clone, Debug)]
pub struct Program<'p, const W: usize = 4, const N: usize = MAX_BLOCKS> {
    /// B, as many rows as blocks.
    relevance: &'p [f64],
    blocks: usize,
    sizes: [u16; N],
    keep: Bits<W>,
    forbid: Bits<W>,
    /// The parents of each block.
    parents: [Bits<W>; N],
}

impl<'p> Program<'p> {
    /// A program over blocks of these sizes. `relevance` is in row order, and only its symmetric part counts.
    ///
    /// # Errors
    /// No block or more than 128, a size of 0, more than 8,192 coordinates, another number of entries than
    /// blocks squared, or an entry that is not finite.
    pub fn new(sizes: &[u16], relevance: &'p [f64]) -> Result<Self, ProgramError> {
        Self::over(sizes, relevance)
    }

    /// A program over the blocks of a catalog.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn of(catalog: &Catalog<'_>, relevance: &'p [f64]) -> Result<Self, ProgramError> {
        let mut sizes = [0; MAX_BLOCKS];
        let blocks = catalog.definition().blocks.len();
        for (block, size) in sizes.iter_mut().enumerate().take(blocks) {
            *size = u16::try_from(catalog.dimension_of(BlockSet::from_bits(1 << block)))
                .map_err(|_| ProgramError::Sizes)?;
        }
        Self::new(sizes.get(..blocks).unwrap_or(&[]), relevance)
    }

    /// Keeps an interaction only together with the main effects of its components, as far as the catalog has
    /// them. Interactions are of components, with the task or with a signal.
    ///
    /// # Errors
    /// A catalog with other blocks than the program.
    pub fn main_effects_first(self, catalog: &Catalog<'_>) -> Result<Self, ProgramError> {
        main_effects(catalog).try_fold(self, |program, (parent, child)| program.before(parent, child))
    }
}

impl<'p> CoordinateProgram<'p> {
    /// A program over the coordinates of a catalog, of H itself.
    ///
    /// # Errors
    /// More than [`MAX_MASK`] coordinates, another number of entries than coordinates squared, or one that is
    /// not finite.
    pub fn of_coordinates(catalog: &Catalog<'_>, relevance: &'p [f64]) -> Result<Self, ProgramError> {
        let ones = [1; MAX_MASK];
        Self::over(ones.get(..catalog.dimension()).ok_or(ProgramError::BlockCount)?, relevance)
    }

    /// Keeps these coordinates in any case.
    ///
    /// # Errors
    /// A coordinate that the program does not have.
    pub fn keep_coordinates(self, coordinates: &CoordinateSet) -> Result<Self, ProgramError> {
        let mut kept = Bits::EMPTY;
        coordinates.iter().for_each(|coordinate| kept.insert(coordinate));
        if kept.len() == coordinates.len() { self.keep(kept) } else { Err(ProgramError::UnknownBlock) }
    }
}

impl<'p, const W: usize, const N: usize> Program<'p, W, N> {
    fn over(sizes: &[u16], relevance: &'p [f64]) -> Result<Self, ProgramError> {
        const { assert!(N == 32 * W) };
        let blocks = sizes.len();
        if blocks == 0 || blocks > N {
            return Err(ProgramError::BlockCount);
        }
        let total: usize = sizes.iter().map(|size| usize::from(*size)).sum();
        if sizes.contains(&0) || total > MAX_DIMENSION {
            return Err(ProgramError::Sizes);
        }
        if relevance.len() != blocks * blocks {
            return Err(ProgramError::Shape { expected: blocks });
        }
        if !relevance.iter().map(|entry| entry.abs()).sum::<f64>().is_finite() {
            return Err(ProgramError::NotFinite);
        }
        let mut own = [0; N];
        for (slot, size) in own.iter_mut().zip(sizes) {
            *slot = *size;
        }
        Ok(Self {
            relevance,
            blocks,
            sizes: own,
            keep: Bits::EMPTY,
            forbid: Bits::EMPTY,
            parents: [Bits::EMPTY; N],
        })
    }

    /// Keeps these blocks in any case, for example blocks of trusted statements.
    ///
    /// # Errors
    /// A block that the program does not have.
    pub fn keep(mut self, blocks: Bits<W>) -> Result<Self, ProgramError> {
        self.known(&blocks)?.iter().for_each(|block| self.keep.insert(block));
        Ok(self)
    }

    /// Keeps none of these blocks, for example blocks that the hard constraints make useless.
    ///
    /// # Errors
    /// A block that the program does not have.
    pub fn forbid(mut self, blocks: Bits<W>) -> Result<Self, ProgramError> {
        self.known(&blocks)?.iter().for_each(|block| self.forbid.insert(block));
        Ok(self)
    }

    /// Keeps `child` only together with `parent`.
    ///
    /// # Errors
    /// A block that the program does not have.
    pub fn before(mut self, parent: usize, child: usize) -> Result<Self, ProgramError> {
        if parent >= self.blocks {
            return Err(ProgramError::UnknownBlock);
        }
        let slot = self.parents.get_mut(..self.blocks).and_then(|parents| parents.get_mut(child));
        slot.ok_or(ProgramError::UnknownBlock)?.insert(parent);
        Ok(self)
    }

    /// Words of scratch for solving: one bit per block and number of coordinates.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        (self.blocks + 1) * self.words()
    }

    /// The least error with exactly k coordinates.
    ///
    /// # Errors
    /// [`ProgramError::Infeasible`] when no admissible choice has k coordinates, or scratch shorter than
    /// [`scratch_len`](Self::scratch_len).
    pub fn solve(&self, k: usize, scratch: &mut [u64]) -> Result<Selection<W>, ProgramError> {
        self.search(k, u64::MAX, scratch)
    }

    /// The least error that a search of at most `nodes` nodes finds. [`Selection::gap`] bounds the distance
    /// from the optimum.
    ///
    /// # Errors
    /// As for [`solve`](Self::solve), and [`ProgramError::NodeLimit`] when no admissible choice was found in
    /// time.
    pub fn search(&self, k: usize, nodes: u64, scratch: &mut [u64]) -> Result<Selection<W>, ProgramError> {
        let needed = self.scratch_len();
        let sums = scratch.get_mut(..needed).ok_or(ProgramError::ScratchLength { needed })?;
        let (keep, forbid) = self.closed();
        if keep.iter().any(|block| forbid.contains(block)) || k > self.size_of(&self.every()) {
            return Err(ProgramError::Infeasible { k });
        }
        let slack = RESOLUTION * self.relevance.iter().map(|entry| entry.abs()).sum::<f64>();
        // The first pass finds the least error. Blocks of more value per coordinate come first.
        let mut order = [0; N];
        let open = self.every().iter().filter(|block| !keep.contains(*block) && !forbid.contains(*block));
        let mut count = 0;
        for (slot, block) in order.iter_mut().zip(open) {
            *slot = u16::try_from(block).unwrap_or(u16::MAX);
            count += 1;
        }
        let order = order.get_mut(..count).unwrap_or_default();
        let worth = |block: &u16| {
            self.entry(usize::from(*block), usize::from(*block)) / self.size(usize::from(*block))
        };
        order.sort_unstable_by(|a, b| worth(b).total_cmp(&worth(a)).then(a.cmp(b)));
        self.tabulate(order, sums);
        let mut search =
            Search { program: self, order, sums, k, slack, nodes, best: None, cut: None, first: false };
        search.visit(0, &keep, self.size_of(&keep));
        let Some((error, retained)) = search.best else {
            return Err(if search.cut.is_some() {
                ProgramError::NodeLimit
            } else {
                ProgramError::Infeasible { k }
            });
        };
        if let Some(bound) = search.cut {
            return Ok(Selection { retained, error, gap: if bound < error { error - bound } else { 0.0 } });
        }
        // The second pass finds the first choice in definition order with this error.
        let nodes = search.nodes;
        order.sort_unstable();
        self.tabulate(order, sums);
        let best = Some((error, retained));
        let mut search = Search { program: self, order, sums, k, slack, nodes, best, cut: None, first: true };
        search.visit(0, &keep, self.size_of(&keep));
        let (error, retained) = search.best.unwrap_or((error, retained));
        Ok(Selection { retained, error, gap: 0.0 })
    }

    /// E of a choice: the entries of B between omitted blocks, added up in order.
    #[must_use]
    pub fn error(&self, retained: Bits<W>) -> f64 {
        self.error_of(&retained)
    }

    pub(super) fn error_of(&self, kept: &Bits<W>) -> f64 {
        let omitted = || (0..self.blocks).filter(|block| !kept.contains(*block));
        omitted().map(|g| omitted().map(|h| self.entry(g, h)).sum::<f64>()).sum()
    }

    pub(super) fn every(&self) -> Bits<W> {
        Bits::first(self.blocks)
    }

    pub(super) fn parents_of(&self, block: usize) -> &Bits<W> {
        self.parents.get(block).unwrap_or(const { &Bits::EMPTY })
    }

    fn known<'b>(&self, blocks: &'b Bits<W>) -> Result<&'b Bits<W>, ProgramError> {
        if blocks.is_below(self.blocks) { Ok(blocks) } else { Err(ProgramError::UnknownBlock) }
    }

    /// An entry of the symmetric part of B.
    pub(super) fn entry(&self, g: usize, h: usize) -> f64 {
        let at = |g: usize, h: usize| self.relevance.get(g * self.blocks + h).copied().unwrap_or(0.0);
        0.5 * at(g, h) + 0.5 * at(h, g)
    }

    pub(super) fn size(&self, block: usize) -> f64 {
        self.sizes.get(block).copied().map_or(0.0, f64::from)
    }

    pub(super) fn size_in(&self, block: usize) -> usize {
        self.sizes.get(block).copied().map_or(0, usize::from)
    }

    pub(super) fn size_of(&self, blocks: &Bits<W>) -> usize {
        blocks.iter().map(|block| self.size_in(block)).sum()
    }

    /// 64-bit words for one bit per number of coordinates, from 0 to all.
    pub(super) fn words(&self) -> usize {
        self.size_of(&self.every()) / 64 + 1
    }

    /// The kept blocks with all their ancestors, and the forbidden blocks with all their descendants.
    fn closed(&self) -> (Bits<W>, Bits<W>) {
        let (mut keep, mut forbid) = (self.keep, self.forbid);
        loop {
            let before = (keep, forbid);
            for (block, parents) in self.parents.iter().enumerate().take(self.blocks) {
                if keep.contains(block) {
                    parents.iter().for_each(|parent| keep.insert(parent));
                }
                if parents.iter().any(|parent| forbid.contains(parent)) {
                    forbid.insert(block);
                }
            }
            if (keep, forbid) == before {
                return before;
            }
        }
    }

    /// Fills row i with the sizes that blocks from index i of the order on can add up to, one bit each.
    fn tabulate(&self, order: &[u16], sums: &mut [u64]) {
        let words = self.words();
        sums.fill(0);
        let mut rows = sums.chunks_exact_mut(words).take(order.len() + 1).rev();
        let Some(mut later) = rows.next() else { return };
        if let Some(zero) = later.first_mut() {
            *zero = 1;
        }
        for (row, block) in rows.zip(order.iter().rev().map(|block| usize::from(*block))) {
            let size = self.size_in(block);
            for (index, slot) in row.iter_mut().enumerate() {
                // The sums without the block, and the sums with it, shifted by its size.
                let at = |from: Option<usize>| from.and_then(|from| later.get(from)).copied().unwrap_or(0);
                let (low, high) = (at(index.checked_sub(size / 64)), at(index.checked_sub(size / 64 + 1)));
                let moved =
                    if size.is_multiple_of(64) { low } else { low << (size % 64) | high >> (64 - size % 64) };
                *slot = at(Some(index)) | moved;
            }
            later = row;
        }
    }
}

/// The natural parent rules: (main effect of a component, interaction with the component as a factor), by
/// block.
pub fn main_effects(catalog: &Catalog<'_>) -> impl Iterator<Item = (usize, usize)> {
    let definition = catalog.definition();
    let count = definition.components.len();
    let main =
        move |block: &Block| block.mask(count).is_power_of_two() && !block.per_task && block.signal.is_none();
    definition.blocks.iter().enumerate().filter(move |(_, block)| !main(block)).flat_map(
        move |(child, interaction)| {
            let parents = definition.blocks.iter().enumerate();
            parents
                .filter(move |(_, block)| main(block) && block.mask(count) & interaction.mask(count) != 0)
                .map(move |(parent, _)| (parent, child))
        },
    )
}
