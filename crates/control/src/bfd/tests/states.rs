use super::super::states::SessionState;
use crate::machine::State;

/// RFC 5880, 6.8.6: whoever changes the machine changes this text, too.
#[test]
fn the_states_of_a_session() {
    let expected = "\
AdminDown --Enabled--> Down
Down --HearDown--> Init
Down --HearInit--> Up
Down --HearAdminDown--> Down
Down --HearUp--> Down
Down --Disabled--> AdminDown
Init --HearDown--> Init
Init --HearInit--> Up
Init --HearUp--> Up
Init --HearAdminDown--> Down
Init --Expired--> Down
Init --Disabled--> AdminDown
Up --HearInit--> Up
Up --HearUp--> Up
Up --HearDown--> Down
Up --HearAdminDown--> Down
Up --Expired--> Down
Up --Disabled--> AdminDown";
    assert_eq!(SessionState::CHART.lines().join("\n"), expected);
}
