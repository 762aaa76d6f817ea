//! The numbers by which the editor knows breakpoints. The game has numbers of its own, which are
//! others after each restart.

use super::responses::{items, number};
use engine_foundation::sjson::SjsonTree;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The breakpoints that a request of the editor sets together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PointList {
    /// Those of a script or of a file with a graph.
    File(String),
    Functions,
    /// Those of values.
    Data,
}

impl PointList {
    /// Returns the file of the breakpoints; empty if they have none.
    pub fn file(&self) -> &str {
        match self {
            PointList::File(file) => file,
            _ => "",
        }
    }

    /// Returns how messages call the breakpoints.
    pub fn name(&self) -> String {
        match self {
            PointList::File(file) => format!("the breakpoints of {file}"),
            PointList::Functions => "the breakpoints of functions".to_string(),
            PointList::Data => "the breakpoints of values".to_string(),
        }
    }
}

#[derive(Default)]
pub struct PointIds {
    last: u64,
    /// The editor's numbers, by those of the game.
    by_game: HashMap<u64, u64>,
    /// The editor's numbers of each list, in its order; 0 for a breakpoint that has none.
    lists: BTreeMap<PointList, Vec<u64>>,
}

/// Returns the game's number of a breakpoint in its answer.
fn game_id(point: &SjsonTree) -> Option<u64> {
    let id = number(point, "id");
    (id >= 1.0).then_some(id as u64)
}

impl PointIds {
    /// Returns the editor's number of a breakpoint, a new one if it has none.
    pub fn of(&mut self, game: f64) -> f64 {
        let id = self.by_game.entry(game as u64).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        *id as f64
    }

    /// Returns the editor's numbers of breakpoints of the game.
    pub fn of_all(&mut self, points: &[SjsonTree]) -> SjsonTree {
        let number = |point: &SjsonTree| match point {
            SjsonTree::Number(id) => Some(SjsonTree::Number(self.of(*id))),
            _ => None,
        };
        SjsonTree::Array(points.iter().filter_map(number).collect())
    }

    /// Notes the game's answer to a list of breakpoints, in place of those before.
    pub fn set(&mut self, list: PointList, answer: &SjsonTree) {
        self.forget(&list);
        self.keep(list, answer);
    }

    /// Returns new numbers for a list that the game answers later, in place of those before.
    pub fn reserve(&mut self, list: &PointList, count: usize) -> Vec<u64> {
        self.forget(list);
        let first = self.last + 1;
        self.last += count as u64;
        let ids: Vec<u64> = (first..=self.last).collect();
        self.lists.insert(list.clone(), ids.clone());
        ids
    }

    /// Notes all breakpoints of a list of which the game has changed some: the others keep their
    /// numbers.
    pub fn keep(&mut self, list: PointList, all: &SjsonTree) {
        let ids = items(all, "breakpoints").iter();
        let ids = ids.map(|point| game_id(point).map_or(0, |id| self.of(id as f64) as u64));
        let ids: Vec<u64> = ids.collect();
        let kept: HashSet<u64> = ids.iter().copied().collect();
        let mut removed = self.lists.insert(list, ids).unwrap_or_default();
        removed.retain(|id| !kept.contains(id));
        self.forget_numbers(&removed);
    }

    /// Returns the lists of files for which `is_wanted` is true.
    pub fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<PointList> {
        let is_wanted =
            |list: &&PointList| matches!(list, PointList::File(file) if is_wanted(file));
        self.lists.keys().filter(is_wanted).cloned().collect()
    }

    /// Removes the breakpoints of a list but those with these numbers of the editor. Returns the
    /// numbers of the others.
    pub fn retain(&mut self, list: &PointList, kept: &HashSet<u64>) -> Vec<u64> {
        let all = self.lists.remove(list).unwrap_or_default();
        let (kept, removed): (Vec<u64>, Vec<u64>) =
            all.into_iter().partition(|id| kept.contains(id));
        if !kept.is_empty() {
            self.lists.insert(list.clone(), kept);
        }
        self.forget_numbers(&removed);
        removed.into_iter().filter(|id| *id > 0).collect()
    }

    fn forget_numbers(&mut self, ids: &[u64]) {
        let ids: HashSet<&u64> = ids.iter().collect();
        self.by_game.retain(|_, id| !ids.contains(id));
    }

