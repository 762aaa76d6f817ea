//! The component `mesh` as written in unit files: its fields and the meaning of these.

use super::component::{ComponentField, ComponentRow, FieldKind};
use super::component_fields::{group, range, text, truth};
use super::mesh::{MeshComponent, MeshExtra};
use super::unit_resource::ComponentSource;
use super::unit_template::{ResolvedResource, ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::Error;
use engine_foundation::error;
use engine_models::MeshNumber;
use std::sync::Arc;

/// The component `mesh`.
pub static MESH: ComponentRow = ComponentRow {
    name: "mesh",
    doc: "Shows a mesh at its node.",
    fields: &[
        ComponentField {
            name: "model",
            kind: FieldKind::Resource("model"),
            doc: "the model that the mesh is in",
        },
        ComponentField {
            name: "mesh",
            kind: FieldKind::Text,
            doc: "the name of the mesh in its model; may be left out if it is the only one",
        },
        ComponentField {
            name: "material",
            kind: FieldKind::Resource("material"),
            doc: "materials to use instead of the model's own",
        },
        ComponentField {
            name: "visible",
            kind: FieldKind::Boolean,
            doc: "true if it is visible (true)",
        },
        ComponentField {
            name: "casts_shadows",
            kind: FieldKind::Boolean,
            doc: "true if it casts shadows (true)",
        },
        ComponentField {
            name: "group",
            kind: FieldKind::Text,
            doc: "the visibility group of the component, for Unit.set_visibility",
        },
        ComponentField {
            name: "range",
            kind: FieldKind::Numbers(2),
            doc: "minimum and maximum distance from the camera at which it is shown, in metres",
        },
    ],
};

/// Reads a component `mesh`.
pub(super) fn read(
    part: &ComponentSource,
    node: u16,
    builder: &mut TemplateBuilder,
) -> Result<(), Error> {
    let fields = &part.fields;
    let Some(model) = text(fields, "model") else {
        return Err(error!("it names no model: model = \"models/barrel\""));
    };
    let entry = builder.template.meshes.len();
    let mesh = text(fields, "mesh").map(str::to_string);
    let mesh = ResourceReference::Mesh { model: model.to_string(), mesh };
    match text(fields, "material") {
        None => builder.refer(entry, mesh, set_mesh),
        Some(name) => {
            builder.refer(entry, mesh, set_mesh_of_material);
            let material = ResourceReference::MeshMaterial(name.to_string());
            builder.refer(entry, material, set_material);
        }
    }
    let group = group(fields, &mut builder.template)?;
    let range = range(fields)?;
    builder.template.meshes.push(MeshComponent {
        name: part.name.clone(),
        node,
        mesh: MeshNumber(0),
        casts_shadows: truth(fields, "casts_shadows").unwrap_or(true),
        visible: truth(fields, "visible").unwrap_or(true),
        group,
        tint: [255; 4],
        extra: Arc::new(MeshExtra { materials: Vec::new(), local: None, range }),
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
