mod judge;
mod speaker;
mod speaker6;
mod verify;
