//! Several speakers on an in-memory bus, with a driver that acknowledges what is written.

mod admission;
mod adspec;
mod alternatives;
mod bus;
mod cells;
mod computed;
mod detour_campaign;
mod detour_merge;
mod detour_paths;
mod detour_wishes;
mod detours;
mod diffserv;
mod diffserv_bytes;
mod diffserv_life;
mod errors;
mod failures;
mod fuzz;
mod mapping;
mod messages;
mod one_plus_one;
mod p2mp;
mod programmes;
mod protection;
mod recorded_labels;
mod refreshes;
mod reliability;
mod reroute;
mod rules;
mod setup;
mod te;

use bus::{Net, hops, spec};
