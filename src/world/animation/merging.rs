//! Merging of characters: those in the same state, at nearly the same time, show one pose, which is
//! evaluated once. Its state machines, events and root motion go on for each of them.
//!
//! In each update, a character follows the one that it followed before, or the first one in the
//! order of the units whose state is near enough; otherwise it leads. The result depends on nothing
//! but the state of the characters, so that it is equal on any number of threads, and after a
//! restored snapshot, where the table can have another order.

use super::character::Character;
use super::state_machine::CharacterMachine;
use super::{Animations, NONE};
use crate::unit::UnitId;
use engine_animation::ClipInfo;
use engine_foundation::hash::{IdentityHasher, StateHash};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// Maximum number of characters that a character is compared with in one update.
const CANDIDATES_MAX: usize = 8;

/// Limits within which a character shows the pose of another one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MergeOptions {
    /// Seconds by which a state may begin after its start, if another character is there.
    pub max_start_time: f32,
    /// Largest difference of times in seconds between characters that show one pose.
    pub max_drift: f32,
    /// Part of the speed that is kept: with 0.9, animations are up to 10 % faster or slower, so
    /// that the difference of times becomes 0.
    pub clock_fidelity: f32,
}

impl MergeOptions {
    /// Only equal poses are shared.
    pub const DEFAULT: MergeOptions =
        MergeOptions { max_start_time: 0.0, max_drift: 0.0, clock_fidelity: 1.0 };
}

/// Merging of a character.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Merging {
    pub options: MergeOptions,
    /// Character whose pose is shown since the last update.
    leader: Option<UnitId>,
    /// Factor of the seconds of the next update.
    pub rate: f32,
}

impl Merging {
    pub fn new(options: MergeOptions) -> Merging {
        Merging { options, leader: None, rate: 1.0 }
    }

    pub fn write_state(&self, hash: &mut StateHash) {
        let MergeOptions { max_start_time, max_drift, clock_fidelity } = self.options;
        for number in [max_start_time, max_drift, clock_fidelity, self.rate] {
            hash.write_f32(number);
        }
        hash.write_u64(self.leader.map_or(u64::MAX, |leader| u64::from(leader.row())));
    }
}

type NumberMap<V> = HashMap<u64, V, BuildHasherDefault<IdentityHasher>>;

/// Memory for finding characters in the same state.
#[derive(Default)]
pub(super) struct MergeTable {
    /// Last leader in the table with each key of [`key`].
    leaders: NumberMap<u32>,
    /// The leader before each leader with the same key, or [`NONE`], by the index of the character.
    before: Vec<u32>,
    /// True for each character that leads.
    leads: Vec<bool>,
    /// Least time in each state that characters are in, with the key of [`state_key`].
    times: NumberMap<f32>,
    /// Characters with a state that began in this update, and its layer.
    new_states: Vec<(u32, u16)>,
    /// Characters that show the pose of a leader, with its index.
    pub followers: Vec<(u32, u32)>,
}

impl MergeTable {
    fn clear(&mut self, characters: usize) {
        self.leaders.clear();
        self.before.clear();
        self.before.resize(characters, NONE);
        self.leads.clear();
        self.leads.resize(characters, false);
    }

    fn add_leader(&mut self, key: u64, index: usize) {
        self.before[index] = self.leaders.insert(key, index as u32).unwrap_or(NONE);
        self.leads[index] = true;
    }
}

