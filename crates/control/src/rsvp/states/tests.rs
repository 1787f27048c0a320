use super::{CHARTS, PathState, ResvState, StandbyState};
use crate::machine::Chart;
use crate::rsvp::Rsvp;

impl Rsvp {
    /// What each block holds is what its state says.
    pub(in crate::rsvp) fn assert_states(&self) {
        for (index, lsp) in self.store.iter() {
            let reserved = !matches!(lsp.resv, ResvState::Absent | ResvState::Suspended | ResvState::Parked);
            assert_eq!(reserved, lsp.is_reserved(), "LSP {index}: {:?}", lsp.resv);
            assert!(lsp.resv != ResvState::Absent || lsp.in_label.is_none(), "LSP {index} has a label");
            let goes_on = matches!(lsp.path, PathState::Ingress | PathState::Transit);
            assert_eq!(goes_on, lsp.next_hop.is_some(), "LSP {index}: {:?}", lsp.path);
            assert!(!matches!(lsp.path, PathState::New | PathState::Gone), "LSP {index}: {:?}", lsp.path);
        }
        for (index, tunnel) in self.tunnels.iter() {
            let state = tunnel.state;
            let [active, candidate, mapping] =
                [tunnel.active.is_some(), tunnel.candidate.is_some(), tunnel.moving.is_some()];
            let said = [state.has_active(), state.has_candidate(), state.is_mapping()];
            assert_eq!(said, [active, candidate, mapping], "tunnel {index}: {state:?}");
            let standby = tunnel.computed.as_ref().map(|computed| &computed.standby);
            if let Some(standby) = standby {
                let there = standby.lsp.and_then(|lsp| self.store.get(lsp));
                let said = match standby.state {
                    StandbyState::Absent => None,
                    StandbyState::Signalling => Some(false),
                    StandbyState::Ready => Some(true),
                };
                assert_eq!(
                    said,
                    there.map(|lsp| lsp.is_reserved()),
                    "standby of {index}: {:?}",
                    standby.state
                );
            }
        }
        assert_eq!(self.faults().iter().collect::<Vec<_>>(), []);
    }
}

fn chart(title: &str) -> &'static Chart {
    CHARTS.iter().find(|chart| chart.title == title).expect(title)
}

// The machines as they are: whoever changes one changes its text here, too.

#[test]
fn steps_of_path_state_block() {
    let expected = "\
New --Forwarded--> Transit
New --Terminated--> Egress
Ingress --Withdrawn--> Gone
Transit --Forwarded--> Transit
Transit --Terminated--> Egress
Transit --NextHopLost--> Stranded
Transit --PreviousHopLost--> Gone
Transit --Torn--> Gone
Transit --Expired--> Gone
Egress --Forwarded--> Transit
Egress --Terminated--> Egress
Egress --PreviousHopLost--> Gone
Egress --Torn--> Gone
Egress --Expired--> Gone
Egress --LabelRefused--> Gone
Stranded --Forwarded--> Transit
Stranded --Terminated--> Egress
Stranded --PreviousHopLost--> Gone
Stranded --Torn--> Gone
Stranded --Expired--> Gone";
    assert_eq!(chart("Path state block").lines().join("\n"), expected);
}

#[test]
fn steps_of_reservation_state_block() {
    let expected = "\
Absent --Reserved--> Writing
Absent --Unannounced--> Absent
Writing --Reserved--> Writing
Writing --Relabelled--> Writing
Writing --Unannounced--> Writing
Writing --Written--> Installed
Writing --Rerouted--> Suspended
Writing --Released--> Absent
Installed --Reserved--> Installed
Installed --Written--> Installed
Installed --Unannounced--> Installed
Installed --Relabelled--> Writing
Installed --Announced--> Announced
Installed --Rerouted--> Suspended
Installed --Released--> Absent
Announced --Reserved--> Announced
Announced --Written--> Announced
Announced --Announced--> Announced
Announced --Relabelled--> Rewriting
Announced --Unannounced--> Installed
Announced --Rerouted--> Parked
Announced --Released--> Absent
Rewriting --Reserved--> Rewriting
Rewriting --Relabelled--> Rewriting
Rewriting --Written--> Announced
Rewriting --Unannounced--> Writing
Rewriting --Rerouted--> Parked
Rewriting --Released--> Absent
Suspended --Reserved--> Writing
Suspended --Unannounced--> Suspended
Suspended --Released--> Absent
Parked --Reserved--> Rewriting
Parked --Unannounced--> Suspended
Parked --Released--> Absent";
    assert_eq!(chart("Reservation state block").lines().join("\n"), expected);
}

