//! Tests of the table with rows that record their calls.

use super::super::component::{FieldDefault, FieldKind};
use super::super::instance_table::flag;
use super::super::scene_graph::{NO_NODE, NodePose};
use super::super::unit_resource::UnitResource;
use super::super::unit_template::ResourceReference;
use super::*;
use engine_foundation::hash::IdString32;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::{Color, HandleKind, error};
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{ResourceKind, ResourceKinds};
use engine_resource::resource_name::ResourceName;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn note(call: String) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Returns the calls since the last call of this function.
fn calls() -> Vec<String> {
    CALLS.take()
}

/// A component with every column.
static PLANTED: Component = Component {
    name: "planted",
    doc: "Records its calls.",
    fields: &[],
    in_node_order: true,
    read: |part, node, builder| {
        note(format!("read {} at {node}", part.name));
        builder.refer(7, ResourceReference::Texture(part.name.clone()), |_, _, _| {});
        Ok(())
    },
    spawn: |host, world, unit, _| {
        assert_eq!(host.units.of(unit).world, world);
        note("spawn planted".to_string());
        Ok(())
    },
    end: |host, _, _, location| note(format!("end planted in frame {} at {location}", host.frame)),
    moved: Some(|_, rows| note(format!("moved {rows:?}"))),
    hide: Some(|_, row, group, reason, hidden| {
        note(format!("hide {row} {group:?} {reason} {hidden}"));
    }),
    state: Some(|_, row, hash| {
        note(format!("state {row}"));
        hash.write_u64(5);
    }),
    inspect: Some((InspectSection::Physics, |_, unit, lines| {
        lines.push(format!("planted of {}", unit.row()));
    })),
    reload: Some(|_, changed| {
        let names: Vec<_> = changed.of(ReloadStep::Sheets).map(|it| it.name.as_str()).collect();
        note(format!("reload {names:?}"));
    }),
};

/// A component without the columns that a component can leave out.
static BARE: Component = Component {
    name: "bare",
    doc: "Records its calls.",
    fields: &[],
    in_node_order: false,
    read: |part, node, _| {
        note(format!("read {} at {node}", part.name));
        Ok(())
    },
    spawn: |_, _, _, _| {
        note("spawn bare".to_string());
        Ok(())
    },
    end: |_, _, _, _| note("end bare".to_string()),
    moved: None,
    hide: None,
    state: None,
    inspect: None,
    reload: None,
};

/// A component that cannot be created.
static FULL: Component =
    Component { name: "full", spawn: |_, _, _, _| Err(error!("there is no room")), ..BARE };

/// A component whose text comes before that of [`PLANTED`].
static VISIBLE: Component = Component {
    name: "visible",
    inspect: Some((InspectSection::Rendering2d, |_, _, lines| lines.push("visible".into()))),
    ..BARE
};

static BOTH: Components = Components(&[&PLANTED, &BARE]);
static MISSING_COLUMNS: Components = Components(&[&BARE]);
static INSPECTED: Components = Components(&[&PLANTED, &BARE, &VISIBLE, &PLANTED]);
static REFUSING: Components = Components(&[&PLANTED, &FULL, &BARE]);

static SHEET: ResourceKind = ResourceKind {
    name: "sheet",
    reload: &[ReloadStep::Sheets],
    ..engine_resource::data_resources::CONFIG
};
static KINDS: ResourceKinds = ResourceKinds(&[&SHEET]);

/// A world with the unit `u`, whose nodes are `root` and `arm`.
struct TestWorld {
    worlds: Slots<World>,
    units: Units,
    physics: PhysicsTables,
    scenes: RenderScenes,
    cameras: Slots<Camera>,
    particles: Particles,
    voices: UnitVoices,
    animations: Animations,
    agents: UnitAgents,
    walkers: Agents,
    sounds: SoundSystem,
    tasks: TaskPool,
    models: Models,
    materials: Materials,
    textures: Textures,
    tilemaps: Tilemaps,
    store: ResourceStore,
    world: WorldId,
    unit: UnitId,
}

