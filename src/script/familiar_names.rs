//! Words that people search for, with the functions and pages that they mean here: terms of other
//! engines, their functions, and everyday words. Error messages, `engine docs` and the manual's
//! search read this table.

use super::familiar_games::GAME_NAMES;

/// A function, module or page, with other names for it.
pub struct FamiliarName {
    /// A name of the reference (`Gui.bitmap`), or a page of the manual, with the anchor of a
    /// heading if one is meant (`docs/physics.md#movers`).
    pub target: &'static str,
    /// Names and words, separated by commas. Errors suggest the target for a function of a module
    /// of the API that is among them, such as `Gui.image`.
    aliases: &'static str,
}

impl FamiliarName {
    /// Returns the aliases one by one.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        self.aliases.split(',').map(str::trim)
    }
}

/// Returns the function that a missing function of a module most likely means.
pub fn equivalent(module: &str, name: &str) -> Option<&'static str> {
    let means = |word: &str| {
        let parts = word.split_once('.');
        parts.is_some_and(|(known, last)| known == module && last.eq_ignore_ascii_case(name))
    };
    let row = familiar_names().find(|row| row.aliases().any(means))?;
    (!row.target.starts_with("docs/")).then_some(row.target)
}

/// Returns the function or the page that a name of another engine means.
pub fn target(name: &str) -> Option<&'static str> {
    let row = familiar_names().find(|row| row.aliases().any(|word| word == name))?;
    Some(row.target)
}

/// Returns what a global of another engine means here, as the end of a message.
pub fn meaning(global: &str) -> Option<String> {
    // Words of kinds of games, such as `enemy`, are the names of a game's own variables.
    let target = FAMILIAR_NAMES.iter().find(|row| row.aliases().any(|word| word == global))?.target;
    Some(match target.strip_prefix("docs/") {
        Some(page) => {
            let page = page.split(['.', '#']).next().unwrap_or(page);
            format!("see: engine docs {page}")
        }
        None => format!("did you mean {target}?"),
    })
}

/// Returns all rows. Of several rows with the same word, the first is the best.
pub fn familiar_names() -> impl Iterator<Item = &'static FamiliarName> {
    FAMILIAR_NAMES.iter().chain(GAME_NAMES)
}

pub(super) const fn row(target: &'static str, aliases: &'static str) -> FamiliarName {
    FamiliarName { target, aliases }
}