#[test]
fn steps_of_protection() {
    let expected = "\
Unprotected --Chosen--> Available
Unprotected --Withdrawn--> Unprotected
Available --Chosen--> Available
Available --Withdrawn--> Unprotected
Available --Failed--> InUse
InUse --Chosen--> InUse
InUse --Failed--> InUse
InUse --Withdrawn--> Unprotected
InUse --Restored--> Reverting
Reverting --Chosen--> Reverting
Reverting --Restored--> Reverting
Reverting --Withdrawn--> Unprotected
Reverting --Failed--> InUse
Reverting --Reverted--> Available";
    assert_eq!(chart("Protection").lines().join("\n"), expected);
}

#[test]
fn steps_of_detour() {
    let expected = "\
Waiting --Signalled--> Signalled
Waiting --Lost--> Waiting
Signalled --Reserved--> Ready
Signalled --Lost--> Waiting
Ready --Reserved--> Ready
Ready --Lost--> Waiting";
    assert_eq!(chart("Detour").lines().join("\n"), expected);
}

#[test]
fn steps_of_sub_group_of_a_p2mp_lsp() {
    let expected = "\
Waiting --Announced--> Announced
Waiting --Unannounced--> Waiting
Waiting --Torn--> Gone
Waiting --Expired--> Gone
Waiting --PreviousHopLost--> Gone
Announced --Announced--> Announced
Announced --Unannounced--> Waiting
Announced --Torn--> Gone
Announced --Expired--> Gone
Announced --PreviousHopLost--> Gone";
    assert_eq!(chart("Sub-group of a P2MP LSP").lines().join("\n"), expected);
}

#[test]
fn steps_of_branch_of_a_p2mp_lsp() {
    let expected = "\
Signalled --Reserved--> Reserved
Signalled --Released--> Signalled
Signalled --Emptied--> Gone
Reserved --Reserved--> Reserved
Reserved --Released--> Signalled
Reserved --Emptied--> Gone";
    assert_eq!(chart("Branch of a P2MP LSP").lines().join("\n"), expected);
}

#[test]
fn steps_of_label_of_a_p2mp_lsp() {
    let expected = "\
Absent --Fed--> Writing
Writing --Fed--> Writing
Writing --Written--> InForce
Writing --Emptied--> Absent
InForce --Fed--> InForce
InForce --Written--> InForce
InForce --Emptied--> Absent";
    assert_eq!(chart("Label of a P2MP LSP").lines().join("\n"), expected);
}

#[test]
fn steps_of_s2l_sub_lsp_at_the_root() {
    let expected = "\
Down --Signalled--> Signalling
Down --Failed--> Down
Down --Withdrawn--> Down
Signalling --Reserved--> Up
Signalling --Failed--> Down
Signalling --Withdrawn--> Down
Up --Reserved--> Up
Up --Failed--> Down
Up --Withdrawn--> Down";
    assert_eq!(chart("S2L sub-LSP at the root").lines().join("\n"), expected);
}

#[test]
fn steps_of_tunnel() {
    let expected = "\
Down --Signalled--> Signalling
Signalling --Mapped--> Mapping
Signalling --Moved--> Up
Signalling --Abandoned--> Down
Mapping --Mapped--> Mapping
Mapping --Moved--> Up
Mapping --Abandoned--> Down
Up --Signalled--> Rerouting
Up --Dropped--> Down
Rerouting --Mapped--> Moving
Rerouting --Moved--> Up
Rerouting --Abandoned--> Up
Rerouting --Dropped--> Signalling
Moving --Mapped--> Moving
Moving --Moved--> Up
Moving --Abandoned--> Up
Moving --Dropped--> Mapping";
    assert_eq!(chart("Tunnel").lines().join("\n"), expected);
}

