mod lsp;
mod multipoint;
mod pair;
mod sessions;
mod speaker;
mod states;
