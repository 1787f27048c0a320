use super::multipoint::states::LabelState;
use super::session::SessionState;
use crate::machine::State;

/// The machine as it is: whoever changes it changes this text, too.
#[test]
fn the_states_of_a_session() {
    let expected = "\
NonExistent --Connected--> Initialized
Initialized --InitSent--> OpenSent
Initialized --InitAccepted--> OpenRec
Initialized --Refused--> NonExistent
Initialized --Shutdown--> NonExistent
Initialized --Timeout--> NonExistent
Initialized --Ended--> NonExistent
OpenSent --InitAccepted--> OpenRec
OpenSent --Refused--> NonExistent
OpenSent --Shutdown--> NonExistent
OpenSent --Timeout--> NonExistent
OpenSent --Ended--> NonExistent
OpenRec --KeepAlive--> Operational
OpenRec --Refused--> NonExistent
OpenRec --Shutdown--> NonExistent
OpenRec --Timeout--> NonExistent
OpenRec --Ended--> NonExistent
Operational --KeepAlive--> Operational
Operational --Message--> Operational
Operational --Refused--> NonExistent
Operational --Shutdown--> NonExistent
Operational --Timeout--> NonExistent
Operational --Ended--> NonExistent";
    assert_eq!(SessionState::CHART.lines().join("\n"), expected);
}

/// Likewise for the labels of point-to-multipoint LSPs.
#[test]
fn the_states_of_a_label_of_a_tree() {
    let expected = "\
Writing --Written--> Told
Writing --Failed--> Free
Writing --TakenBack--> Free
Writing --PeerLost--> Free
Told --Released--> Declined
Told --Requested--> Told
Told --Failed--> Withdrawn
Told --TakenBack--> Withdrawn
Told --PeerLost--> Free
Declined --Requested--> Told
Declined --Failed--> Free
Declined --TakenBack--> Free
Declined --PeerLost--> Free
Withdrawn --Released--> Free
Withdrawn --PeerLost--> Free";
    assert_eq!(LabelState::CHART.lines().join("\n"), expected);
}

mod answers;
mod cells;
mod extensions;
mod liveness;
mod multipoint;
mod restarts;
mod sessions;
