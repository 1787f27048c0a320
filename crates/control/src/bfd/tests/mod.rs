mod lsp;
mod pair;
mod sessions;
mod speaker;
mod states;