    /// Notes the answer of a restarted game to a list that it had before: the editor keeps its
    /// numbers.
    pub fn restore(&mut self, list: &PointList, answer: &SjsonTree) {
        let Some(ids) = self.lists.get_mut(list) else { return };
        for (point, id) in items(answer, "breakpoints").iter().zip(ids) {
            let Some(game) = game_id(point) else { continue };
            if *id == 0 {
                self.last += 1;
                *id = self.last;
            }
            self.by_game.insert(game, *id);
        }
    }

    /// Forgets the numbers of a game that was restarted.
    pub fn forget_game(&mut self) {
        self.by_game.clear();
    }

    /// Forgets a list. Returns the editor's numbers of its breakpoints.
    pub fn forget(&mut self, list: &PointList) -> Vec<u64> {
        let ids = self.lists.remove(list).unwrap_or_default();
        self.forget_numbers(&ids);
        ids.into_iter().filter(|id| *id > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::json;

    #[test]
    fn a_restart_keeps_the_numbers_of_the_editor() {
        let answer = |text: &str| json::read(text).expect("JSON");
        let list = |file: &str| PointList::File(file.to_string());
        let mut ids = PointIds::default();
        ids.set(list("a"), &answer(r#"{"breakpoints": [{"id": 1}, {"line": 3}, {"id": 2}]}"#));
        ids.set(list("b"), &answer(r#"{"breakpoints": [{"id": 3}]}"#));
        // The file's list is sent again: its breakpoints are new ones.
        ids.set(list("a"), &answer(r#"{"breakpoints": [{"id": 4}, {}, {"id": 5}]}"#));
        assert_eq!([3.0, 4.0, 5.0].map(|id| ids.of(id)), [3.0, 4.0, 5.0]);
        ids.forget_game();
        // The game counts from 1 again, and gets the files in another order.
        ids.restore(&list("b"), &answer(r#"{"breakpoints": [{"id": 1}]}"#));
        ids.restore(&list("a"), &answer(r#"{"breakpoints": [{"id": 2}, {"id": 3}, {"id": 4}]}"#));
        assert_eq!([1.0, 2.0, 4.0].map(|id| ids.of(id)), [3.0, 4.0, 5.0]);
        // One that had no number before has a new one, and another of the game, too.
        assert_eq!([3.0, 9.0].map(|id| ids.of(id)), [6.0, 7.0]);
        assert_eq!(ids.forget(&list("b")), [3]);
        assert_eq!(ids.forget(&list("none")), [0; 0]);
        ids.restore(&list("none"), &answer(r#"{"breakpoints": [{"id": 70}]}"#));
        ids.set(PointList::Data, &answer(r#"{"breakpoints": [{"id": -1}, {"id": "x"}]}"#));
        assert_eq!(ids.forget(&PointList::Data), [0; 0]);
    }

    #[test]
    fn removed_breakpoints_leave_no_numbers() {
        let answer = |text: &str| json::read(text).expect("JSON");
        let file = PointList::File("a.unit".to_string());
        let mut ids = PointIds::default();
        ids.set(file.clone(), &answer(r#"{"breakpoints": [{"id": 1}, {"id": 2}, {"id": 3}]}"#));
        ids.set(PointList::Data, &answer(r#"{"breakpoints": [{"id": 9}]}"#));
        // A command removes one, and adds another.
        ids.keep(file.clone(), &answer(r#"{"breakpoints": [{"id": 1}, {"id": 3}, {"id": 4}]}"#));
        assert_eq!((ids.by_game.len(), ids.of(4.0)), (4, 5.0));
        // Chosen nodes keep two of them, which the game stops at as before.
        assert_eq!(ids.retain(&file, &HashSet::from([1, 5])), [3]);
        assert_eq!([1.0, 4.0].map(|id| ids.of(id)), [1.0, 5.0]);
        assert_eq!(ids.files(|file| file.ends_with(".unit")), std::slice::from_ref(&file));
        assert_eq!((ids.retain(&file, &HashSet::new()), ids.files(|_| true)), (vec![1, 5], vec![]));
        assert_eq!(ids.by_game.len(), 1);
    }
}
