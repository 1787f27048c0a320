//! State machines as tables: which states there are, what can happen in each of them, and where that leads.
//!
//! [`machine!`](crate::machine!) declares states, events and steps in one place. The table that it makes of them is
//! what runs ([`State::next`]), what tests compare with a text, and what the documentation draws ([`Chart`]).

use core::fmt::Debug;

/// The states of a machine.
pub trait State: Copy + Debug + 'static {
    /// What makes a machine of this kind take a step: an enum without data.
    type Event: Copy + Debug;

    /// The whole machine, as data.
    const CHART: Chart;

    /// The state that an event leads to; nothing if the machine has no such step.
    fn next(self, event: Self::Event) -> Option<Self>;
}

/// A machine for people: in tests and in the documentation.
#[derive(Clone, Copy, Debug)]
pub struct Chart {
    /// What goes through these states, in a few words.
    pub title: &'static str,
    /// What is to be known of the machine as a whole.
    pub about: &'static str,
    /// The states, in the order of their declaration.
    pub states: &'static [Entry],
    /// The events, in the order of their declaration.
    pub events: &'static [Entry],
    /// The states in which it can begin, by their places among `states`.
    pub begins: &'static [usize],
    /// Every step that there is.
    pub steps: &'static [Step],
}

/// A state or an event.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in the code.
    pub name: &'static str,
    /// What being in this state means, in words for the page of states.
    pub meaning: &'static str,
}

/// A step of a machine; states and events by their places in the [`Chart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the state that the step leaves.
    pub from: usize,
    /// The number of the event that makes it.
    pub event: usize,
    /// The state after, which may be the same.
    pub to: usize,
}

impl Chart {
    /// The names of a step: state before, event, state after.
    pub fn names(&self, step: &Step) -> [&'static str; 3] {
        let name = |entries: &[Entry], place: usize| entries.get(place).map_or("", |entry| entry.name);
        [name(self.states, step.from), name(self.events, step.event), name(self.states, step.to)]
    }

    /// The steps as text, a line for each.
    pub fn lines(&self) -> Vec<String> {
        let line = |step| {
            let [from, event, to] = self.names(step);
            format!("{from} --{event}--> {to}")
        };
        self.steps.iter().map(line).collect()
    }
}

/// Declares a machine: its states, its events, where it can begin, and its steps.
///
/// ```ignore
/// machine! {
///     /// What is to be known of it as a whole.
///     machine "A door";
///     /// Where a door stands.
///     pub enum Door {
///         /// Nobody can pass.
///         Shut,
///         /// Everybody can.
///         Open,
///     }
///     /// What is done to a door.
///     pub enum Done {
///         /// Somebody pushes it.
///         Pushed,
///         /// Somebody pulls it.
///         Pulled,
///     }
///     begins { Shut }
///     steps {
///         Shut: Pushed => Open;
///         Open: Pushed => Open, Pulled => Shut;
///     }
/// }
/// ```
///
/// Several events that lead to the same state are joined by `|`. A step that is declared twice does not compile.
#[macro_export]
macro_rules! machine {
    (
        $(#[doc = $about:literal])*
        machine $title:literal;
        $(#[doc = $states:literal])*
        $vis:vis enum $State:ident { $( $(#[doc = $state_doc:literal])* $state:ident, )* }
        $(#[doc = $events:literal])*
        $event_vis:vis enum $Event:ident { $( $(#[doc = $event_doc:literal])* $event:ident, )* }
        begins { $($begin:ident),* }
        steps { $( $from:ident : $( $( $on:ident )|+ => $to:ident ),* ; )* }
    ) => {
        $(#[doc = $states])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $State { $( $(#[doc = $state_doc])* $state ),* }

        $(#[doc = $events])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $event_vis enum $Event { $( $(#[doc = $event_doc])* $event ),* }

        impl $crate::machine::State for $State {
            type Event = $Event;

            const CHART: $crate::machine::Chart = $crate::machine::Chart {
                title: $title,
                about: concat!($($about),*),
                states: &[
                    $( $crate::machine::Entry { name: stringify!($state), meaning: concat!($($state_doc),*) } ),*
                ],
                events: &[
                    $( $crate::machine::Entry { name: stringify!($event), meaning: concat!($($event_doc),*) } ),*
                ],
                begins: &[$($State::$begin as usize),*],
                steps: &[$($($(
                    $crate::machine::Step {
                        from: $State::$from as usize,
                        event: $Event::$on as usize,
                        to: $State::$to as usize,
                    },
                )+)*)*],
            };

            #[inline]
            fn next(self, event: $Event) -> Option<$State> {
                const STATES: usize = [$($State::$state),*].len();
                const EVENTS: usize = [$($Event::$event),*].len();
                const TABLE: [[Option<$State>; EVENTS]; STATES] = {
                    let mut table = [[None; EVENTS]; STATES];
                    $($($(
                        let place = &mut table[$State::$from as usize][$Event::$on as usize];
                        assert!(place.is_none(), "a step is declared twice");
                        *place = Some($State::$to);
                    )+)*)*
                    table
                };
                TABLE[self as usize][event as usize]
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::State;

    machine! {
        /// A door for tests.
        machine "A door";
        /// Where it stands.
        enum Door {
            /// Nobody can pass.
            Shut,
            /// Everybody can
            /// pass.
            Open,
        }
        /// What is done to it.
        enum Done {
            /// Somebody pushes it.
            Pushed,
            /// Somebody pulls it.
            Pulled,
            /// Somebody leaves it alone.
            Left,
        }
        begins { Shut }
        steps {
            Shut: Pushed => Open;
            Open: Pushed | Left => Open, Pulled => Shut;
        }
    }

    #[test]
    fn what_runs_and_what_is_drawn_are_one_table() {
        let chart = Door::CHART;
        let (states, events) = ([Door::Shut, Door::Open], [Done::Pushed, Done::Pulled, Done::Left]);
        for (from, state) in states.into_iter().enumerate() {
            for (event, done) in events.into_iter().enumerate() {
                let drawn = chart.steps.iter().find(|step| (step.from, step.event) == (from, event));
                assert_eq!(state.next(done), drawn.map(|step| states[step.to]));
            }
        }
        let lines = [
            "Shut --Pushed--> Open",
            "Open --Pushed--> Open",
            "Open --Left--> Open",
            "Open --Pulled--> Shut",
        ];
        assert_eq!(chart.lines(), lines);
        assert_eq!(
            (chart.title, chart.about.trim(), chart.begins),
            ("A door", "A door for tests.", &[0][..])
        );
        assert_eq!(chart.states[1].meaning, " Everybody can pass.");
    }
}
