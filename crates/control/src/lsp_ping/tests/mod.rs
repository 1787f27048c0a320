mod judge;
mod several;
mod speaker;
mod speaker6;
mod verify;
