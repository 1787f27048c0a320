mod adjacency;
mod areas;
mod database;
mod flooding;
mod net;
mod routes;
mod spf;
mod states;
