mod database;
mod independent;
