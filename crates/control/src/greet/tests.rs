use super::neighbor::STEPS;

/// The machine as it is: whoever changes it changes this text, too.
#[test]
fn the_states_of_a_neighbour() {
    let lines: Vec<String> = STEPS
        .iter()
        .map(|(state, seen, next, actions)| format!("{state:?} --{seen:?}--> {next:?} {actions:?}"))
        .collect();
    let expected = "\
Unknown --Hello--> Heard [Meet]
Heard --Session--> Connected [Tell]
Connected --Label--> Labelled []
Connected --Closed--> Unknown [Forget]
Labelled --Closed--> Unknown [Forget]
Heard --Closed--> Unknown [Forget]
Heard --Silence--> Unknown [Forget]
Connected --Silence--> Unknown [Forget]
Labelled --Silence--> Unknown [Forget]";
    assert_eq!(lines.join("\n"), expected);
}
