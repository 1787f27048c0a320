//! Memory for many short rows of elements, which come, grow and go: rows that went are used again by others as long.

/// Keeps an element by itself, where one stood that is free now if there is any, and says where.
pub(crate) fn keep_one<T>(all: &mut Vec<T>, free: &mut Vec<u32>, new: T) -> u32 {
    match free.pop() {
        Some(place) => {
            all[place as usize] = new;
            place
        }
        None => {
            all.push(new);
            (all.len() - 1) as u32
        }
    }
}

/// An element of a row, of which the first tells where the next free row is while its own row is free.
pub(crate) trait Link: Copy {
    fn of(link: u32) -> Self;
    fn link(self) -> u32;
}

impl Link for u32 {
    fn of(link: u32) -> u32 {
        link
    }
    fn link(self) -> u32 {
        self
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Pool<T> {
    elements: Vec<T>,
    /// By length, where the first free row is, plus one; zero without one.
    free: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool { elements: Vec::new(), free: Vec::new() }
    }
}

impl<T: Link> Pool<T> {
    /// All that was ever kept.
    pub(crate) fn all(&self) -> &[T] {
        &self.elements
    }

    /// The `count` elements from `at` on.
    #[inline(always)]
    pub(crate) fn row(&self, at: usize, count: usize) -> &[T] {
        self.elements.get(at..at + count).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, at: usize, count: usize) -> &mut [T] {
        self.elements.get_mut(at..at + count).unwrap_or_default()
    }

    /// Keeps a row of at least one element, and says where.
    pub(crate) fn keep(&mut self, row: &[T]) -> u32 {
        if let Some(free) = self.free.get_mut(row.len())
            && let Some(at) = free.checked_sub(1)
        {
            let place = &mut self.elements[at as usize..][..row.len()];
            *free = place[0].link();
            place.copy_from_slice(row);
            return at;
        }
        base::growth::make_room(&mut self.elements, row.len());
        self.elements.extend_from_slice(row);
        (self.elements.len() - row.len()) as u32
    }

    /// A row is not needed any more.
    pub(crate) fn release(&mut self, at: u32, count: usize) {
        if self.free.len() <= count {
            self.free.resize(count + 1, 0);
        }
        self.elements[at as usize] = T::of(self.free[count]);
        self.free[count] = at + 1;
    }

    /// Elements of rows that are in use, for tests of their release.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        let free = self.free.iter().enumerate().map(|(count, first)| {
            let row = |at: &u32| at.checked_sub(1).map(|at| self.elements[at as usize].link());
            core::iter::successors(Some(*first), row).filter(|at| *at != 0).count() * count
        });
        self.elements.len() - free.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_went_are_used_again_by_others_as_long() {
        let mut pool = Pool::<u32>::default();
        let rows: Vec<u32> = [3, 2, 3].map(|count| pool.keep(&vec![count; count as usize])).into();
        assert_eq!((&*rows, pool.used(), pool.row(3, 2)), (&[0, 3, 5][..], 8, &[2, 2][..]));
        pool.release(0, 3);
        pool.release(5, 3);
        assert_eq!(pool.used(), 2);
        assert_eq!((pool.keep(&[7, 8]), pool.keep(&[9, 9, 9]), pool.keep(&[4, 4, 4])), (8, 5, 0));
        assert_eq!((pool.used(), pool.row(0, 3), pool.elements.len()), (10, &[4, 4, 4][..], 10));
    }
}