fn mix(number: u64, part: u64) -> u64 {
    (number.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Returns the key of characters with the same machine, bones, options and clips, whose first clip
/// is in a cell of time. Cells are as long as the drift that is allowed.
fn key(character: &Character, machine: &CharacterMachine, merging: &Merging, cell: i64) -> u64 {
    let MergeOptions { max_drift, .. } = merging.options;
    let number = mix(machine.output.signature(), machine.bound.number as u64);
    let mode = u64::from(max_drift.to_bits()) << 8 | character.bone_mode() as u64;
    let bones = character.bone_set_number() as u64;
    // The hasher of the table takes the number as it is.
    mix(mix(mix(number, mode), bones), cell as u64)
}

/// Returns the cell of time that the first clip of a character is in.
fn cell_of(machine: &CharacterMachine, drift: f32) -> i64 {
    let time = machine.output.samples.first().map_or(0.0, |sample| sample.time);
    match drift > 0.0 {
        true => (time / drift) as i64,
        false => i64::from(time.to_bits()),
    }
}

fn state_key(machine: &CharacterMachine, layer: u16, state: u16) -> u64 {
    mix(mix(machine.bound.number as u64, layer.into()), state.into())
}

impl Animations {
    /// Chooses the characters that show the pose of another one in this update.
    pub(super) fn merge(&mut self, seconds: f32) {
        let mut table = std::mem::take(&mut self.merges);
        table.followers.clear();
        if self.characters.iter().any(|it| it.is_due && it.merging.is_some()) {
            table.clear(self.characters.len());
            // Characters that led lead again, before those that followed look for a leader.
            for followed in [false, true] {
                for row in 0..self.index_of.len() {
                    let index = self.index_of[row];
                    if index != NONE {
                        self.find_leader(&mut table, index as usize, followed, seconds);
                    }
                }
            }
        }
        self.merges = table;
    }

    /// Moves states that began in this update to the time of other characters in them.
    pub(super) fn begin_states_together(&mut self, seconds: f32) {
        let merging = |it: &Character| {
            it.merging.filter(|merging| it.is_due && merging.options.max_start_time > 0.0)
        };
        if !self.characters.iter().any(|it| merging(it).is_some()) {
            return;
        }
        let MergeTable { times, new_states, .. } = &mut self.merges;
        times.clear();
        new_states.clear();
        // In the order of the units' rows, which a restored snapshot has again.
        for index in self.index_of.iter().filter(|index| **index != NONE) {
            let character = &self.characters[*index as usize];
            let Some(Merging { rate, .. }) = merging(character) else { continue };
            let Some(machine) = &character.machine else { continue };
            for layer in 0..machine.bound.machine.layers().len() as u16 {
                let Some(found) = machine.state.state_time(layer) else { continue };
                if found.age <= seconds * rate {
                    new_states.push((*index, layer));
                    continue;
                }
                let key = state_key(machine, layer, found.state);
                match times.get(&key).copied() {
                    Some(time) if time <= found.time => {}
                    _ => drop(times.insert(key, found.time)),
                }
            }
        }
        for (index, layer) in new_states.iter().copied() {
            let character = &mut self.characters[index as usize];
            let Some(Merging { options, .. }) = character.merging else { continue };
            let Some(machine) = &mut character.machine else { continue };
            let Some(found) = machine.state.state_time(layer) else { continue };
            let key = state_key(machine, layer, found.state);
            let CharacterMachine { bound, state, output, .. } = machine;
            match times.get(&key).copied() {
                Some(time) if time <= options.max_start_time => {
                    state.set_state_time(layer, time, &bound.infos, output);
                }
                Some(_) => {}
                None => drop(times.insert(key, found.time)),
            }
        }
    }

    /// Finds the leader of a character, or lets it lead.
    fn find_leader(&mut self, table: &mut MergeTable, index: usize, followed: bool, seconds: f32) {
        let character = &self.characters[index];
        let Some(merging) = character.merging.filter(|_| character.is_due) else { return };
        if merging.leader.is_some() != followed {
            return;
        }
        let chosen = self.choose_leader(table, index, &merging);
        let character = &mut self.characters[index];
        let fidelity = merging.options.clock_fidelity;
        let merging = character.merging.as_mut().expect("it was found");
        merging.rate = 1.0;
        merging.leader = chosen.map(|(unit, _, _)| unit);
        let Some((_, leader, offset)) = chosen else { return };
        if seconds > 0.0 {
            merging.rate += (offset / seconds).clamp(fidelity - 1.0, 1.0 - fidelity);
        }
        // The pose is not evaluated, but shown.
        character.is_due = false;
        table.followers.push((index as u32, leader));
    }

    /// Returns the leader of a character, its index, and the seconds by which its clock is ahead.
    /// `None`: the character leads.
    fn choose_leader(
        &self,
        table: &mut MergeTable,
        index: usize,
        merging: &Merging,
    ) -> Option<(UnitId, u32, f32)> {
        let character = &self.characters[index];
        let machine = character.machine.as_ref().filter(|it| character.can_merge(it))?;
        let drift = merging.options.max_drift;
        let compare = |other: u32| {
            let other = &self.characters[other as usize];
            let leads =
                other.is_due && other.merging.is_some_and(|it| it.options == merging.options);
            let theirs = other.machine.as_ref().filter(|it| leads && other.can_merge(it))?;
            let is_same = Arc::ptr_eq(&theirs.bound, &machine.bound)
                && other.bone_mode() == character.bone_mode()
                && other.has_same_weights(character)
                && other.bone_set_number() == character.bone_set_number();
            let infos: &[ClipInfo] = &machine.bound.infos;
            is_same.then(|| machine.output.offset_of(&theirs.output, infos, drift)).flatten()
        };
        let known = merging.leader.and_then(|leader| self.index_of.get(leader.row() as usize));
        let known = known.copied().filter(|known| table.leads.get(*known as usize) == Some(&true));
        if let Some(leader) = known
            && Some(self.characters[leader as usize].unit) == merging.leader
            && let Some(offset) = compare(leader)
        {
            return Some((self.characters[leader as usize].unit, leader, offset));
        }
        let cell = cell_of(machine, drift);
        let near = [cell, cell - 1, cell + 1];
        let near = if drift > 0.0 { &near[..] } else { &near[..1] };
        for cell in near {
            let first = table.leaders.get(&key(character, machine, merging, *cell)).copied();
            let mut next = first.unwrap_or(NONE);
            for _ in 0..CANDIDATES_MAX {
                if next == NONE {
                    break;
                }
                if let Some(offset) = compare(next) {
                    return Some((self.characters[next as usize].unit, next, offset));
                }
                next = table.before[next as usize];
            }
        }
        table.add_leader(key(character, machine, merging, cell), index);
        None
    }

    /// Shows the poses of leaders in the characters that follow them.
    pub(super) fn show_merged(&mut self, seconds: f32) {
        for (follower, leader) in &self.merges.followers {
            let [follower, leader] = self
                .characters
                .get_disjoint_mut([*follower as usize, *leader as usize])
                .expect("no character follows itself");
            follower.follow(leader, seconds);
            follower.is_due = true;
        }
    }
}
