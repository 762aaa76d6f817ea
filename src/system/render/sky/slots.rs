//! The assignment of views to skies: views with the same inputs share the maps of one sky, and a
//! view whose inputs change keeps its sky, whose maps are then updated in steps. Creates no
//! resources.

/// Maximum number of skies and probes in one frame. Those beyond it show the light of the last one.
pub const SKIES_MAX: usize = 24;
/// A sky that no view has used for this number of frames is removed.
const IDLE_FRAMES_MAX: u32 = 120;

/// The inputs of a sky's maps.
pub trait SkyInputs: Clone + PartialEq {
    /// Returns true if maps of these inputs can be updated to those of others. Otherwise they are
    /// drawn at once.
    fn is_updatable(&self, to: &Self) -> bool;

    /// Returns true if the maps of other inputs are the same: only the background differs.
    fn has_same_maps(&self, other: &Self) -> bool;
}

/// A sky.
#[derive(Debug)]
pub struct SkySlot<K> {
    /// The scene and the view, or the probe, of the first request.
    user: (u64, usize),
    /// The newest inputs.
    wanted: K,
    /// The inputs of the maps that are shown; none before the first update has ended.
    shown: Option<K>,
    /// The inputs of the maps that are drawn, and the next step.
    update: Option<(K, usize)>,
    /// Half of the layers that is shown: 0 or 1. The other one is drawn.
    front: u32,
    idle: u32,
    used: bool,
    /// True if the first update is drawn in one frame, whatever it costs.
    is_urgent: bool,
}

/// A request for the maps of a sky or of a probe.
#[derive(Clone, PartialEq, Debug)]
pub struct SkyRequest<K> {
    /// The scene, and the index of the view or of the probe.
    pub user: (u64, usize),
    pub inputs: K,
    /// True if a new sky must be complete in its first frame.
    pub is_urgent: bool,
}

impl<K: SkyInputs> SkySlot<K> {
    fn is_outdated(&self) -> bool {
        self.shown.as_ref().is_none_or(|shown| !shown.has_same_maps(&self.wanted))
    }
}

/// A range of steps that a sky takes in a frame.
#[derive(Clone, PartialEq, Debug)]
pub struct SkyWork<K> {
    pub slot: usize,
    /// The inputs of the maps that are shown, and of those that are drawn.
    pub shown: Option<K>,
    pub inputs: K,
    pub steps: std::ops::Range<usize>,
    /// The layer that is drawn.
    pub layer: u32,
}

/// All skies.
#[derive(Debug)]
pub struct SkySlots<K> {
    slots: Vec<Option<SkySlot<K>>>,
    /// True if a view had to share the sky of another one in this frame.
    pub is_crowded: bool,
}

impl<K> Default for SkySlots<K> {
    fn default() -> SkySlots<K> {
        SkySlots { slots: Vec::new(), is_crowded: false }
    }
}

impl<K: SkyInputs> SkySlots<K> {
    /// Returns one more than the largest index of a sky.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Assigns a sky to each request of a frame.
    pub fn assign(&mut self, requests: &[SkyRequest<K>]) -> Vec<usize> {
        self.is_crowded = false;
        for slot in self.slots.iter_mut().flatten() {
            (slot.used, slot.is_urgent) = (false, false);
        }
        let claims = requests.iter().map(|it| self.claim(|slot| slot.wanted == it.inputs));
        let mut found: Vec<Option<usize>> = claims.collect();
        for (request, found) in requests.iter().zip(&mut found) {
            let other = || self.position(|slot| slot.wanted == request.inputs && slot.used);
            let same = found.or_else(other);
            let at = same.unwrap_or_else(|| self.assign_changed(request.user, &request.inputs));
            *found = Some(at);
            if let Some(slot) = &mut self.slots[at] {
                slot.is_urgent |= request.is_urgent;
            }
        }
        for slot in &mut self.slots {
            if let Some(known) = slot {
                known.idle = if known.used { 0 } else { known.idle + 1 };
                if known.idle > IDLE_FRAMES_MAX {
                    *slot = None;
                }
            }
        }
        while self.slots.last().is_some_and(Option::is_none) {
            self.slots.pop();
        }
        found.into_iter().flatten().collect()
    }

