mod judge;
mod speaker;
