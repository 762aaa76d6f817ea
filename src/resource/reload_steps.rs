//! The steps of a hot reload: the column of the table of kinds that says what is brought up to date
//! when a resource changes, and the changed resources by step. The steps are performed by the
//! systems, in the order of `app/resource_reload.rs`.

use super::resource_kind::ResourceKinds;
use super::resource_name::ResourceName;

/// Something that is brought up to date when a resource changes. A kind lists its steps in the
/// column [`reload`](super::resource_kind::ResourceKind::reload).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReloadStep {
    /// Modules of the game.
    Scripts,
    /// Rules and audio clips of sounds.
    Sounds,
    /// The buses that sounds play on.
    Mixers,
    Fonts,
    /// Textures, and the materials that show them.
    Textures,
    /// Textures of sheets, and the materials that show them.
    Sheets,
    /// Shaders, and the materials that use them.
    Shaders,
    Materials,
    /// Models, and the meshes that show them.
    Models,
    Particles,
    /// Animations, and the characters that use them.
    Animations,
    /// State machines, and the characters that use them.
    StateMachines,
    /// Shapes of actors that are built from models.
    CollisionShapes,
    /// Physics materials and collision filters.
    PhysicsProperties,
    /// Unit resources. They are read again at the next spawn; existing units do not change.
    UnitResources,
    /// Frames of sheets that sprites play.
    Sequences,
    /// Tile maps, and the units that show them.
    Tilemaps,
    /// Level resources. They are read again at the next spawn.
    Levels,
    /// Navigation files. The meshes of levels are baked again.
    Navigation,
    /// Values of shading environments.
    ShadingEnvironments,
    /// Graphs, and their instances. Files of units and levels can contain graphs, too.
    Flow,
    /// Render configs, and the views that are drawn with them.
    RenderConfigs,
}

/// The changed resources of one reload, with the steps of their kinds.
pub struct ChangedResources<'a> {
    resources: Vec<(&'a ResourceName, &'static [ReloadStep])>,
}

impl<'a> ChangedResources<'a> {
    /// Looks up the steps of changed resources. Resources of unknown kinds have no steps.
    pub fn new(changed: &'a [ResourceName], kinds: ResourceKinds) -> ChangedResources<'a> {
        let steps = |name: &ResourceName| kinds.by_name(&name.kind).map_or(&[][..], |it| it.reload);
        ChangedResources { resources: changed.iter().map(|name| (name, steps(name))).collect() }
    }

    /// Returns the resources that go through a step, in the order of the changes.
    pub fn of(&self, step: ReloadStep) -> impl Iterator<Item = &'a ResourceName> + '_ {
        let of_step = move |(_, steps): &&(&ResourceName, &[ReloadStep])| steps.contains(&step);
        self.resources.iter().filter(of_step).map(|(name, _)| *name)
    }

    /// Returns true if any resource goes through the step.
    pub fn any(&self, step: ReloadStep) -> bool {
        self.of(step).next().is_some()
    }

    /// Returns true if the resource with that name goes through the step.
    pub fn has(&self, step: ReloadStep, name: &str) -> bool {
        self.of(step).any(|resource| resource.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::data_resources::{CONFIG, TEXT};
    use super::super::resource_kind::ResourceKind;
    use super::*;

    static STEPPED: ResourceKind =
        ResourceKind { reload: &[ReloadStep::Sounds, ReloadStep::Levels], ..CONFIG };
    static KINDS: ResourceKinds = ResourceKinds(&[&STEPPED, &TEXT]);

    #[test]
    fn changed_resources_are_reloaded_by_the_steps_of_their_kind() {
        let names = [("config", "a"), ("text", "a"), ("config", "b"), ("planet", "a")];
        let names = names.map(|(kind, name)| ResourceName::new(kind, name));
        let changed = ChangedResources::new(&names, KINDS);
        let of = |step| changed.of(step).map(|name| name.name.as_str()).collect::<Vec<_>>();
        assert_eq!(of(ReloadStep::Sounds), ["a", "b"]);
        assert_eq!(of(ReloadStep::Levels), ["a", "b"]);
        assert!(!changed.any(ReloadStep::Fonts) && changed.any(ReloadStep::Sounds));
        assert!(changed.has(ReloadStep::Sounds, "b") && !changed.has(ReloadStep::Sounds, "c"));
        assert!(!changed.has(ReloadStep::Scripts, "a"));
    }
}
