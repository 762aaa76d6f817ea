//! The row of the component `mesh`: its fields, and what the engine does with it. The table of
//! meshes is in mesh.rs.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{
    ComponentFields, GROUP, LIGHT_LAYERS, RANGE, VISIBLE, group, light_layers, range, text,
};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::instance_table::flag;
use super::mesh::{MeshComponent, MeshExtra};
use super::render_scenes::{RenderScenes, existing_scene, scene_of};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{ResolvedResource, ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::text_format::quoted;
use engine_models::MeshNumber;
use engine_resource::resource_kind::kind_names;
use std::sync::Arc;

/// The component `mesh`.
pub static MESH: Component = Component {
    name: "mesh",
    doc: "Shows a mesh at its node.",
    fields: &[
        ComponentField {
            name: "model",
            kind: FieldKind::Resource(kind_names::MODEL),
            default: FieldDefault::None,
            doc: "the model that the mesh is in",
        },
        ComponentField {
            name: "mesh",
            kind: FieldKind::Text,
            default: FieldDefault::None,
            doc: "the name of the mesh in its model; may be left out if it is the only one",
        },
        ComponentField {
            name: "material",
            kind: FieldKind::Resource(kind_names::MATERIAL),
            default: FieldDefault::None,
            doc: "materials to use instead of the model's own",
        },
        ComponentField {
            name: "skin",
            kind: FieldKind::Text,
            default: FieldDefault::None,
            doc: "a skin of its model: the component `animation` of the unit moves its vertices, \
                  and its node has no effect",
        },
        VISIBLE,
        ComponentField {
            name: "casts_shadows",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(true),
            doc: "true if it casts shadows ({default})",
        },
        LIGHT_LAYERS,
        GROUP,
        RANGE,
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    moved: Some(|scenes, rows| scenes.meshes.note_moved(rows)),
    hide: Some(|scenes, row, group, reason, hidden| {
        scenes.meshes.hide(row, group, reason, hidden);
    }),
    state: None,
    inspect: Some((InspectSection::Rendering3d, inspect)),
    // Meshes of a reloaded model are sent again by the engine, which has loaded the model.
    reload: None,
};

/// Reads a component `mesh`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let fields = ComponentFields::new(&MESH, part);
    let Some(model) = text(fields.tree, "model") else {
        return Err(error!("it names no model: model = \"models/barrel\""));
    };
    let entry = builder.template.meshes.len();
    let mesh = text(fields.tree, "mesh").map(str::to_string);
    let mesh = ResourceReference::Mesh { model: model.to_string(), mesh };
    match text(fields.tree, "material") {
        None => builder.refer(entry, mesh, set_mesh),
        Some(name) => {
            builder.refer(entry, mesh, set_mesh_of_material);
            let material = ResourceReference::MeshMaterial(name.to_string());
            builder.refer(entry, material, set_material);
        }
    }
    let skin = text(fields.tree, "skin");
    if let Some(skin) = skin {
        let (model, skin) = (model.to_string(), skin.to_string());
        builder.refer(
            entry,
            ResourceReference::Skin { model, skin },
            |template, entry, resolved| {
                Arc::make_mut(&mut template.meshes[entry].extra).skin = Some(resolved.skin());
            },
        );
    }
    let group = group(fields, &mut builder.template)?;
    let range = range(fields)?;
    let light_layers = light_layers(fields)?;
    builder.template.meshes.push(MeshComponent {
        name: part.name.clone(),
        // A skin is relative to the unit, regardless of the mesh's node (glTF 2.0, 3.7.3.3).
        node: if skin.is_some() { 0 } else { node },
        mesh: MeshNumber(0),
        casts_shadows: fields.boolean("casts_shadows"),
        visible: fields.boolean("visible"),
        group,
        tint: [255; 4],
        extra: Arc::new(MeshExtra { range, light_layers, ..MeshExtra::default() }),
    });
    Ok(())
}

fn set_mesh(template: &mut UnitTemplate, entry: usize, resolved: &ResolvedResource) {
    template.meshes[entry].mesh = resolved.mesh().0;
}

/// Sets a mesh whose materials are replaced: it has an entry for each of its material slots.
fn set_mesh_of_material(template: &mut UnitTemplate, entry: usize, resolved: &ResolvedResource) {
    let (mesh, material_slots) = resolved.mesh();
    let part = &mut template.meshes[entry];
    part.mesh = mesh;
    Arc::make_mut(&mut part.extra).materials = vec![None; material_slots];
}

fn set_material(template: &mut UnitTemplate, entry: usize, resolved: &ResolvedResource) {
    let extra = Arc::make_mut(&mut template.meshes[entry].extra);
    extra.materials.fill(Some(resolved.material()));
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    if template.meshes.is_empty() {
        return Ok(());
    }
    let RenderScenes { meshes, worlds, .. } = &mut *host.scenes;
    let scene = scene_of(worlds, world);
    scene.check_room(template.meshes.len())?;
    meshes.spawn(unit, &template.meshes, || scene.take_slot())
}

fn end(host: &mut ComponentHost, world: WorldId, unit: UnitId, location: &str) {
    let RenderScenes { meshes, worlds, .. } = &mut *host.scenes;
    let Some(scene) = existing_scene(worlds, world) else { return };
    let models = &mut *host.models;
    meshes.destroy(unit.row(), host.frame, location, |mesh| {
        scene.end(mesh.draw);
        models.remove_game_mesh(mesh.mesh);
    });
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let meshes = &view.scenes.meshes;
    for (at, slot) in meshes.of_unit(unit.row()).enumerate() {
        let mesh = meshes.slots.at(slot).expect("chains hold living meshes");
        let entry = view.models.entry(mesh.mesh);
        lines.push(format!(
            "mesh {} {} at node {}, {} triangles{}{}",
            at + 1,
            quoted(&entry.name),
            mesh.node + 1,
            entry.triangles,
            if mesh.flags & flag::HIDDEN == 0 { "" } else { ", hidden" },
            if mesh.flags & flag::CASTS_SHADOWS == 0 { ", without shadow" } else { "" },
        ));
    }
}