impl TestWorld {
    fn new() -> TestWorld {
        let mut worlds = Slots::new(HandleKind::World, 1);
        let world = WorldId(worlds.add(World::default()).unwrap());
        let mut units = Units::default();
        let unit = units.spawn(world, &Arc::new(unit(&[])), &NodePose::IDENTITY).unwrap();
        TestWorld {
            worlds,
            units,
            physics: PhysicsTables::default(),
            scenes: RenderScenes::default(),
            cameras: Slots::new(HandleKind::Camera, 1),
            particles: Particles::new(0),
            voices: UnitVoices::default(),
            animations: Animations::default(),
            agents: UnitAgents::default(),
            walkers: Agents::default(),
            sounds: SoundSystem::silent(0, true),
            tasks: TaskPool::new(Some(1)),
            models: Models::default(),
            materials: Materials::default(),
            textures: Textures::new(false),
            tilemaps: Tilemaps::default(),
            store: ResourceStore::default(),
            world,
            unit,
        }
    }

    fn host(&mut self) -> ComponentHost<'_> {
        ComponentHost {
            worlds: &self.worlds,
            units: &mut self.units,
            physics: &mut self.physics,
            scenes: &mut self.scenes,
            cameras: &mut self.cameras,
            particles: &mut self.particles,
            voices: &mut self.voices,
            animations: &mut self.animations,
            agents: &mut self.agents,
            walkers: &mut self.walkers,
            sounds: &mut self.sounds,
            models: &mut self.models,
            textures: &mut self.textures,
            tilemaps: &mut self.tilemaps,
            store: &mut self.store,
            tasks: &self.tasks,
            frame: 3,
        }
    }

    fn view(&self) -> ComponentView<'_> {
        ComponentView {
            physics: &self.physics,
            scenes: &self.scenes,
            cameras: &self.cameras,
            particles: &self.particles,
            voices: &self.voices,
            animations: &self.animations,
            agents: &self.agents,
            walkers: &self.walkers,
            sounds: &self.sounds,
            models: &self.models,
            materials: &self.materials,
            textures: &self.textures,
            tilemaps: &self.tilemaps,
        }
    }

    /// Calls all functions of a table that change something or write state, in turn. Returns the
    /// state hash of the unit.
    fn live(&mut self, table: &Components) -> Result<u64, Error> {
        let (world, unit, row) = (self.world, self.unit, self.unit.row());
        table.spawn(&mut self.host(), (world, unit), &UnitTemplate::default())?;
        table.note_moved(&mut self.scenes, &[row]);
        table.hide(&mut self.scenes, row, Some(2), (flag::GROUP_HIDDEN, true));
        let mut hash = StateHash::new(0);
        table.write_state(&self.view(), row, &mut hash);
        let names = ["hero", "wall"].map(|name| ResourceName::new("sheet", name));
        let changed = ChangedResources::new(&names, KINDS);
        table.reload(&mut self.host(), &changed);
        table.end(&mut self.host(), unit, "main.lua:9");
        Ok(hash.finish())
    }
}

/// Returns a unit with components, given by name, type and node.
fn unit(parts: &[(&str, &str, &str)]) -> UnitResource {
    let nodes = ["root", "arm"];
    let parts = parts.iter().map(|(name, component, node)| ComponentSource {
        name: name.to_string(),
        component: component.to_string(),
        fields: sjson::parse(&format!("node = \"{node}\"")).unwrap().to_tree(),
    });
    UnitResource {
        name: "u".to_string(),
        node_names: nodes.map(str::to_string).to_vec(),
        node_hashes: nodes.map(IdString32::new).to_vec(),
        parents: vec![NO_NODE, 0],
        poses: vec![NodePose::IDENTITY; 2],
        parts: parts.collect(),
        flow: None,
        body_hash: 0,
        data: SjsonTree::Object(Vec::new()),
        bases: Vec::new(),
        duplicate_names: Vec::new(),
        template: UnitTemplate::default(),
    }
}

#[test]
fn the_columns_of_a_planted_row_are_called_in_order() {
    let mut world = TestWorld::new();
    let hash = world.live(&BOTH).unwrap();
    let expected = [
        "spawn planted",
        "spawn bare",
        "moved [0]",
        "hide 0 Some(2) 4 true",
        "state 0",
        "reload [\"hero\", \"wall\"]",
        "end bare",
        "end planted in frame 3 at main.lua:9",
    ];
    assert_eq!(calls(), expected);
    let mut alone = StateHash::new(0);
    alone.write_u64(5);
    assert_eq!(hash, alone.finish());
}

