//! The structural merge: walks three documents at once and writes the result from their texts. A
//! part that one side changed comes from that side, with its comments. Parses nothing.

use super::matching::is_same;
use super::moves::Moves;
use super::parts::{Part, Parts, SourceValue, ends_in_line_comment, has_comment};
use super::{MergeOptions, MergeSide, Merged, Override, OverrideKind};
use crate::paths::ReportRoom;
use engine_foundation::sjson::ValueKind;
use std::fmt::Write;
use std::sync::Arc;

mod identity;
mod kept_part;
mod order;
mod slot;

pub use identity::{Identities, ListForm, ObjectId, id_of, object_id};
use kept_part::{AllParts, KeptPart, Merging, parts_of};
use slot::Slot;

/// Maximum length in bytes of a value's text in a report.
const REPORTED_BYTES_MAX: usize = 80;

/// The path in a report of a moved object, if there is no room for its own.
const UNNAMED_PATH: &str = "an object that was moved";

/// Index of a version in arrays.
const BASE: usize = 0;
const LEFT: usize = 1;
const RIGHT: usize = 2;

/// A merge in progress.
pub struct Merger<'a, 'o> {
    options: MergeOptions<'o>,
    moves: Moves<'a>,
    path: Vec<String>,
    room: ReportRoom,
    result: Merged,
    /// True if the text ends in a comment that extends to the end of its line.
    in_line_comment: bool,
}

impl<'a, 'o> Merger<'a, 'o> {
    pub fn new(roots: [SourceValue<'a>; 3], options: MergeOptions<'o>) -> Merger<'a, 'o> {
        // Room for small additions. Most merges are about as long as their longest version.
        let length = roots.iter().map(|root| root.source.len()).max().unwrap_or_default();
        let text = String::with_capacity(length + length / 64);
        Merger {
            options,
            moves: Moves::new(roots),
            path: Vec::new(),
            room: ReportRoom::default(),
            result: Merged { text, ..Merged::default() },
            in_line_comment: false,
        }
    }

    /// Merges the values of whole files, with the comments around them.
    pub fn merge_root(
        &mut self,
        base: Option<SourceValue<'a>>,
        left: SourceValue<'a>,
        right: SourceValue<'a>,
    ) {
        let around = |root: SourceValue<'a>| {
            let span = root.value.span();
            (&root.source[..span.start], &root.source[span.end..])
        };
        let (of_left, of_right) = (around(left), around(right));
        let of_base = base.map(around);
        let before = self.pick(of_base.map(|it| it.0), of_left.0, of_right.0, true);
        self.push(before);
        self.value(base, left, right);
        let after = self.pick(of_base.map(|it| it.1), of_left.1, of_right.1, true);
        self.push(after);
    }

