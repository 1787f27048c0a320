mod adjacency;
mod database;
mod flooding;
mod net;
mod routes;
mod spf;
mod states;
