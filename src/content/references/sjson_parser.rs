//! Parser of references in SJSON and JSON files, by the rules of their kind.

use super::rules::{self, COMPONENTS, ReferenceRule, SourceFormat};
use super::{Certainty, KindSet, NameForm, Reference};
use engine_foundation::sjson::{Document, ObjectEntry, SjsonValue, TextSpan};
use engine_resource::resource_kind::{ResourceKinds, kind_names};
use std::collections::HashSet;

/// Maximum length in bytes of a text that can be the name of a resource.
pub const NAME_BYTES_MAX: usize = 200;

/// Collects the references of one document.
pub struct SjsonReferences<'a> {
    document: &'a Document,
    kinds: ResourceKinds,
    pub found: Vec<Reference>,
    /// Where the types of nodes are, and their inputs that name resources.
    graph_values: HashSet<usize>,
}

/// Returns the set with these kinds.
pub fn kind_set(kinds: ResourceKinds, names: &[&str]) -> KindSet {
    names.iter().filter_map(|name| kinds.index_of(name)).fold(0, |set, at| set | 1 << at)
}

impl<'a> SjsonReferences<'a> {
    pub fn new(document: &'a Document, kinds: ResourceKinds) -> SjsonReferences<'a> {
        SjsonReferences { document, kinds, found: Vec::new(), graph_values: HashSet::new() }
    }

    /// Adds the references of a resource's own file.
    pub fn add_resource(&mut self, kind: &str) {
        let Some(row) = rules::of_kind(kind) else { return };
        let root = self.document.root();
        match kind {
            kind_names::PACKAGE => return self.add_package(root),
            kind_names::SOUND => return self.add_sound(root),
            kind_names::UNIT => self.add_components(root),
            _ => {}
        }
        match kind {
            kind_names::FLOW => self.add_graph(root),
            kind_names::UNIT | kind_names::LEVEL => {
                root.get("flow").into_iter().for_each(|graph| self.add_graph(graph));
            }
            _ => {}
        }
        self.add_rules(row.rules, row.format == SourceFormat::Sjson { has_data: true });
    }

    /// Adds the values at the paths of rules. If `has_data` is true, other texts are likely names.
    pub fn add_rules(&mut self, rules: &[ReferenceRule], has_data: bool) {
        let mut path = Vec::new();
        self.walk(self.document.root(), &mut path, rules, has_data);
    }

    fn walk(
        &mut self,
        value: SjsonValue<'a>,
        path: &mut Vec<&'a str>,
        rules: &[ReferenceRule],
        has_data: bool,
    ) {
        if let Some(text) = value.as_str() {
            let rule = rules.iter().find(|rule| rules::matches(rule.path, path));
            match rule {
                Some(rule) => self.add(value, text, rule.kinds, rule.form),
                None if self.graph_values.contains(&value.span().start) => {}
                None if has_data && is_name(text) => {
                    self.push(value.span(), text, 0, NameForm::Text, Certainty::Likely);
                }
                None => {}
            }
        }
        for entry in value.entries().into_iter().flatten() {
            // Blocks of components have rules of their own.
            if has_data && path.is_empty() && entry.key == "components" {
                continue;
            }
            path.push(entry.key);
            self.walk(entry.value, path, rules, has_data);
            path.pop();
        }
        for item in value.items().into_iter().flatten() {
            path.push("");
            self.walk(item, path, rules, has_data);
            path.pop();
        }
    }

    fn add(&mut self, value: SjsonValue, text: &str, kinds: &[&str], form: NameForm) {
        let set = kind_set(self.kinds, kinds);
        // A kind that this engine does not have names nothing.
        if !text.is_empty() && (set != 0 || kinds.is_empty()) {
            self.push(value.span(), text, set, form, Certainty::Certain);
        }
    }

    /// Adds a text in quotes, or a key without them.
    fn push(
        &mut self,
        span: TextSpan,
        text: &str,
        kinds: KindSet,
        form: NameForm,
        certainty: Certainty,
    ) {
        let source = &self.document.text()[span.start..span.end];
        let quotes = match source {
            _ if source.starts_with("\"\"\"") && source.len() >= 6 => 3,
            _ if source.starts_with('"') => 1,
            _ => 0,
        };
        self.found.push(Reference {
            kinds,
            name: text.to_string(),
            span: TextSpan { start: span.start + quotes, end: span.end - quotes },
            line: self.document.position(span.start).0 as u32,
            form,
            certainty,
        });
    }

    /// Adds the types of the nodes of a graph, and their inputs that name resources. A type without
    /// a dot is one of the engine.
    fn add_graph(&mut self, graph: SjsonValue) {
        let lua = kind_set(self.kinds, &[kind_names::LUA]);
        let nodes = graph.get("nodes").and_then(|nodes| nodes.entries());
        for node in nodes.into_iter().flatten() {
            let Some(value) = node.value.get("type") else { continue };
            let Some(kind) = value.as_str() else { continue };
            self.graph_values.insert(value.span().start);
            if kind.contains('.') {
                self.push(value.span(), kind, lua, NameForm::NodeType, Certainty::Certain);
            }
            let inputs = node.value.get("inputs").and_then(|inputs| inputs.entries());
            for input in inputs.into_iter().flatten() {
                let Some(kinds) = rules::of_graph_input(kind, input.key) else { continue };
                let Some(text) = input.value.as_str() else { continue };
                self.graph_values.insert(input.value.span().start);
                self.add(input.value, text, kinds, NameForm::Name);
            }
        }
    }

    fn add_package(&mut self, root: SjsonValue) {
        for entry in root.entries().into_iter().flatten() {
            let is_any = entry.key.contains('*');
            let kinds = kind_set(self.kinds, &[entry.key]);
            for item in entry.value.items().into_iter().flatten() {
                let Some(name) = item.as_str().filter(|_| is_any || kinds != 0) else { continue };
                let form = match is_any || name.contains('*') {
                    true => NameForm::Pattern,
                    false => NameForm::Name,
                };
                self.push(item.span(), name, kinds, form, Certainty::Certain);
            }
        }
    }

    fn add_sound(&mut self, root: SjsonValue) {
        if let Some(play) = root.get("play") {
            self.add_played(play);
        }
        let layers = root.get("layers");
        let entries = layers.and_then(|layers| layers.entries()).into_iter().flatten();
        let items = layers.and_then(|layers| layers.items()).into_iter().flatten();
        for layer in entries.map(|entry| entry.value).chain(items) {
            layer.get("play").into_iter().for_each(|play| self.add_played(play));
        }
    }

    fn add_played(&mut self, value: SjsonValue) {
        if let Some(text) = value.as_str() {
            return self.add(value, text, &[kind_names::SOUND], NameForm::WithEnding);
        }
        if let Some(file) = value.get("file") {
            self.add_played(file);
        }
        for list in ["random", "sequence"].iter().filter_map(|key| value.get(key)) {
            list.items().into_iter().flatten().for_each(|item| self.add_played(item));
        }
        let cases = value.get("cases").and_then(|cases| cases.entries());
        cases.into_iter().flatten().for_each(|entry| self.add_played(entry.value));
        value.get("default").into_iter().for_each(|value| self.add_played(value));
    }

    /// Adds the blocks of a unit's components. A key, or the value of `component`, is the name of
    /// the component. In a unit with a model, another key is the name of one of its meshes, or a
    /// component.
    fn add_components(&mut self, root: SjsonValue<'a>) {
        let has_model = root.get("model").is_some();
        let components = root.get("components").and_then(|blocks| blocks.entries());
        for entry in components.into_iter().flatten() {
            let named = entry.value.get("component");
            let component = named.and_then(SjsonValue::as_str).unwrap_or(entry.key);
            let built_in = COMPONENTS.iter().find(|(name, _)| *name == component);
            match built_in {
                Some((_, rules)) => self.walk(entry.value, &mut Vec::new(), rules, false),
                None if has_model && named.is_none() => {
                    self.add_component(&entry, named, component, NameForm::ComponentOrMesh);
                    self.walk(entry.value, &mut Vec::new(), rules::MESH, true);
                }
                None => {
                    self.add_component(&entry, named, component, NameForm::Component);
                    self.walk(entry.value, &mut Vec::new(), &[], true);
                }
            }
        }
    }

    fn add_component(
        &mut self,
        entry: &ObjectEntry,
        named: Option<SjsonValue>,
        component: &str,
        form: NameForm,
    ) {
        let span = named.map_or(entry.key_span, SjsonValue::span);
        let kinds = kind_set(self.kinds, &[kind_names::LUA]);
        self.push(span, component, kinds, form, Certainty::Certain);
    }
}

/// Returns true if a text can be the name of a resource.
pub fn is_name(text: &str) -> bool {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\\%\"'".contains(c);
    !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(is_plain)
}
