//! Checks of meshes before they are drawn: limits, and references between their arrays. Knows no
//! scene and no adapter.

use engine_frame_packet::deformation::{
    JOINTS_MAX, MORPH_OFFSETS_MAX, MORPH_TARGETS_MAX, MeshMorph, MeshSkin,
};
use engine_frame_packet::mesh::{INDICES_MAX, MeshFrame, PARTS_MAX, VERTICES_MAX};

/// Returns the reason why a mesh cannot be drawn, if there is one.
pub fn refusal(mesh: &MeshFrame) -> Option<String> {
    let (vertices, indices) = (mesh.vertices.len(), mesh.indices.len());
    if vertices > VERTICES_MAX || indices > INDICES_MAX || mesh.parts.len() > PARTS_MAX {
        return Some(format!(
            "it has {vertices} vertices, {indices} indices and {} parts; at most {VERTICES_MAX}, \
             {INDICES_MAX} and {PARTS_MAX} can be drawn (VERTICES_MAX, INDICES_MAX, PARTS_MAX): \
             split it",
            mesh.parts.len()
        ));
    }
    for (i, part) in mesh.parts.iter().enumerate() {
        let end = u64::from(part.first) + u64::from(part.count);
        if end > indices as u64 || part.count % 3 != 0 {
            return Some(format!(
                "its part {} has the indices {} to {end} of {indices}: export it again",
                i + 1,
                part.first
            ));
        }
    }
    if let Some(wrong) = mesh.indices.iter().find(|index| **index as usize >= vertices) {
        return Some(format!(
            "an index is {wrong}, and there are {vertices} vertices: export it again"
        ));
    }
    let skin = mesh.skin.as_ref().and_then(|skin| skin_refusal(skin, vertices));
    skin.or_else(|| mesh.morph.as_ref().and_then(|morph| morph_refusal(morph, vertices)))
}

/// Returns the reason why a mesh with this skin cannot be drawn, if there is one.
fn skin_refusal(skin: &MeshSkin, vertices: usize) -> Option<String> {
    let MeshSkin { joints, weights, .. } = skin;
    let count = skin.joint_count();
    if count > JOINTS_MAX {
        return Some(format!(
            "it has {count} joints, and {JOINTS_MAX} is the most (JOINTS_MAX): split it"
        ));
    }
    if joints.len() != vertices || weights.len() != vertices {
        return Some(format!(
            "{} of its {vertices} vertices have joints, and {} have weights: export it again",
            joints.len(),
            weights.len()
        ));
    }
    let wrong = joints.iter().flatten().find(|joint| usize::from(**joint) >= count)?;
    Some(format!("a vertex has the joint {wrong}, and there are {count} joints: export it again"))
}

