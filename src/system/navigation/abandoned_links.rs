//! Links that agents give up for some time, because what should move them over the link has failed:
//! until then, the link is closed for them, and they take another way if there is one.

use super::agent::{Agent, AgentState};
use super::agents::Agents;
use super::path::PolygonPath;
use engine_foundation::handle::Handle;

/// Seconds for which an agent does not use a link that it has given up.
pub const ABANDONED_SECONDS: f32 = 10.0;

/// Link that an agent has given up, and the seconds until it is open for it again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct AbandonedLink {
    link: u32,
    seconds: f32,
}

impl AbandonedLink {
    pub fn write_state(&self, write: &mut impl FnMut(u64)) {
        write(u64::from(self.seconds.to_bits()));
    }
}

impl Agents {
    /// Takes an agent off a manual link, at whose start it waits, and closes the link for it for
    /// [`ABANDONED_SECONDS`]. It searches another way. Returns false if it waits on none.
    pub fn give_up_link(&mut self, agent: Handle) -> bool {
        let waiting = self.slots.get_mut(agent).filter(|agent| agent.waits_on_link());
        let Some(known) = waiting else { return false };
        let link = known.link().unwrap_or_default();
        known.abandon_link();
        if known.destination.is_some() {
            known.path = PolygonPath::default();
            known.state = AgentState::Waiting;
        } else {
            known.wait_for_ground();
        }
        known.abandoned.retain(|known| known.link != link);
        known.abandoned.push(AbandonedLink { link, seconds: ABANDONED_SECONDS });
        let result = self.change_costs(agent, |costs| costs.set_closed(link, true));
        // Without another set of costs, it waits before it tries again.
        if let (Err(_), Some(known)) = (result, self.slots.get_mut(agent)) {
            known.abandoned.pop();
            if known.state == AgentState::Waiting {
                known.block();
            }
        }
        true
    }

    /// Opens the links again that agents of a mesh gave up long enough ago.
    pub(super) fn reopen_links(&mut self, mesh: Handle, step: f32) {
        let mut due = Vec::new();
        let of_mesh = |(_, agent): &(Handle, &mut Agent)| agent.mesh == mesh;
        for (handle, agent) in self.slots.iter_mut().filter(of_mesh) {
            agent.abandoned.retain_mut(|abandoned| {
                abandoned.seconds -= step;
                if abandoned.seconds <= 0.0 {
                    due.push((handle, abandoned.link));
                }
                abandoned.seconds > 0.0
            });
        }
        for (handle, link) in due {
            // There are as many sets of costs as before, at most, unless others have changed
            // theirs: then it is closed for longer.
            let opened = self.change_costs(handle, |costs| costs.set_closed(link, false));
            if let (Err(_), Some(agent)) = (opened, self.slots.get_mut(handle)) {
                agent.abandoned.push(AbandonedLink { link, seconds: ABANDONED_SECONDS });
            }
        }
    }
}
