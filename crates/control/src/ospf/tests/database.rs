//! Instances and their ages.

use super::super::database::{Database, Instance};
use super::net::id;
use base::{Span, Time};
use wire::ospf::{INITIAL_SEQUENCE, Lsa, LsaBody, LsaKey, LsaKind, MAX_AGE, Router, options};

fn instance(node: usize, age: u16, now: Time) -> Instance {
    let key = LsaKey { kind: LsaKind::ROUTER, id: id(node), router: id(node) };
    let body = LsaBody::Router(Router::default());
    let (sequence, checksum, correct_checksum) = (INITIAL_SEQUENCE, None, None);
    let lsa = Lsa { age, options: options::E, key, sequence, checksum, correct_checksum, body };
    Instance::read(&lsa.write().expect("bytes"), now, true).expect("an instance")
}

#[test]
fn instances_age_by_the_second_and_end_at_max_age() {
    let start = Time::ZERO + Span::from_secs(100);
    let mut database = Database::default();
    let one = instance(1, 3000, start);
    database.install(one.clone());
    database.install(instance(2, 0, start));
    assert_eq!(one.age(start + Span::from_ms(1_999)), 3001);
    assert_eq!(one.age_sent(start, 1), 3001);
    assert_eq!(one.age_sent(start + Span::from_secs(9_999), 1), MAX_AGE);
    let end = start + Span::from_secs(600);
    assert_eq!((database.due(), database.expire(start)), (Some(end), None));
    let old = database.expire(end).expect("an instance that is too old");
    assert_eq!((old.key(), old.age(end), database.expire(end)), (one.key(), MAX_AGE, None));
    assert_eq!(database.old().count(), 1);
    assert_eq!((database.iter().filter(|one| one.age(end) < MAX_AGE).count(), database.len()), (1, 2));
    database.remove(&one.key());
    assert_eq!((database.old().count(), database.len(), database.is_empty()), (0, 1, false));
    assert_eq!(database.due(), Some(start + Span::from_secs(3600)));
}
