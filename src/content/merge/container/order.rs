//! The order of merged parts. The result does not depend on which side is called left, unless both
//! sides moved parts.

use super::identity::Identities;
use super::{AllParts, BASE, KeptPart, LEFT, MergeSide, Merger, Merging, OverrideKind, RIGHT};
use std::collections::HashMap;

impl<'a> Merger<'a, '_> {
    /// Returns the identities of the result in order. The parts that both sides have are in the
    /// order of the side that changed it. A part of one side follows its predecessor on that side.
    pub(super) fn order(
        &mut self,
        ids: &Identities,
        kept: &[KeptPart<'a>],
        all: AllParts<'_, 'a>,
    ) -> Vec<usize> {
        let is_common = |id: &usize| {
            let [_, left, right] = ids.indices(*id);
            left.is_some() && right.is_some() && kept[*id].is_kept()
        };
        let common = |version: usize| -> Vec<usize> {
            ids.sequence(version).iter().copied().filter(|id| is_common(id)).collect()
        };
        let (of_left, of_right) = (common(LEFT), common(RIGHT));
        let in_base = |id: &usize| ids.indices(*id)[BASE].is_some();
        let of_base = common(BASE);
        let kept_order = |side: &[usize]| {
            side.iter().copied().filter(|id| in_base(id)).eq(of_base.iter().copied())
        };
        let skeleton = if of_left == of_right || kept_order(&of_left) {
            of_right
        } else if kept_order(&of_right) {
            of_left
        } else {
            let winner = self.report_override(OverrideKind::Order, "", "");
            if winner == MergeSide::Left { of_left } else { of_right }
        };
        let runs = [LEFT, RIGHT].map(|version| {
            let mut runs: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
            let mut anchor = None;
            for id in ids.sequence(version) {
                if is_common(id) {
                    anchor = Some(*id);
                } else if kept[*id].is_kept() {
                    runs.entry(anchor).or_default().push(*id);
                }
            }
            runs
        });
        let text_of = |id: usize| match kept[id].merging(id, ids, all) {
            Some(Merging::One(_, part)) => (part.head, part.value.text()),
            Some(Merging::Both(_, left, right)) => {
                (left.head.min(right.head), left.value.text().min(right.value.text()))
            }
            None => ("", ""),
        };
        let mut order = Vec::with_capacity(kept.len());
        for anchor in std::iter::once(None).chain(skeleton.iter().copied().map(Some)) {
            order.extend(anchor);
            let of = |run: &HashMap<_, Vec<usize>>| run.get(&anchor).cloned().unwrap_or_default();
            let mut pair = runs.each_ref().map(of);
            // Both sides added parts here: their texts decide, and not the side.
            if let ([a, ..], [b, ..]) = (&pair[0][..], &pair[1][..])
                && text_of(*b) < text_of(*a)
            {
                pair.swap(0, 1);
            }
            order.extend(pair.into_iter().flatten());
        }
        order
    }
}
