//! How large tables grow: by an eighth. A vector that doubles is a quarter empty on the average, and half at worst.

/// The least that a table grows by, so that small ones are not moved for each element.
const LEAST: usize = 8;

/// Makes room for `more` elements behind the last one.
#[inline]
pub fn make_room<T>(table: &mut Vec<T>, more: usize) {
    if table.capacity() - table.len() < more {
        grow(table, more);
    }
}

#[cold]
fn grow<T>(table: &mut Vec<T>, more: usize) {
    table.reserve_exact(more.max(table.len() / 8).max(LEAST));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_of_a_large_table_is_empty_and_it_is_seldom_moved() {
        let (mut table, mut moves, mut capacity) = (Vec::new(), 0, 0);
        for element in 0..100_000 {
            make_room(&mut table, 1);
            table.push(element);
            moves += usize::from(table.capacity() != capacity);
            capacity = table.capacity();
            assert!(capacity - table.len() <= LEAST.max(table.len() / 8));
        }
        assert!(moves < 100, "{moves} moves");
        make_room(&mut table, 50_000);
        assert!(table.capacity() >= 150_000);
    }
}
