//! What the streams of a flow have in common at their sink, and what flows do that are not followed one by one.

use crate::batches::Batches;
use crate::course::{Course, CourseBin};
use base::{Span, Time};

/// Whose streams are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A flow's, by its number.
    Flow(u32),
    /// Those of all demands of a class, by its number.
    Class(u32),
}

/// Where the delay over time is kept.
#[derive(Debug)]
enum Following {
    /// Of this flow alone.
    Alone(Course),
    /// In a course that it shares, by its place.
    Shared(u32),
}

/// What streams have in common.
#[derive(Debug)]
struct Together {
    of: Of,
    /// The delays of each phase in order of arrival, for the error of their mean.
    batches: Vec<Batches>,
    following: Following,
}

/// Flows and classes at a sink.
#[derive(Debug, Default)]
pub struct Togethers {
    all: Vec<Together>,
    /// Courses that flows share, by the number of their class.
    shared: Vec<(u32, Course)>,
}

impl Togethers {
    /// Where what these streams have in common is. The streams of a flow are expected one after the other. What
    /// arrives goes into the course of class `class`, with bins of `width` and wider, until it is followed alone.
    pub fn place(&mut self, of: Of, class: u32, phases: usize, width: Span) -> u32 {
        let known = match of {
            Of::Flow(_) => self.all.last().filter(|last| last.of == of).map(|_| self.all.len() - 1),
            Of::Class(_) => self.all.iter().position(|known| known.of == of),
        };
        let place = known.unwrap_or_else(|| {
            let course = self.shared.iter().position(|(known, _)| *known == class).unwrap_or_else(|| {
                self.shared.push((class, Course::bounded(width)));
                self.shared.len() - 1
            });
            let following = Following::Shared(course as u32);
            self.all.push(Together { of, batches: vec![Batches::default(); phases], following });
            self.all.len() - 1
        });
        place as u32
    }

    /// Keeps the delay over time of a flow alone.
    pub fn follow(&mut self, flow: u32, width: Span) {
        if let Some(known) = self.all.iter_mut().rev().find(|known| known.of == Of::Flow(flow)) {
            known.following = Following::Alone(Course::new(width));
        }
    }

    /// There are so many phases now.
    pub fn set_phases(&mut self, count: usize) {
        self.all.iter_mut().for_each(|one| one.batches.resize_with(count, Batches::default));
    }

    /// A packet of the streams at a place arrived in a phase.
    #[inline(always)]
    pub fn record(&mut self, place: u32, phase: usize, now: Time, delay: Span) {
        let together = &mut self.all[place as usize];
        together.batches[phase].record(delay);
        match &mut together.following {
            Following::Alone(course) => course.record(now, delay),
            Following::Shared(at) => self.shared[*at as usize].1.record(now, delay),
        }
    }

    fn flow(&self, flow: u32) -> Option<&Together> {
        self.all.iter().find(|known| known.of == Of::Flow(flow))
    }

    /// The delays of a flow in order of arrival, by phase.
    pub fn batches(&self, flow: u32) -> &[Batches] {
        self.flow(flow).map_or(&[], |known| &known.batches)
    }

    /// Delay over time of a flow that is followed alone.
    pub fn course(&self, flow: u32) -> Option<&Course> {
        match &self.flow(flow)?.following {
            Following::Alone(course) => Some(course),
            Following::Shared(_) => None,
        }
    }

    /// All flows that are followed alone.
    pub fn alone(&self) -> impl Iterator<Item = (u32, &[CourseBin])> {
        self.all.iter().filter_map(|one| match (&one.following, one.of) {
            (Following::Alone(course), Of::Flow(flow)) => Some((flow, course.bins())),
            _ => None,
        })
    }

    /// What all others did, by class.
    pub fn shared(&self) -> impl Iterator<Item = (u32, &Course)> {
        self.shared.iter().map(|(class, course)| (*class, course))
    }
}