    fn position(&self, is_wanted: impl Fn(&SkySlot<K>) -> bool) -> Option<usize> {
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(&is_wanted))
    }

    /// Finds a sky and marks it as used.
    fn claim(&mut self, is_wanted: impl Fn(&SkySlot<K>) -> bool) -> Option<usize> {
        let at = self.position(is_wanted)?;
        if let Some(slot) = &mut self.slots[at] {
            slot.used = true;
        }
        Some(at)
    }

    /// Finds a sky for inputs that no sky has: the view's own, a free one, or the last one.
    fn assign_changed(&mut self, user: (u64, usize), inputs: &K) -> usize {
        if let Some(at) = self.claim(|slot| slot.user == user && !slot.used) {
            if let Some(slot) = &mut self.slots[at] {
                if !slot.wanted.is_updatable(inputs) {
                    (slot.shown, slot.update) = (None, None);
                }
                slot.wanted = inputs.clone();
            }
            return at;
        }
        let free = self.slots.iter().position(Option::is_none);
        let free = free.or((self.slots.len() < SKIES_MAX).then_some(self.slots.len()));
        let Some(at) = free.or_else(|| self.position(|slot| !slot.used)) else {
            self.is_crowded = true;
            return SKIES_MAX - 1;
        };
        let new = SkySlot {
            user,
            wanted: inputs.clone(),
            shown: None,
            update: None,
            front: 0,
            idle: 0,
            used: true,
            is_urgent: false,
        };
        if at == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[at] = Some(new);
        at
    }

    /// Returns the steps of this frame: all that a new sky needs, and together `budget` of those
    /// whose inputs have changed. `plan` returns the number of steps between the old and the new
    /// inputs.
    pub fn advance(
        &mut self,
        mut budget: usize,
        plan: impl Fn(Option<&K>, &K) -> usize,
    ) -> Vec<SkyWork<K>> {
        let mut all = Vec::new();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            let Some(slot) = slot.as_mut().filter(|slot| slot.used) else { continue };
            if slot.update.is_none() && slot.is_outdated() {
                slot.update = Some((slot.wanted.clone(), 0));
            }
            let Some((inputs, first)) = slot.update.clone() else { continue };
            let count = plan(slot.shown.as_ref(), &inputs);
            let is_limited = slot.shown.is_some() || !slot.is_urgent;
            let end = if is_limited { count.min(first + budget) } else { count };
            if is_limited {
                budget -= end - first;
            }
            if end == first && count > 0 {
                continue;
            }
            let layer = index as u32 * 2 + (1 - slot.front);
            let (shown, inputs_drawn) = (slot.shown.clone(), inputs.clone());
            let steps = first..end;
            all.push(SkyWork { slot: index, shown, inputs: inputs_drawn, steps, layer });
            if end == count {
                slot.front = 1 - slot.front;
                (slot.shown, slot.update) = (Some(inputs), None);
            } else {
                slot.update = Some((inputs, end));
            }
        }
        all
    }

    /// Returns the layer that a sky shows.
    pub fn layer(&self, index: usize) -> Option<u32> {
        let slot = self.slots.get(index)?.as_ref()?;
        slot.shown.as_ref().map(|_| index as u32 * 2 + slot.front)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SkyInputs for u32 {
        fn is_updatable(&self, to: &u32) -> bool {
            self / 1000 == to / 1000
        }

        fn has_same_maps(&self, other: &u32) -> bool {
            self == other
        }
    }

    fn frame(slots: &mut SkySlots<u32>, views: &[u32], budget: usize) -> Vec<SkyWork<u32>> {
        slots.assign(&requests(views));
        slots.advance(budget, |_, _| 5)
    }

    fn requests(views: &[u32]) -> Vec<SkyRequest<u32>> {
        let request = |(i, inputs): (usize, &u32)| SkyRequest {
            user: (1, i),
            inputs: *inputs,
            is_urgent: true,
        };
        views.iter().enumerate().map(request).collect()
    }

    #[test]
    fn probes_are_drawn_within_the_budget_from_the_start() {
        let mut slots = SkySlots::default();
        let mut all = requests(&[1, 2, 3]);
        all[1].is_urgent = false;
        all[2].is_urgent = false;
        let frame = |slots: &mut SkySlots<u32>| {
            slots.assign(&all);
            let works = slots.advance(3, |_, _| 5);
            works.iter().map(|work| (work.slot, work.steps.clone())).collect::<Vec<_>>()
        };
        assert_eq!(frame(&mut slots), [(0, 0..5), (1, 0..3)]);
        assert_eq!((slots.layer(0), slots.layer(1)), (Some(1), None));
        assert_eq!(frame(&mut slots), [(1, 3..5), (2, 0..1)]);
        assert_eq!((slots.layer(1), slots.layer(2)), (Some(3), None));
    }

    #[test]
    fn views_with_the_same_sky_share_it() {
        let mut slots = SkySlots::default();
        let views = requests(&[7, 8, 7, 7]);
        assert_eq!(slots.assign(&views), [0, 1, 0, 0]);
        assert_eq!(slots.len(), 2);
        assert_eq!(slots.assign(&views), [0, 1, 0, 0]);
    }

    #[test]
    fn a_new_sky_is_drawn_at_once_and_a_changed_one_in_steps() {
        let mut slots = SkySlots::default();
        let works = frame(&mut slots, &[1], 2);
        assert_eq!((works.len(), works[0].steps.clone()), (1, 0..5));
        assert_eq!(slots.layer(0), Some(1));
        assert!(frame(&mut slots, &[1], 2).is_empty());
        for (steps, shown) in [(0..2, 1), (2..4, 1), (4..5, 0)] {
            let works = frame(&mut slots, &[2], 2);
            assert_eq!((works[0].steps.clone(), works[0].layer), (steps, 0));
            assert_eq!(slots.layer(0), Some(shown));
        }
        assert!(frame(&mut slots, &[2], 2).is_empty());
    }

    #[test]
    fn a_sky_of_another_kind_is_drawn_at_once() {
        let mut slots = SkySlots::default();
        frame(&mut slots, &[1], 2);
        frame(&mut slots, &[2], 2);
        let works = frame(&mut slots, &[2002], 2);
        assert_eq!((works.len(), works[0].steps.clone(), works[0].inputs), (1, 0..5, 2002));
        assert_eq!(slots.len(), 1);
    }

    #[test]
    fn an_update_ends_before_newer_inputs_are_drawn() {
        let mut slots = SkySlots::default();
        frame(&mut slots, &[1], 2);
        let mut drawn = Vec::new();
        for inputs in 2..9 {
            drawn.extend(frame(&mut slots, &[inputs], 3).iter().map(|work| work.inputs));
        }
        assert_eq!(drawn, [2, 2, 4, 4, 6, 6, 8]);
    }

    #[test]
    fn the_budget_is_shared_by_all_skies() {
        let mut slots = SkySlots::default();
        frame(&mut slots, &[1, 2, 3], 4);
        let works = frame(&mut slots, &[11, 12, 13], 7);
        let steps: usize = works.iter().map(|work| work.steps.len()).sum();
        assert_eq!(steps, 7);
    }

    #[test]
    fn too_many_skies_share_the_last_one() {
        let mut slots = SkySlots::default();
        let views = requests(&(0..SKIES_MAX as u32 + 3).collect::<Vec<_>>());
        let found = slots.assign(&views);
        assert!(slots.is_crowded && slots.len() == SKIES_MAX);
        assert_eq!(found[SKIES_MAX + 1], SKIES_MAX - 1);
        assert_eq!(slots.assign(&views[..2]), [0, 1]);
        assert!(!slots.is_crowded);
    }

    #[test]
    fn unused_skies_are_removed_and_switches_do_not_grow() {
        let mut slots = SkySlots::default();
        for i in 0..1000 {
            frame(&mut slots, &[i, i + 1][..1 + i as usize % 2], 20);
            assert!(slots.len() <= 3, "{}", slots.len());
        }
        for _ in 0..=IDLE_FRAMES_MAX {
            slots.assign(&[]);
        }
        assert_eq!(slots.len(), 0);
    }
}
