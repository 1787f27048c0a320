//! A list in pages: it grows without moving what is in it, and less than a page of it is empty.

use core::ops::{Index, IndexMut};

/// Elements of a page. The first page grows as a vector does; later ones are made whole.
const PAGE: usize = 256;

/// Elements named by their place, from 0 on.
#[derive(Clone, Debug)]
pub struct Pages<T> {
    pages: Vec<Vec<T>>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Pages::new()
    }
}

impl<T> Pages<T> {
    /// A list that has no element and takes no memory yet.
    pub const fn new() -> Pages<T> {
        Pages { pages: Vec::new() }
    }

    /// How many elements there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.pages.last().map_or(0, |last| (self.pages.len() - 1) * PAGE + last.len())
    }

    /// Is there no element?
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The element at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.pages.get(place / PAGE)?.get(place % PAGE)
    }

    /// The element at a place, to be changed.
    #[inline]
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        self.pages.get_mut(place / PAGE)?.get_mut(place % PAGE)
    }

    /// Adds an element behind the last one, and returns its place.
    #[inline]
    pub fn push(&mut self, element: T) -> usize {
        let place = self.len();
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => page.push(element),
            _ => self.push_page(element),
        }
        place
    }

    #[cold]
    fn push_page(&mut self, first: T) {
        let mut page = Vec::with_capacity(if self.pages.is_empty() { 1 } else { PAGE });
        page.push(first);
        self.pages.push(page);
    }

    /// All elements, by place.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flatten()
    }
}

impl<T> Index<usize> for Pages<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: usize) -> &T {
        &self.pages[place / PAGE][place % PAGE]
    }
}

impl<T> IndexMut<usize> for Pages<T> {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut T {
        &mut self.pages[place / PAGE][place % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_all_pages_are_found_and_stay_where_they_are() {
        let mut list = Pages::new();
        assert!(list.is_empty());
        let count = 3 * PAGE + 7;
        for element in 0..PAGE {
            assert_eq!(list.push(element), element);
        }
        let first: *const usize = &list[0];
        for element in PAGE..count {
            assert_eq!(list.push(element), element);
        }
        assert_eq!((list.len(), list.is_empty(), list.get(count)), (count, false, None));
        assert!(list.iter().enumerate().all(|(place, &element)| place == element && list[place] == element));
        list[PAGE] += 1;
        assert_eq!(list.get_mut(PAGE), Some(&mut (PAGE + 1)));
        assert_eq!(&raw const list[0], first);
    }
}