/// Functions and pages of the engine. Words of kinds of games are in familiar_games.rs.
const FAMILIAR_NAMES: &[FamiliarName] = &[
    // Drawing
    row(
        "Gui.bitmap",
        "Gui.draw, Gui.image, Gui.draw_image, Gui.picture, Gui.sprite, image, draw image, \
         draw an image, how to draw an image, draw picture, draw texture, draw sprite, blit, \
         love.graphics.draw, TextureRect",
    ),
    row(
        "Gui.text",
        "Gui.print, Gui.draw_text, Gui.label, draw text, print text, show text, label, \
         love.graphics.print, DrawString, TextMesh",
    ),
    row("Gui.text_extents", "measure text, text width, text size, string width, Font.getWidth"),
    row(
        "Gui.word_wrap",
        "wrap text, word wrap, line break, multiline text, love.graphics.printf, Gui.printf",
    ),
    row(
        "Gui.rect",
        "Gui.rectangle, Gui.box, rectangle, draw rectangle, fill rectangle, ColorRect, \
         love.graphics.rectangle",
    ),
    row("Gui.line", "draw line, Gui.draw_line, love.graphics.line"),
    row("Gui.circle", "draw circle, Gui.draw_circle, love.graphics.circle"),
    row("Gui.polygon", "draw polygon, love.graphics.polygon"),
    row(
        "Gui.bitmap_uv",
        "quad, newQuad, love.graphics.newQuad, sprite batch, SpriteBatch, newSpriteBatch, \
         part of an image, sub image, Gui.quad, Gui.draw_quad",
    ),
    row("Gui.nine_patch", "nine slice, 9 slice, nine patch, panel, Gui.nine_slice, scale9"),
    row(
        "Gui.push_blend",
        "blend mode, setBlendMode, love.graphics.setBlendMode, additive, Gui.set_blend_mode",
    ),
    row("Gui.begin_mask", "mask, stencil, love.graphics.stencil, setStencilTest, Gui.mask"),
    row("Gui.shear", "shear, skew, slant, love.graphics.shear"),
    row("Gui.transform", "applyTransform, love.graphics.applyTransform, matrix, Transform2D"),
    row("Gui.gradient_rect", "gradient, linear gradient, GradientTexture2D"),
    row("Gui.gradient_ellipse", "radial gradient, glow, vignette"),
    row("Gui.polygon_uv", "mesh, newMesh, love.graphics.newMesh, textured polygon, draw_polygon"),
    row("Gui.clear", "love.graphics.clear, clear canvas, clear texture"),
    row("Gui.polyline", "dashed line, line join, setLineJoin, line cap, Line2D"),
    row("Gui.rotate", "rotate image, rotate sprite, rotate text, rotate picture"),
    row("Gui.scale", "scale image, scale sprite, zoom gui"),
    row("Gui.push", "push matrix, transform stack, love.graphics.push, save transform"),
    row("Gui.push_clip", "scissor, setScissor, clip, clipping, Gui.scissor, Gui.set_clip"),
    row(
        "World.create_screen_gui",
        "Gui.create, Gui.new, hud, user interface, ui, canvas layer, menu, main menu",
    ),
    row(
        "World.create_world_gui",
        "text in the world, health bar, 3d text, floating text, billboard",
    ),
    row(
        "World.create_texture_gui",
        "canvas, newCanvas, love.graphics.newCanvas, render texture, render target, off-screen, \
         draw to texture, framebuffer, Gui.canvas, Gui.new_canvas, setCanvas",
    ),
    row("Color", "colour, rgb, rgba, setColor, love.graphics.setColor, Color.new, Color.create"),
    row("Color.from_hex", "hex colour, hex color, html color"),
    row("Color.from_hsv", "hsv, hue, rainbow"),
    row("docs/text.md#fonts", "font, ttf, otf, newFont, love.graphics.newFont, bitmap font"),
    row(
        "docs/materials.md#shaders",
        "shader, newShader, love.graphics.newShader, wgsl, glsl, hlsl, fragment shader, \
         pixel shader, vertex shader, shader code",
    ),
    row("docs/gui.md#draw-calls", "draw calls, batching, batch"),
    row("docs/textures.md", "png, jpg, newImage, love.graphics.newImage, load image, mipmaps"),
    row(
        "docs/textures.md#settings",
        "texture filter, setFilter, nearest filter, pixel art, blurry pixels, blurry image",
    ),
    row(
        "docs/textures.md#sprite-sheets",
        "sprite sheet, spritesheet, atlas, texture atlas, aseprite, tile sheet",
    ),
    row(
        "Image.to_texture",
        "Texture.create, Texture.new, create texture, replacePixels, ImageTexture",
    ),
    row(
        "Image.new",
        "ImageData, newImageData, love.image.newImageData, Image.create, Texture2D, pixel data, \
         pixels",
    ),
    row("Image.pixel", "getPixel, get_pixel, Image.get_pixel"),
    row("Image.set_pixel", "setPixel, put_pixel, set pixel, draw pixel"),
    row("Image.map", "mapPixel, map pixels, Image.each"),
    row("Image.blit", "paste, blit_rect, blend_rect, Image.draw, Image.paste"),
    row("Image.save", "save_png, save image, save png, Image.encode, Image.write"),
    row("docs/images.md", "minimap, paint program, painting, pixel access, dynamic texture"),
    row("Debug.line", "draw debug line, debug draw, gizmo, gizmos, DrawLine, Debug.draw_line"),
    // Worlds, units, levels
    row(
        "World.spawn_unit",
        "Unit.create, Unit.new, Unit.spawn, spawn, instantiate, create object, \
         spawn object, add_child, CreateEntity, World.spawn, World.create_unit",
    ),
    row(
        "World.destroy_unit",
        "Unit.destroy, Unit.delete, Unit.remove, remove unit, destroy object, delete object, \
         queue_free, despawn, remove object, World.remove_unit, World.despawn",
    ),
    row("docs/units.md", "prefab, entity, game object, GameObject, Node3D, actor class, object"),
    row(
        "docs/units.md#components",
        "component, script component, MonoBehaviour, behaviour, ecs, entity component system, \
         attach script",
    ),
    row("docs/units.md#inheritance", "prefab variant, inherited scene, base unit, inherit unit"),
    row(
        "World.spawn_level",
        "Level.load, Level.spawn, load level, load scene, change scene, switch scene, \
         change_scene_to_file, LoadScene, World.load_level, load map",
    ),
    row("World.destroy_level", "Level.destroy, Level.unload, unload level, unload scene"),
    row("docs/levels.md", "level, scene, map, level file, scene file"),
    row(
        "World.set_sky",
        "skybox, sky box, ambient light, environment, background colour, background color, \
         World.set_skybox, World.set_ambient",
    ),
    row(
        "docs/lights.md",
        "light, point light, spot light, directional light, sun, lamp, lighting, shadow, shadows",
    ),
    row("Application.main_camera", "camera, Camera.main, main camera"),
    row("Application.create_camera", "Camera.new, Camera.create, create camera, second camera"),
    row(
        "Camera.set_orthographic_size",
        "orthographic, orthographic camera, orthographic size, camera zoom, zoom, Camera.set_zoom, \
         Camera.zoom, Camera.set_size",
    ),
    row("World.main_camera", "2d camera, camera 2d, world camera"),
    row(
        "PhysicsWorld.spawn_chain",
        "chain shape, edge shape, newChainShape, newEdgeShape, 2d terrain",
    ),
    row("PhysicsWorld.spawn_polygon", "polygon shape, newPolygonShape"),
    row(
        "Actor.set_one_way",
        "one-way platform, one way platform, jump through platform, one way collision",
    ),
    row("Camera.set_vertical_fov", "field of view, fov, Camera.set_fov, Camera.fov"),
    row(
        "Camera.screen_to_ray",
        "mouse pick, picking, click on object, ScreenPointToRay, ray from mouse",
    ),
    row(
        "Camera.world_to_screen",
        "WorldToScreenPoint, unproject_position, screen position, world to screen, \
         Camera.project",
    ),
    row("Camera.screen_to_world", "ScreenToWorldPoint, mouse position in world, screen to world"),
    row(
        "Quaternion.look",
        "Camera.look_at, Quaternion.look_at, Unit.look_at, look at, LookAt, face target, \
         LookRotation, point at",
    ),
    row("Application.new_world", "World.new, World.create, create world, new world"),
    row("Application.release_world", "World.destroy, World.release, destroy world"),
    row(
        "Application.render_world",
        "black screen, nothing is drawn, nothing drawn, show world, draw world, World.render, \
         World.draw, empty window",
    ),
    row("World.update", "nothing moves, time scale, pause game, World.step, timeScale"),
    row(
        "Application.set_time_step_policy",
        "frame rate, fps limit, frame limit, fixed time step, fixed timestep, FixedUpdate, \
         max fps, Application.set_fps",
    ),
    row(
        "Unit.set_local_position",
        "set position, move object, move unit, Unit.set_position, Unit.set_x, Unit.set_y, \
         Unit.set_z, \
         Unit.move, Unit.translate, transform, transform.position, setPosition",
    ),
    row(
        "Unit.world_position",
        "get position, getPosition, Unit.position, Unit.get_position, \
         global_position, Unit.x, Unit.y, Unit.z",
    ),
    row(
        "Unit.set_local_rotation",
        "rotate unit, rotate object, Unit.rotate, Unit.set_rotation, \
         transform.rotation",
    ),
    row("Unit.set_local_scale", "scale unit, resize unit, Unit.set_scale, Unit.scale"),
    row(
        "Unit.set_unit_visibility",
        "hide unit, hide object, show unit, SetActive, Unit.hide, \
         Unit.show, visible",
    ),
    row(
        "World.link_unit",
        "parent, attach, set_parent, SetParent, attach to bone, child object, Unit.set_parent, \
         Unit.attach, Unit.add_child, Unit.link",
    ),
    row("Unit.set_data", "custom data, unit properties, object variables, tag, Unit.set"),
    row("World.units", "all units, find objects, FindObjectsOfType, get_children, list units"),
    row("Level.unit_by_index", "Level.unit_by_id, World.unit_by_id"),
    row(
        "Material.set_scalar",
        "Unit.set_scalar_for_material, Unit.set_scalar_for_materials, shader variable, uniform, \
         material variable",
    ),
    row(
        "World.units_with",
        "find components, FindObjectsByType, GetComponent, get_nodes_in_group, all lights",
    ),
    row("World.unit_by_name", "find object, get_node, find unit, GameObject.Find, find by name"),
    row("Level.spline_position", "path, curve, spline, bezier, Path2D, follow path"),
    row("Broadphase", "spatial hash, quadtree, nearest object, find nearest, nearby objects"),
    row(
        "docs/navigation.md",
        "navmesh, navigation, pathfinding, path finding, NavMeshAgent, GwNav, GwNavBot, a star, \
         astar, crowd, flow field",
    ),
    row("Tilemap", "tile map, sti, tilemap"),
    row("docs/tilemaps.md", "tiled, ldtk, tmx, tile set, tileset, orthogonal map"),
    row(
        "docs/models.md",
        "gltf, glb, fbx, obj, blender, import model, 3d model, model, static mesh, import blender, \
         heightfield, height map, heightmap, terrain, landscape",
    ),
    row(
        "docs/models.md#units-of-models",
        "level of detail, lod, LODGroup, material override, visibility group",
    ),
    row("docs/models.md#what-is-imported", "morph target, blend shape"),
    row(
        "Mesh.new",
        "procedural mesh, ProceduralMesh.create, vertices, custom mesh, newMesh, Mesh.create, \
         love.graphics.newMesh, vertex buffer, ArrayMesh",
    ),
    row(
        "docs/sprites.md#animation",
        "animation, animate, sprite animation, frame animation, AnimatedSprite, anim8, flipbook, \
         animated sprite",
    ),
    row("Sprite.set_flip", "flip, mirror, flip sprite, flip_h, Sprite.flip, Sprite.set_flip_x"),
    row("docs/sprites.md", "sprite, 2d, Sprite2D, SpriteRenderer, z order, draw order"),
    row(
        "docs/particles.md",
        "particle system, particles, vfx, newParticleSystem, love.graphics.newParticleSystem, \
         smoke, fire, explosion, GPUParticles2D",
    ),
    row("World.create_particles", "emit particles, spawn particles, start particles, emitter"),
    // Physics
    row(
        "docs/physics.md",
        "rigid body, rigidbody, RigidBody2D, collider, collision shape, box2d, bullet, newBody, \
         love.physics, static body, physics",
    ),
    row(
        "docs/physics.md#movers",
        "character controller, CharacterController, CharacterBody2D, move_and_slide, \
         player movement, kinematic body, walk, slope",
    ),
    row(
        "docs/physics.md#a-third-person-character",
        "third person, third person camera, third person character, orbit camera, camera orbit, \
         chase camera, camera collision, coyote time, coyote, double jump",
    ),
    row(
        "docs/physics.md#triggers",
        "pickup, pick up, collect, collectible, coin, item, checkpoint, trigger mover",
    ),
    row(
        "docs/physics.md#materials-and-collision-filters",
        "collision layer, collision mask, collision filter, physics layer, bounce, bouncy, \
         friction, restitution",
    ),
    row(
        "docs/physics.md#2d-worlds-and-worlds-without-physics",
        "2d physics, flat physics, physics 2d",
    ),
    row(
        "Actor.set_velocity",
        "Unit.set_velocity, set velocity, set speed, setLinearVelocity, \
         linear_velocity",
    ),
    row("Actor.velocity", "Unit.velocity, Unit.get_velocity, getLinearVelocity, get speed, speed"),
    row("Actor.add_force", "Actor.apply_force, Unit.add_force, force, AddForce, applyForce"),
    row(
        "Actor.add_impulse",
        "Actor.apply_impulse, impulse, applyLinearImpulse, knock back, jump, kick, push body",
    ),
    row("Actor.teleport_position", "Actor.set_position, move body, teleport"),
    row("Actor.teleport_rotation", "Actor.set_rotation"),
    row(
        "PhysicsWorld.raycast",
        "World.raycast, ray cast, raycast, line of sight, hit scan, intersect_ray, \
         Physics.Raycast, Actor.raycast, Unit.raycast",
    ),
    row(
        "PhysicsWorld.contacts",
        "PhysicsWorld.on_collision, PhysicsWorld.on_contact, collision, collision event, \
         OnCollisionEnter, beginContact, body_entered, collide, hit event, on collision",
    ),
    row(
        "PhysicsWorld.triggers",
        "PhysicsWorld.on_trigger, trigger, trigger zone, sensor, OnTriggerEnter, area_entered, \
         Area2D, enter area, hitbox",
    ),
    row("PhysicsWorld.overlap", "overlap, objects in radius, OverlapSphere, touching objects"),
    row("PhysicsWorld.set_gravity", "gravity, setGravity, PhysicsWorld.gravity_set"),
    row(
        "PhysicsWorld.create_joint",
        "joint, hinge, rope, spring, wheel joint, mouse joint, drag body, constraint, weld, \
         newJoint, newWheelJoint, newMouseJoint, newRopeJoint, newPulleyJoint, pulley",
    ),
    // Input
    row(
        "Keyboard.held",
        "Keyboard.down, Keyboard.is_down, Keyboard.isDown, Keyboard.is_held, isDown, key down, \
         key held, is key down, love.keyboard.isDown, GetKey, is_key_pressed, hold key",
    ),
    row(
        "Keyboard.pressed",
        "keypressed, key pressed, love.keypressed, GetKeyDown, just pressed, key press, on key, \
         is_action_just_pressed, Keyboard.is_pressed, Keyboard.just_pressed, Keyboard.key_pressed",
    ),
    row(
        "Keyboard.released",
        "keyreleased, key released, love.keyreleased, GetKeyUp, \
         Keyboard.is_released, Keyboard.just_released",
    ),
    row(
        "Keyboard.keystrokes",
        "text input, textinput, typing, love.textinput, type text, \
         Keyboard.text",
    ),
    row(
        "Mouse.axis",
        "Mouse.position, Mouse.getPosition, Mouse.get_position, Mouse.cursor, mouse position, \
         cursor position, mouse x, love.mouse.getPosition, mousePosition, mouse wheel, scroll \
         wheel, wheelmoved, get_mouse_position, mouse",
    ),
    row("Mouse.held", "Mouse.down, Mouse.is_down, Mouse.isDown, mouse button down, GetMouseButton"),
    row(
        "Mouse.pressed",
        "click, mouse click, mousepressed, love.mousepressed, mouse button, \
         GetMouseButtonDown, left click, right click",
    ),
    row(
        "Window.set_show_cursor",
        "hide cursor, hide mouse, show cursor, Mouse.set_visible, \
         Mouse.hide, Mouse.setVisible, Cursor.visible, mouse visible",
    ),
    row(
        "Window.set_cursor_mode",
        "lock mouse, capture mouse, mouse lock, pointer lock, \
         relative mouse, MOUSE_MODE_CAPTURED, Cursor.lockState, mouse look",
    ),
    row("Window.set_cursor_picture", "custom cursor, mouse cursor, cursor image"),
    row(
        "docs/input.md#pads",
        "gamepad, joystick, controller, game controller, xbox controller, pad, love.joystick, \
         analog stick, dualshock, stick, thumbstick",
    ),
    row(
        "Input.set_actions",
        "input mapping, input map, key binding, actions, is_action_pressed, GetAxis, Input.bind, \
         Input.map, key bindings, input action, wasd, WASD keys, arrow keys",
    ),
    row("docs/input.md#binding-by-the-player", "rebind, remap keys, change controls, remapping"),
    row("Pad1.set_rumble", "rumble, vibration, vibrate, haptics, force feedback"),
    row("TouchPanel", "touch, touch screen, touchscreen, multitouch, finger, swipe, pinch"),
    // Sound
    row(
        "Sound.trigger",
        "Sound.play, Sound.start, playsound, play sound, play music, AudioSource, \
         love.audio.play, newSource, audio, sound effect, sfx, AudioStreamPlayer, WwiseWorld, \
         footstep, footsteps",
    ),
    row("Sound.preload", "Sound.load, load sound, Sound.new, Sound.create"),
    row("Sound.stop", "stop sound, stop music, love.audio.stop"),
    row("Sound.set_bus_volume", "master volume, volume, music volume, mute, love.audio.setVolume"),
    row("Sound.set_loop", "setLooping, loop sound, looping, loop"),
    row("Sound.seek", "source:seek, skip to, playback position"),
    row(
        "SoundBuffer.new",
        "SoundData, newSoundData, love.sound.newSoundData, AudioStreamGenerator, AudioClip.Create, \
         generated sound, synth, synthesizer, SoundBuffer.create",
    ),
    row("Sound.set_pitch", "pitch, playback speed, setPitch"),
    row("Sound.fade", "fade out, fade in, cross fade, fade music"),
    row("docs/sound.md", "music, wav, ogg, mp3, fmod, wwise, loop music, sound file"),
    row(
        "docs/sound.md#position-and-listener",
        "3d sound, positional audio, spatial audio, listener, attenuation, panning, AudioListener",
    ),
    row(
        "docs/sound.md#buses-and-effects",
        "reverb, echo, low pass, lowpass, equalizer, mixer, \
         audio bus, compressor, limiter",
    ),
    // Time and mathematics
    row(
        "Timer.after",
        "delay, setTimeout, call later, hump.timer, Invoke, timer, alarm, \
         Timer.new, Timer.start",
    ),
    row("Timer.every", "setInterval, repeat, periodically, InvokeRepeating, Timer.loop"),
    row("wait", "wait seconds, WaitForSeconds, sleep, pause script, coroutine"),
    row(
        "Tween.to",
        "tween, easing, ease, flux, lerp over time, smooth move, create_tween, \
         Tween.new, Tween.start, World.storyteller",
    ),
    row("Application.delta_time", "delta time, dt, deltaTime, getDelta, love.timer.getDelta"),
    row(
        "Application.time_since_launch",
        "time, getTime, love.timer.getTime, elapsed time, clock, \
         Application.time",
    ),
    row("Math.random", "random, random number, rand, love.math.random, randf, randi, Random.Range"),
    row("Math.set_seed", "seed, randomseed, random seed, setRandomSeed"),
    row("Math.noise", "noise, perlin noise, simplex noise, perlin, love.math.noise"),
    row("Math.lerp", "lerp, interpolate, mix, linear interpolation"),
    row("Math.clamp", "clamp, limit value, clampf"),
    row("Math.round", "round, rounding"),
    row("math.floor", "floor, Math.floor, round down"),
    row("math.abs", "Math.abs"),
    row("math.sin", "Math.sin, sine"),
    row("math.cos", "Math.cos, cosine"),
    row("math.sqrt", "Math.sqrt, square root"),
    row("math.max", "Math.max"),
    row("math.min", "Math.min"),
    row("math.pi", "Math.pi"),
    row("Vector3.distance", "distance, distance between points, distance_to, Vector3.dist"),
    row("Vector3.normalize", "normalize, normalized, unit vector, Vector3.normalized"),
    row("Vector3", "vector, vec3, Vector3.new, Vector3.create"),
    row("Vector2", "vec2, Vector2.new, Vector2.create"),
    row("Quaternion", "Quaternion.new, euler angles, quat, rotation"),
    // Saves, data, languages
    row(
        "Save.write",
        "save game, savegame, write file, love.filesystem.write, persist, PlayerPrefs, \
         store data, high score, Save.save, Save.set, filesystem",
    ),
    row("Save.read", "load game, read save, love.filesystem.read, Save.load, Save.get, loadgame"),
    row("Application.set_user_setting", "user settings, options, preferences, config file"),
    row("Json.encode", "json, to json, stringify, Json.stringify, serialize, Json.write"),
    row("Json.decode", "parse json, from json, Json.parse, deserialize, Json.read"),
    row("Localizer", "translation, language, localization, localisation, i18n, tr, translate"),
    // The window and the program
    row(
        "Window.set_resolution",
        "resize window, window size, setMode, love.window.setMode, \
         Window.set_size, Window.resize, set resolution",
    ),
    row(
        "Window.resolution",
        "screen size, screen width, window width, Window.size, \
         Window.get_size, love.graphics.getWidth, getDimensions, resolution, viewport size",
    ),
    row("Window.set_fullscreen", "fullscreen, full screen, toggle fullscreen, setFullscreen"),
    row("Window.set_title", "window title, title, setTitle, love.window.setTitle"),
    row("Window.set_icon", "icon, window icon, setIcon"),
    row("Window.set_vsync", "vsync, vertical sync, setVSync, tearing"),
    row("Window.clipboard", "clipboard, paste, copy text, getClipboardText"),
    row("Window.dropped_files", "drag and drop, drop files, filedropped"),
    row("docs/window.md", "window, windows, second window, monitor, display"),
    row(
        "Application.quit",
        "quit, exit, close game, love.event.quit, end game, Application.exit, os.exit",
    ),
    row("Application.screenshot", "screenshot, screen capture, captureScreenshot, save picture"),
    row("Application.open_url_in_browser", "open link, url, website, openURL, open browser"),
    row("Application.argv", "command line, arguments, args, command line arguments"),
    row(
        "docs/resources.md#bundles-shipping-a-game",
        "export, build game, ship, publish, package game, release game, executable, distribute, \
         deploy, pck, bundle, export game",
    ),
    row("docs/resources.md#packages", "package, asset bundle, loading screen, preload, streaming"),
    row("docs/resources.md", "resource, asset, assets, file types, formats"),
    row("docs/settings.md", "configuration, conf.lua, project settings, config, settings"),
    row("docs/hot_reload.md", "live reload, hot reload, live coding, lurker, lume.hotswap"),
    row("docs/testing.md", "unit test, test, tests, busted, luassert, automated test, test suite"),
    row("docs/testing.md#recordings", "replay, record input, recording, demo file, playback"),
    row("docs/testing.md#coverage", "coverage, code coverage, luacov"),
    row("docs/profiling.md", "profiler, profile, slow, performance, frame time, lag, flame graph"),
    row("docs/statistics.md", "fps, show fps, stats, getFPS, counters, memory usage"),
    row("docs/tools.md", "console, inspector, editor, remote, dev tools, log window"),
    row("docs/errors.md", "crash, stack trace, error handling, callstack, error message"),
    row(
        "docs/tasks.md",
        "thread, threads, multithreading, love.thread, async, job, background \
         work, worker thread",
    ),
    row("docs/languages.md", "fennel, teal, moonscript, fnl, transpile, other language, lisp"),
    row("docs/compatibility.md", "libraries, luarocks, lua library, require library, middleclass"),
    // Callbacks and Lua
    row(
        "init",
        "love.load, awake, Start, _ready, _init, ready, start function, BeginPlay, on start",
    ),
    row(
        "update",
        "love.update, _process, tick, game loop, main loop, every frame, _physics_process, \
         LateUpdate",
    ),
    row("render", "love.draw, _draw, OnGUI, OnRender, draw callback, draw function"),
    row("shutdown", "love.quit, OnDestroy, on exit, cleanup, _exit_tree"),
    row("on_close", "close button, WM_CLOSE_REQUEST, window closed"),
    row("on_activate", "love.focus, lost focus, alt tab, focus, OnApplicationFocus"),
    row("class", "oop, object oriented, metatable, inheritance, extends, class_name"),
    row("print", "log, console.log, Debug.log, Debug.print, output"),
    row("Script.warn", "warn, warning, push_warning, LogWarning"),
    row("require", "import, include, load script, another file"),
    row("docs/coming_from_love.md", "love2d, love, löve, port from love"),
    row(
        "docs/coming_from_stingray.md",
        "stingray, bitsquid, autodesk, flow, vermintide, stingray.Application",
    ),
    row("docs/first_game.md", "tutorial, getting started, first game, hello world, example"),
    row("docs/faq.md", "faq, questions, help, why"),
    row("docs/faq.md#what-does-not-exist-yet", "multiplayer, networking, network"),
];

#[cfg(test)]
#[path = "familiar_names_tests.rs"]
mod tests;
