//! Point-to-multipoint LSPs in networks of routers in memory: what they say arrives in order, and when chance wants it,
//! as do routes and answers of the tables. [`Net::quiet`] says what is to be true when nothing is under way any more.

mod answers;
mod net;
mod programmes;
mod rules;