#[test]
fn steps_of_standby() {
    let expected = "\
Absent --Signalled--> Signalling
Signalling --Reserved--> Ready
Signalling --Failed--> Absent
Signalling --Withdrawn--> Absent
Signalling --Promoted--> Absent
Ready --Reserved--> Ready
Ready --Failed--> Absent
Ready --Withdrawn--> Absent
Ready --Promoted--> Absent";
    assert_eq!(chart("Standby LSP of a tunnel").lines().join("\n"), expected);
}

#[test]
fn steps_of_selector() {
    let expected = "\
Idle --SelectedWorking--> Working
Working --SelectedWorking--> Working
Working --SelectedOther--> Protecting
Working --Emptied--> Idle
Protecting --SelectedWorking--> Working
Protecting --SelectedOther--> Protecting
Protecting --Mended--> Restoring
Protecting --Emptied--> Idle
Restoring --SelectedWorking--> Working
Restoring --Failed--> Protecting
Restoring --Emptied--> Idle";
    assert_eq!(chart("Selector of a tunnel").lines().join("\n"), expected);
}

#[test]
fn steps_of_hellos() {
    let expected = "\
Unknown --Reflected--> Up
Unknown --NotReflected--> Heard
Unknown --Unidentified--> Unknown
Heard --Reflected--> Up
Heard --NotReflected--> Heard
Heard --Restarted--> Heard
Heard --Unidentified--> Unknown
Up --Reflected--> Up
Up --NotReflected--> Up
Up --Restarted--> Heard
Up --Mismatched--> Unknown
Up --Silent--> Unknown
Up --Unidentified--> Unknown";
    assert_eq!(chart("Hellos with a neighbour").lines().join("\n"), expected);
}

#[test]
fn steps_of_refresh_reduction() {
    let expected = "\
Plain --Offered--> Capable
Plain --NotOffered--> Plain
Plain --Refused--> Refusing
Capable --Offered--> Capable
Capable --NotOffered--> Plain
Capable --Refused--> Refusing
Refusing --Offered--> Refusing
Refusing --NotOffered--> Refusing
Refusing --Refused--> Refusing";
    assert_eq!(chart("Refresh reduction with a neighbour").lines().join("\n"), expected);
}

/// Which states can be reached, by their places.
fn reached(chart: &Chart) -> Vec<bool> {
    let mut reached = vec![false; chart.states.len()];
    chart.begins.iter().for_each(|&state| reached[state] = true);
    while let Some(step) = chart.steps.iter().find(|step| reached[step.from] && !reached[step.to]) {
        reached[step.to] = true;
    }
    reached
}

#[test]
fn every_state_is_reached_and_left_and_every_event_means_something() {
    assert_eq!(CHARTS.len(), 14);
    for chart in CHARTS {
        assert!(reached(chart).into_iter().all(|reached| reached), "{}", chart.title);
        for (event, entry) in chart.events.iter().enumerate() {
            assert!(chart.steps.iter().any(|step| step.event == event), "{}: {}", chart.title, entry.name);
        }
        for (state, entry) in chart.states.iter().enumerate() {
            let left = chart.steps.iter().any(|step| step.from == state && step.to != state);
            let ends = matches!(entry.name, "Gone" | "Refusing");
            assert!(left != ends, "{}: {}", chart.title, entry.name);
        }
    }
}

#[test]
fn steps_of_p2mp_lsp_at_the_root() {
    let expected = "\
Making --Moved--> Carrying
Carrying --Replaced--> Retiring
Carrying --Refused--> Making
Retiring --Stayed--> Carrying";
    assert_eq!(chart("P2MP LSP at the root").lines().join("\n"), expected);
}