    pub fn finish(mut self) -> Merged {
        for (path, left, right) in self.moves.unmerged() {
            let winner = (self.options.winner)(&path);
            self.result.overrides.push(Override {
                path,
                kind: OverrideKind::Move,
                winner,
                left: shortened(left),
                right: shortened(right),
            });
        }
        self.result
    }

    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.result.text.push_str(text);
        self.in_line_comment = false;
    }

    /// Returns the path to the current part, or `None` if the report has no room for it.
    fn path_text(&mut self) -> Option<Arc<str>> {
        let path = self.room.path_text(&self.path);
        self.result.left_out += usize::from(path.is_none());
        path.map(Arc::from)
    }

    /// Notes that the changes of an object are merged at its new list.
    fn expect_moved(&mut self, value: SourceValue<'a>) {
        let path = self.path_text().unwrap_or_else(|| UNNAMED_PATH.into());
        self.moves.expect(value, path);
    }

    /// Reports that both sides changed the same, and returns the side that wins.
    fn report_override(&mut self, kind: OverrideKind, left: &str, right: &str) -> MergeSide {
        let Some(path) = self.path_text() else { return (self.options.winner)("") };
        let winner = (self.options.winner)(&path);
        let (left, right) = (shortened(left), shortened(right));
        self.result.overrides.push(Override { path, kind, winner, left, right });
        winner
    }

    /// Merges a text between values. Comments that both sides changed are reported.
    fn pick(
        &mut self,
        base: Option<&'a str>,
        left: &'a str,
        right: &'a str,
        is_reported: bool,
    ) -> &'a str {
        if left == right || base == Some(right) {
            return left;
        }
        if base == Some(left) {
            return right;
        }
        match (has_comment(left), has_comment(right)) {
            (true, false) if base.is_none_or(|base| !has_comment(base)) => return left,
            (false, true) if base.is_none_or(|base| !has_comment(base)) => return right,
            (false, false) => return right,
            _ => {}
        }
        let trimmed = [left.trim(), right.trim()];
        if trimmed[0] == trimmed[1] || !is_reported {
            return right;
        }
        match self.report_override(OverrideKind::Comment, trimmed[0], trimmed[1]) {
            MergeSide::Left => left,
            MergeSide::Right => right,
        }
    }

    /// Merges a value that both sides have, and writes it.
    fn value(
        &mut self,
        base: Option<SourceValue<'a>>,
        left: SourceValue<'a>,
        right: SourceValue<'a>,
    ) {
        let is_moved = self.moves.is_inside([base, Some(left), Some(right)]);
        if !is_moved {
            let base_text = base.map(SourceValue::text);
            if left.text() == right.text() || base_text == Some(right.text()) {
                return self.push(left.text());
            }
            if base_text == Some(left.text()) {
                return self.push(right.text());
            }
        }
        let base_of_kind = base.filter(|base| base.kind() == left.kind());
        match (left.kind(), right.kind()) {
            (ValueKind::Object, ValueKind::Object) => {
                self.container(base_of_kind, Some(left), Some(right), ListForm::Object)
            }
            (ValueKind::Array, ValueKind::Array) => {
                let form = ListForm::of(base_of_kind, left, right);
                if form == ListForm::WithoutIds {
                    let path = self.path_text();
                    self.result.without_ids.extend(path.map(|path| path.to_string()));
                }
                match form {
                    ListForm::Atomic => self.atom(base, left, right),
                    form => self.container(base_of_kind, Some(left), Some(right), form),
                }
            }
            _ => self.atom(base, left, right),
        }
    }

    /// Merges a value as a whole.
    fn atom(
        &mut self,
        base: Option<SourceValue<'a>>,
        left: SourceValue<'a>,
        right: SourceValue<'a>,
    ) {
        let same_as_base =
            |side: SourceValue| base.is_some_and(|base| is_same(base.value, side.value));
        let text = if is_same(left.value, right.value) || same_as_base(left) {
            right.text()
        } else if same_as_base(right) {
            left.text()
        } else {
            match self.report_override(OverrideKind::Value, left.text(), right.text()) {
                MergeSide::Left => left.text(),
                MergeSide::Right => right.text(),
            }
        };
        self.push(text);
    }

    /// Merges an object, or a list whose items have identities. One side may not have it: then it
    /// is written as the other side has it, except for objects that were moved.
    fn container(
        &mut self,
        base: Option<SourceValue<'a>>,
        left: Option<SourceValue<'a>>,
        right: Option<SourceValue<'a>>,
        form: ListForm,
    ) {
        let versions = [base, left, right].map(|version| version.map(Parts::of));
        let no_parts = Vec::new();
        let all = versions.each_ref().map(|it| it.as_ref().map_or(&no_parts, |it| &it.parts));
        let ids = Identities::of(form, all);
        let kept = self.resolve_parts(form, &ids, all);
        let order = self.order(&ids, &kept, all);

        let (Some(of_left), Some(of_right)) = (
            versions[LEFT].as_ref().or(versions[RIGHT].as_ref()),
            versions[RIGHT].as_ref().or(versions[LEFT].as_ref()),
        ) else {
            return;
        };
        let of_base = versions[BASE].as_ref();
        let close = self.open(of_base, of_left, of_right);
        let commas = self.commas([of_right, of_left].into_iter().chain(of_base));
        let is_on_lines = close.is_empty() || of_right.lead.contains('\n');
        for (at, id) in order.iter().enumerate() {
            let slot = Slot {
                is_first: at == 0,
                is_last: at + 1 == order.len(),
                has_commas: commas,
                default_lead: if is_on_lines { "\n" } else { " " },
                indices: ids.indices(*id),
            };
            let step = ids.step(form, *id, all);
            self.path.push(step);
            let merging = kept[*id].merging(*id, &ids, all);
            self.part(merging.expect("ordered parts are kept"), &slot, all);
            self.path.pop();
        }
        let lead = self.pick(of_base.map(|parts| parts.lead), of_left.lead, of_right.lead, true);
        self.push_lead(lead, false);
        self.push(close);
    }

    /// Writes the beginning of a container, and returns its end.
    fn open(&mut self, base: Option<&Parts<'a>>, left: &Parts<'a>, right: &Parts<'a>) -> &'a str {
        let is_bare = |parts: &Parts| parts.close.is_empty();
        let (open, close) = match is_bare(left) == is_bare(right) {
            true => (self.pick(base.map(|it| it.open), left.open, right.open, true), left.close),
            // One side put braces around the file, or removed them.
            false if base.is_some_and(|base| is_bare(base) == is_bare(left)) => {
                (right.open, right.close)
            }
            false => (left.open, left.close),
        };
        self.push(open);
        self.in_line_comment = ends_in_line_comment(open);
        close
    }

    /// Returns true if commas separate the parts of a container whose versions are these.
    fn commas<'p>(&self, versions: impl Iterator<Item = &'p Parts<'a>> + Clone) -> bool
    where
        'a: 'p,
    {
        let used = versions.clone().find_map(|parts| parts.uses_commas);
        let source = versions.clone().find(|parts| !parts.parts.is_empty());
        let is_one_line = source.is_some_and(|parts| {
            !parts.close.is_empty() && !parts.lead.contains('\n') && !parts.open.contains('\n')
        });
        used.unwrap_or(self.options.is_json || is_one_line)
    }

    /// Writes the value of a part that only one side has.
    fn value_of_side(&mut self, side: MergeSide, value: SourceValue<'a>) {
        let form = match value.kind() {
            _ if !self.moves.is_inside([None, Some(value), Some(value)]) => None,
            ValueKind::Object => Some(ListForm::Object),
            ValueKind::Array => Some(match ListForm::of(None, value, value) {
                ListForm::Ids => ListForm::Ids,
                _ => ListForm::Values,
            }),
            _ => None,
        };
        match (form, side) {
            (None, _) => self.push(value.text()),
            (Some(form), MergeSide::Left) => self.container(None, Some(value), None, form),
            (Some(form), MergeSide::Right) => self.container(None, None, Some(value), form),
        }
    }

    /// Writes a part of a container.
    fn part(&mut self, merging: Merging<'a>, slot: &Slot, all: [&Vec<Part<'a>>; 3]) {
        match merging {
            Merging::One(side, part) => {
                let version = if side == MergeSide::Left { LEFT } else { RIGHT };
                let lead = self.fitting_lead(part.lead, slot, version, all);
                self.push_lead(lead, !slot.is_first);
                self.push(part.head);
                self.value_of_side(side, part.value);
                let comma = slot.comma(&[(version, part)], all);
                self.push_tail(part.before_comma, comma, part.after);
            }
            Merging::Both(base, left, right) => {
                let lead = self.pick(base.map(|it| it.lead), left.lead, right.lead, true);
                let version = match () {
                    () if lead == right.lead => RIGHT,
                    () => LEFT,
                };
                let lead = self.fitting_lead(lead, slot, version, all);
                self.push_lead(lead, !slot.is_first);
                let head = self.pick(base.map(|it| it.head), left.head, right.head, true);
                self.push(head);
                self.value(base.map(|it| it.value), left.value, right.value);
                let before = self.pick(
                    base.map(|it| it.before_comma),
                    left.before_comma,
                    right.before_comma,
                    true,
                );
                let after = self.pick(base.map(|it| it.after), left.after, right.after, true);
                let versions = [(LEFT, left), (RIGHT, right)];
                let mut comma = slot.comma(&versions, all);
                if let Some(base) = base
                    && slot.has_role(BASE, all)
                    && slot.has_role(LEFT, all)
                    && slot.has_role(RIGHT, all)
                    && base.has_comma == right.has_comma
                {
                    comma = left.has_comma;
                }
                self.push_tail(before, comma, after);
            }
        }
    }

    /// Returns the white space before a part. A part that is now first or no longer first takes the
    /// white space of a neighbour.
    fn fitting_lead(
        &self,
        lead: &'a str,
        slot: &Slot,
        version: usize,
        all: [&Vec<Part<'a>>; 3],
    ) -> &'a str {
        let was_first = slot.indices[version] == Some(0);
        if was_first == slot.is_first || has_comment(lead) {
            return lead;
        }
        let neighbour = match slot.is_first {
            true => all[version].first(),
            false => all[version].get(1),
        };
        let others = [LEFT, RIGHT, BASE].map(|other| match slot.is_first {
            true => all[other].first(),
            false => all[other].get(1),
        });
        let leads = std::iter::once(neighbour).chain(others).flatten().map(|part| part.lead);
        match leads.into_iter().find(|lead| !has_comment(lead)) {
            Some(lead) => lead,
            None if !slot.is_first && lead.is_empty() => slot.default_lead,
            None => lead,
        }
    }

    /// Writes the text before a part or a closing bracket. It must end a comment of the line, and
    /// separate two values.
    fn push_lead(&mut self, lead: &str, is_separating: bool) {
        if self.in_line_comment && !lead.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
            self.push("\n");
        }
        let ends_apart = self.result.text.ends_with([',', ' ', '\n', '\t', '}', ']']);
        if is_separating && lead.is_empty() && !ends_apart {
            self.push(" ");
        }
        self.push(lead);
        if !lead.is_empty() {
            self.in_line_comment = ends_in_line_comment(lead);
        }
    }

    fn push_tail(&mut self, before_comma: &str, has_comma: bool, after: &str) {
        self.push(before_comma);
        if has_comma {
            if ends_in_line_comment(before_comma) {
                self.push("\n");
            }
            self.push(",");
        } else if ends_in_line_comment(before_comma) {
            self.in_line_comment = true;
        }
        self.push(after);
        if !after.is_empty() {
            self.in_line_comment = ends_in_line_comment(after);
        }
    }

    /// Decides about each part, by identity.
    fn resolve_parts(
        &mut self,
        form: ListForm,
        ids: &Identities,
        all: AllParts<'_, 'a>,
    ) -> Vec<KeptPart<'a>> {
        let mut parts = Vec::with_capacity(ids.count());
        for id in 0..ids.count() {
            let kept = match parts_of(id, ids, all).into() {
                (Some(_), Some(_), Some(_)) => KeptPart::Listed,
                (None, Some(left), Some(right)) => match self.moved_base(form, left) {
                    None => KeptPart::Listed,
                    base => KeptPart::Moved(Box::new(Merging::Both(base, left, right))),
                },
                (Some(base), Some(part), None) => {
                    self.path.push(ids.step(form, id, all));
                    let kept = self.removed(MergeSide::Right, form, base, part);
                    self.path.pop();
                    KeptPart::of(kept)
                }
                (Some(base), None, Some(part)) => {
                    self.path.push(ids.step(form, id, all));
                    let kept = self.removed(MergeSide::Left, form, base, part);
                    self.path.pop();
                    KeptPart::of(kept)
                }
                (None, Some(part), None) => {
                    self.path.push(ids.step(form, id, all));
                    let added = self.added(MergeSide::Left, form, part);
                    self.path.pop();
                    KeptPart::of(added)
                }
                (None, None, Some(part)) => {
                    self.path.push(ids.step(form, id, all));
                    let added = self.added(MergeSide::Right, form, part);
                    self.path.pop();
                    KeptPart::of(added)
                }
                (_, None, None) => KeptPart::Removed,
            };
            parts.push(kept);
        }
        parts
    }

    /// Decides about a part that `remover` has removed here and the other side has kept.
    fn removed(
        &mut self,
        remover: MergeSide,
        form: ListForm,
        base: Part<'a>,
        part: Part<'a>,
    ) -> Option<Merging<'a>> {
        let keeper = other(remover);
        let is_changed = !is_same(base.value.value, part.value.value);
        if form == ListForm::Ids && self.moves.has(remover, part.value) {
            // It is merged where the other side has put it.
            if is_changed {
                self.expect_moved(part.value);
            }
            return None;
        }
        if !is_changed {
            return None;
        }
        let (left, right) = match remover {
            MergeSide::Right => (part.value.text(), ""),
            MergeSide::Left => ("", part.value.text()),
        };
        match self.report_override(OverrideKind::Removal, left, right) == remover {
            true => None,
            false => Some(Merging::One(keeper, part)),
        }
    }

    /// Decides about a part that only `side` has here, and that the base does not have here.
    fn added(&mut self, side: MergeSide, form: ListForm, part: Part<'a>) -> Option<Merging<'a>> {
        let one = Some(Merging::One(side, part));
        if form != ListForm::Ids {
            return one;
        }
        let base = self.moves.in_base(part.value);
        let there = self.moves.in_side(other(side), part.value);
        let (left, right) = match (side, there) {
            (MergeSide::Left, there) => (part.value, there),
            (MergeSide::Right, there) => (there.unwrap_or(part.value), Some(part.value)),
        };
        let texts = |there: Option<SourceValue<'a>>| there.map_or("", SourceValue::text);
        if base.is_some() && !self.moves.is_moved(side, part.value) {
            // The object is where it was, in a part that only this side has kept.
            return match there {
                Some(_) if self.moves.is_moved(other(side), part.value) => {
                    self.expect_moved(part.value);
                    None
                }
                _ => one,
            };
        }
        match (base, there) {
            (None, _) => one,
            // This side moved it; the other side removed it.
            (Some(_), None) => {
                let (left, right) = match side {
                    MergeSide::Left => (part.value.text(), ""),
                    MergeSide::Right => ("", part.value.text()),
                };
                let winner = self.report_override(OverrideKind::Removal, left, right);
                one.filter(|_| winner == side)
            }
            (Some(base), Some(there)) => {
                if self.moves.is_moved(other(side), part.value) {
                    // Both sides moved it, to different lists.
                    let winner =
                        self.report_override(OverrideKind::Move, left.text(), texts(right));
                    if winner != side {
                        return None;
                    }
                }
                self.moves.merged(part.value);
                let with = |value: SourceValue<'a>| Part { value, ..part };
                Some(match side {
                    MergeSide::Left => Merging::Both(Some(with(base)), part, with(there)),
                    MergeSide::Right => Merging::Both(Some(with(base)), with(there), part),
                })
            }
        }
    }

    /// Returns the base of an object that both sides moved to the same list.
    fn moved_base(&mut self, form: ListForm, part: Part<'a>) -> Option<Part<'a>> {
        let base = self.moves.in_base(part.value).filter(|_| form == ListForm::Ids)?;
        self.moves.merged(part.value);
        Some(Part { value: base, ..part })
    }
}

fn other(side: MergeSide) -> MergeSide {
    match side {
        MergeSide::Left => MergeSide::Right,
        MergeSide::Right => MergeSide::Left,
    }
}

/// Shortens the text of a value for a report.
fn shortened(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > REPORTED_BYTES_MAX {
            let end = (0..=REPORTED_BYTES_MAX).rev().find(|at| out.is_char_boundary(*at));
            out.truncate(end.unwrap_or(0));
            let _ = write!(out, "…");
            return out;
        }
    }
    out
}
