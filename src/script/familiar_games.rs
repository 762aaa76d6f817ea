//! Words of kinds of games and of animation, with the pages that they mean: more rows of
//! familiar_names.rs.

use super::familiar_names::{FamiliarName, row};

pub(super) const GAME_NAMES: &[FamiliarName] = &[
    row(
        "docs/menus.md",
        "menu, main menu, title screen, pause menu, pause, volume slider, options menu, settings \
         menu, start screen, game over screen, menus, screens, game state, gamestate, \
         state machine, scene manager, menu with a gamepad, hump.gamestate",
    ),
    row(
        "docs/physics_2d.md",
        "2d physics, 2d world, 2d game, box2d, camera follow, follow camera, camera shake, screen \
         shake, dead zone, platformer physics, love.physics",
    ),
    row(
        "docs/physics_2d.md#characters",
        "jump, platformer, jumping, double jump, coyote time, player jump, platformer character",
    ),
    row(
        "docs/physics_2d.md#coins-enemies-and-checkpoints",
        "enemy, coin, stomp, checkpoint, pickup, pick up, coins, enemies, collectible, \
         respawn point, power-up, goomba",
    ),
    row(
        "docs/physics_2d.md#a-background",
        "2d background, background, background image, parallax, background of a 2d world, parallax \
         background, scrolling background, gui behind world",
    ),
    row(
        "docs/physics_2d.md#the-camera",
        "core/camera_2d, camera_2d, Camera2D, camera 2d, hump.camera, camera bounds",
    ),
    row(
        "docs/physics.md#movers",
        "step_height, max_slope, snap, step height, slope limit, stepOffset, floor_max_angle",
    ),
    row(
        "docs/debug_ui.md",
        "dear imgui, debug window, debug menu, Imgui, button, slider, checkbox",
    ),
    row("docs/testing.md", "simulate input, simulated input, simulate input headless run"),
    row("docs/testing.md#recordings", "replay input file, --replay, --replay input file"),
    row(
        "docs/animation.md",
        "skeleton, skeletal animation, animated model, skinned, skinned mesh, skinning, bone, \
         bones, armature, rig, AnimationPlayer, Animator, play animation, walk cycle, crossfade, \
         blend tree, AnimationTree",
    ),
    row(
        "docs/animation.md#morph-targets",
        "morph target, morph targets, blend shape, blend shapes, shape key, shape keys, facial \
         animation",
    ),
    row(
        "docs/animation.md#animation-files",
        "retargeting, retarget animation, additive animation, animation events",
    ),
    row(
        "docs/animation.md#state-machines",
        "animation state machine, animator controller, blend space, \
         AnimationNodeStateMachine",
    ),
];