#[test]
fn optional_columns_of_a_component_can_be_missing() {
    let hash = TestWorld::new().live(&MISSING_COLUMNS).unwrap();
    assert_eq!(calls(), ["spawn bare", "end bare"]);
    assert_eq!(hash, StateHash::new(0).finish());
}

#[test]
fn lines_of_text_follow_their_sections_and_the_table() {
    let world = TestWorld::new();
    let lines = INSPECTED.inspect(&world.view(), world.unit);
    assert_eq!(lines, ["visible", "planted of 0", "planted of 0"]);
    assert!(MISSING_COLUMNS.inspect(&world.view(), world.unit).is_empty());
}

/// Components of the engine without lines in `Unit.inspect`, and why.
const WITHOUT_LINES: [(&str, &str); 0] = [];

#[test]
fn every_component_of_the_engine_is_inspected_or_has_a_reason() {
    for component in COMPONENTS.0 {
        let reason = WITHOUT_LINES.iter().find(|(name, _)| *name == component.name);
        assert!(
            component.inspect.is_some() != reason.is_some(),
            "{}: give it the column `inspect`, or a reason in WITHOUT_LINES, not both",
            component.name
        );
    }
    let unknown = WITHOUT_LINES.iter().find(|(name, _)| COMPONENTS.by_name(name).is_none());
    assert_eq!(unknown, None, "there is no such component");
}

#[test]
fn a_component_that_cannot_be_created_ends_the_spawn() {
    let error = TestWorld::new().live(&REFUSING).unwrap_err();
    assert_eq!(error.message, "there is no room");
    assert_eq!(calls(), ["spawn planted"]);
}

#[test]
fn components_can_be_read_in_node_order() {
    let parts = [
        ("a", "planted", "arm"),
        ("b", "planted", "root"),
        ("c", "bare", "arm"),
        ("d", "bare", "root"),
        ("e", "script", "root"),
    ];
    let mut builder = TemplateBuilder::default();
    builder.read(&unit(&parts), &BOTH).unwrap();
    assert_eq!(calls(), ["read b at 0", "read c at 1", "read d at 0", "read a at 1"]);
    let nowhere = unit(&[("a", "planted", "leg")]);
    let error = builder.read(&nowhere, &BOTH).unwrap_err();
    assert_eq!(error.message, "component 'a' has no node");
}

#[test]
fn engine_components_are_found_by_name() {
    for component in COMPONENTS.0 {
        let found = COMPONENTS.by_name(component.name).unwrap();
        assert!(std::ptr::eq(found, *component), "{} is there twice", component.name);
    }
    assert!(COMPONENTS.by_name("planted").is_none());
}

#[test]
fn defaults_match_field_types_and_descriptions() {
    for field in COMPONENTS.0.iter().flat_map(|component| component.fields) {
        let fits = match (field.kind, field.default) {
            (FieldKind::Choice(choices), FieldDefault::Text(text)) => choices.contains(&text),
            (FieldKind::Numbers(count), FieldDefault::Numbers(all)) => all.len() == count,
            (FieldKind::Color(color), FieldDefault::Text(text)) => {
                color.key == field.name && Color::from_hex(text).is_some()
            }
            (FieldKind::Number, FieldDefault::Number(_))
            | (FieldKind::Boolean, FieldDefault::Boolean(_))
            | (_, FieldDefault::None | FieldDefault::Described(_)) => true,
            _ => false,
        };
        assert!(fits, "{}: {:?}", field.name, field.default);
        let named = field.doc.contains("{default}");
        assert!(!named || field.default != FieldDefault::None, "{}", field.name);
    }
    let description = |component: &str, field: &str| {
        let fields = COMPONENTS.by_name(component).unwrap().fields;
        fields.iter().find(|known| known.name == field).unwrap().description()
    };
    assert_eq!(description("camera", "near"), "distance of the near plane in metres (0.1)");
    assert_eq!(description("light", "casts_shadows"), "true if it casts shadows (false)");
    assert!(description("sprite", "pivot").ends_with("bottom left corner ([0.5, 0.5])"));
    assert!(description("tilemap", "level").ends_with("(the first)"));
}
