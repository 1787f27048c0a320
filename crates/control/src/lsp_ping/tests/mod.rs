mod judge;
mod speaker;
mod speaker6;
