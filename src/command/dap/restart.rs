//! A game that was restarted: it has lost all breakpoints, and numbers new ones from 1.

use super::point_ids::PointList;
use super::responses::{items, text};
use super::{Adapter, Fields, flow};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

const LOST_DATA: &str = "the game was restarted, and its values are others: choose this one again";

impl Adapter {
    /// Debugs a game that was restarted.
    pub fn restore_session(&mut self) {
        self.forget_texts();
        self.points.forget_game();
        self.restored_lists.clear();
        self.end_flow_stop();
        self.end_data_breakpoints();
        self.end_kept_lines();
        let (file, mut messages) = (PointList::File, Vec::new());
        messages.push(("debug_attach", Vec::new(), None));
        for (script, fields) in &self.breakpoints {
            messages.push(("debug_breakpoints", fields.clone(), Some(file(script.clone()))));
        }
        // The breakpoints of a file take the place of the nodes in it.
        if let Some(fields) = &self.flow_nodes {
            messages.push(("debug_flow_set_nodes", fields.clone(), None));
        }
        for (graph, fields) in &self.flow_breakpoints {
            messages.push(("debug_flow_breakpoints", fields.clone(), Some(file(graph.clone()))));
        }
        if !self.functions.is_empty() {
            let fields = self.functions.clone();
            messages.push(("debug_functions", fields, Some(PointList::Functions)));
        }
        messages.push(("debug_errors", self.errors.clone(), None));
        messages.push(("debug_ready", Vec::new(), None));
        for (name, fields, list) in messages {
            if let Err(message) = self.send_restored(name, fields, list) {
                return self.output("stderr", &format!("engine dap: {message}\n"));
            }
        }
    }

    fn send_restored(
        &mut self,
        name: &str,
        fields: Fields,
        list: Option<PointList>,
    ) -> Result<(), String> {
        let Some(game) = &mut self.game else { return Ok(()) };
        let id = game.client.send(name, fields).map_err(|error| error.message)?;
        if let Some(list) = list {
            self.restored_lists.insert(id, list);
        }
        Ok(())
    }

    /// Handles the answer to a list of breakpoints for which no request waits. The editor shows
    /// those of a list that is refused as not set, with the reason.
    pub fn handle_restored_list(&mut self, list: &PointList, tree: &SjsonTree) {
        if text(tree, "type") == "error" {
            let (points, message) = (list.name(), text(tree, "message"));
            let problem = format!("engine dap: {points} are not set: {message}\n");
            self.output("stderr", &problem);
            let ids = self.points.forget(list);
            return self.refuse_points(&ids, message);
        }
        self.points.restore(list, tree);
        self.breakpoints_event("changed", list.file(), items(tree, "breakpoints"));
    }

    /// Tells the editor that breakpoints on lines of graphs are none any more: the game had kept
    /// them because their nodes were also chosen from a list, and gets only that list now.
    fn end_kept_lines(&mut self) {
        let is_old = |file: &str| flow::is_graph(file) && !self.flow_breakpoints.contains_key(file);
        for list in self.points.files(is_old) {
            let ids = self.points.forget(&list);
            self.remove_points(&ids);
        }
    }

    /// Tells the editor that breakpoints were removed.
    pub fn remove_points(&mut self, ids: &[u64]) {
        for id in ids {
            let id = SjsonTree::Number(*id as f64);
            let point = json::object([("id", id), ("verified", SjsonTree::Bool(false))]);
            self.breakpoint_event("removed", point);
        }
    }

    /// Tells the editor that breakpoints of values are not set any more.
    fn end_data_breakpoints(&mut self) {
        let ids = self.points.forget(&PointList::Data);
        self.refuse_points(&ids, LOST_DATA);
    }

    /// Tells the editor that breakpoints are not set, and why.
    fn refuse_points(&mut self, ids: &[u64], message: &str) {
        for id in ids {
            let point = json::object([
                ("id", SjsonTree::Number(*id as f64)),
                ("verified", SjsonTree::Bool(false)),
                ("message", json::text(message)),
            ]);
            self.breakpoint_event("changed", point);
        }
    }
}