/// Returns the reason why a mesh with these morph targets cannot be drawn, if there is one.
fn morph_refusal(morph: &MeshMorph, vertices: usize) -> Option<String> {
    let (targets, offsets) = (morph.target_count(), morph.offsets.len());
    if targets > MORPH_TARGETS_MAX || offsets > MORPH_OFFSETS_MAX {
        return Some(format!(
            "it has {targets} morph targets with {offsets} offsets; at most {MORPH_TARGETS_MAX} \
             and {MORPH_OFFSETS_MAX} can be drawn (MORPH_TARGETS_MAX, MORPH_OFFSETS_MAX): remove \
             some"
        ));
    }
    let starts = &morph.starts;
    let right = starts.len() == vertices + 1
        && starts.is_sorted()
        && starts.last().is_some_and(|end| *end as usize == offsets)
        && morph.offsets.iter().all(|offset| usize::from(offset.target) < targets);
    (!right).then(|| {
        format!(
            "its morph targets have {offsets} offsets that do not belong to its {vertices} \
             vertices: export it again"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::RendererEvent;
    use super::super::draw_resources::DrawResources;
    use super::*;
    use engine_foundation::Vec3;
    use engine_frame_packet::mesh::{MeshBounds, MeshChange, MeshPart, MeshSlot, MeshVertex};
    use std::sync::Arc;

    fn mesh(indices: &[u32], parts: &[[u32; 3]]) -> MeshFrame {
        let vertices = vec![MeshVertex::default(); 3];
        let part = |it: &[u32; 3]| MeshPart { first: it[0], count: it[1], surface: it[2] };
        MeshFrame {
            name: "cliff".to_string(),
            bounds: MeshBounds { min: Vec3::ZERO, max: Vec3::ONE, center: Vec3::ZERO, radius: 1.0 },
            vertices,
            indices: indices.to_vec(),
            parts: parts.iter().map(part).collect(),
            skin: None,
            morph: None,
        }
    }

    fn set_mesh(library: &mut DrawResources, mesh: MeshFrame) -> Vec<RendererEvent> {
        let mut events = Vec::new();
        let change = MeshChange::Set { slot: MeshSlot(2), mesh: Arc::new(mesh) };
        library.apply(&[change], &[], &mut events);
        events
    }

    #[test]
    fn a_mesh_with_invalid_references_is_refused() {
        let check = |mesh: MeshFrame, wanted: &str| {
            let mut library = DrawResources::new();
            let events = set_mesh(&mut library, mesh);
            let [RendererEvent::MeshRefused { message, name, .. }] = &events[..] else {
                panic!("{events:?}")
            };
            assert_eq!((message.as_str(), name.as_str()), (wanted, "cliff"));
            assert!(library.mesh(2).is_none());
        };
        check(
            mesh(&[0, 1, 3], &[[0, 3, 0]]),
            "an index is 3, and there are 3 vertices: export it again",
        );
        check(
            mesh(&[0, 1, 2], &[[0, 3, 0], [2, 3, 0]]),
            "its part 2 has the indices 2 to 5 of 3: export it again",
        );
    }

    #[test]
    fn a_mesh_with_invalid_joints_or_morph_targets_is_refused() {
        let good = || {
            let mut good = mesh(&[0, 1, 2], &[[0, 3, 0]]);
            let joints = [[0, 1, 0, 0]; 3];
            let skin = MeshSkin::new(&good.vertices, &joints, &[[0.5, 0.5, 0.0, 0.0]; 3]);
            let targets = [vec![[1.0, 0.0, 0.0]; 3]];
            let morph = MeshMorph::new(&good.vertices, &good.indices, &targets).unwrap();
            (good.skin, good.morph) = (Some(Arc::new(skin)), Some(Arc::new(morph)));
            good
        };
        assert!(set_mesh(&mut DrawResources::new(), good()).is_empty());
        let check = |change: fn(&mut MeshSkin, &mut MeshMorph), wanted: &str| {
            let mut mesh = good();
            let mut skin = MeshSkin::clone(mesh.skin.as_ref().unwrap());
            let mut morph = MeshMorph::clone(mesh.morph.as_ref().unwrap());
            change(&mut skin, &mut morph);
            (mesh.skin, mesh.morph) = (Some(Arc::new(skin)), Some(Arc::new(morph)));
            let events = set_mesh(&mut DrawResources::new(), mesh);
            let [RendererEvent::MeshRefused { message, .. }] = &events[..] else {
                panic!("{wanted}: {events:?}")
            };
            assert!(message.contains(wanted), "{message}");
        };
        check(|skin, _| skin.joints[1][2] = 2, "the joint 2, and there are 2 joints");
        check(|skin, _| _ = skin.weights.pop(), "3 of its 3 vertices have joints, and 2 have");
        check(
            |skin, _| skin.spheres.resize(1025, skin.spheres[0]),
            "it has 1025 joints, and 1024 is the most (JOINTS_MAX)",
        );
        check(|_, morph| morph.offsets[0].target = 1, "offsets that do not belong to its 3");
        check(|_, morph| morph.starts[1] = 9, "offsets that do not belong to its 3");
        check(|_, morph| _ = morph.starts.pop(), "offsets that do not belong to its 3");
        check(|_, morph| morph.reaches.resize(257, 0.0), "257 morph targets with 3 offsets");
    }
}
