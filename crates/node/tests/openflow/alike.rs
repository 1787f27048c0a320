//! Random programmes: forty in continuous integration, a thousand with `TWINPLANE_CAMPAIGN=25`.

use super::differences::is_excused;
use super::ovs::{Ovs, PROGRAMS};
use super::programme::Programme;
use super::run::run;
use super::subject::Ours;

#[test]
fn random_programmes_are_answered_as_open_vswitch_answers_them() {
    if !PROGRAMS.into_iter().all(testing::available) {
        return;
    }
    let mut theirs = Ovs::start("random");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for number in testing::runs(40) {
        let programme = Programme::random(number);
        let ours = run(&mut Ours::new(), &programme, 0);
        let theirs = run(&mut theirs, &programme, ours.last().map_or(0, Vec::len));
        count += 1;
        let is_wrong = |at: &usize| {
            ours[*at] != theirs[*at] && !is_excused(programme.steps.get(*at), &ours[*at], &theirs[*at])
        };
        let Some(at) = (0..ours.len()).find(is_wrong) else { continue };
        wrong.push(number);
        if wrong.len() <= 12 {
            println!(
                "== programme {number}, version {}, step {at} of {}",
                programme.version.name(),
                ours.len()
            );
            let told = if count == 1 { 0 } else { at };
            for (step, seen) in programme.steps.iter().zip(&ours).take(at + 1).skip(told) {
                println!("  {step:?} {seen:?}");
            }
            for line in ours[at].iter().filter(|line| !theirs[at].contains(line)) {
                println!("  - ours:   {line}");
            }
            for line in theirs[at].iter().filter(|line| !ours[at].contains(line)) {
                println!("  + theirs: {line}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} programmes: {wrong:?}", wrong.len());
}
