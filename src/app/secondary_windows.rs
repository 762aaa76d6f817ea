//! Driver of the game's secondary windows: opens and closes them on the desktop and in the
//! renderer, and performs the game's window commands.

use engine_foundation::log;
use engine_frame_packet::{FramePacket, ViewTarget};
use engine_render::Renderer;
use engine_runtime::Devices;
use engine_window::{Desktop, SecondaryWindows, Window, WindowId};

/// The secondary windows requested from the desktop.
#[derive(Default)]
pub struct SecondaryWindowDriver {
    all: Vec<RequestedState>,
}

struct RequestedState {
    number: u64,
    /// True if the desktop has opened the window and the renderer knows it.
    open: bool,
    /// Size in pixels, as last passed to the renderer.
    pixels: (u32, u32),
}

impl SecondaryWindowDriver {
    /// Updates the desktop's windows from the game's: closes, opens and performs commands.
    pub fn sync(
        &mut self,
        windows: &mut SecondaryWindows,
        desktop: &mut Desktop,
        mut renderer: Option<&mut Renderer>,
    ) {
        let lives =
            |number: u64| windows.iter().any(|(id, window)| id.number() == number && !window.shut);
        self.all.retain(|requested| {
            let lives = lives(requested.number);
            if !lives {
                close(requested.number, desktop, renderer.as_deref_mut());
            }
            lives
        });
        for (id, window) in windows.iter_mut().filter(|(_, window)| !window.shut) {
            self.sync_window(id, window, desktop, renderer.as_deref_mut());
        }
    }

    fn sync_window(
        &mut self,
        id: WindowId,
        window: &mut Window,
        desktop: &mut Desktop,
        mut renderer: Option<&mut Renderer>,
    ) {
        let number = id.number();
        let Some(requested) = self.all.iter_mut().find(|requested| requested.number == number)
        else {
            desktop.open_secondary(number, window.opening.clone());
            self.all.push(RequestedState { number, open: false, pixels: window.pixels });
            return;
        };
        // Commands wait until the window is open.
        let Some(shown) = desktop.secondary(number) else { return };
        if !requested.open {
            (requested.open, requested.pixels) = (true, window.pixels);
            if let Some(renderer) = renderer.as_deref_mut()
                && let Err(message) = renderer.open_window(number, shown, window.pixels)
            {
                log_draw_error(&window.title, &message);
            }
        }
        if requested.pixels != window.pixels {
            requested.pixels = window.pixels;
            if let Some(renderer) = renderer {
                renderer.resize_window(number, window.pixels.0, window.pixels.1);
            }
        }
        perform(desktop, Some(number), window);
    }

    /// Closes all secondary windows, because their game has ended.
    pub fn close(&mut self, desktop: &mut Desktop, mut renderer: Option<&mut Renderer>) {
        for requested in self.all.drain(..) {
            close(requested.number, desktop, renderer.as_deref_mut());
        }
    }
}

/// Closes a window in the renderer, then on the desktop.
fn close(number: u64, desktop: &mut Desktop, renderer: Option<&mut Renderer>) {
    if let Some(renderer) = renderer {
        renderer.close_window(number);
    }
    desktop.close_secondary(number);
}

/// Performs the game's commands for a window.
pub fn perform(desktop: &mut Desktop, number: Option<u64>, window: &mut Window) {
    for command in window.take_commands() {
        if let Err(message) = desktop.perform(number, command) {
            log::warning(&format!("the desktop refused a request for a window: {message}"));
        }
    }
}

/// Discards window commands if there is no desktop to perform them, for example when a recording of
/// a windowed run is replayed without a window.
pub fn discard_requests(main: &mut Window, others: &mut SecondaryWindows) {
    drop(main.take_commands());
    for (_, window) in others.iter_mut() {
        drop(window.take_commands());
    }
}

fn log_draw_error(title: &str, message: &str) {
    log::error(&format!("the window \"{title}\" is not drawn to: {message}"));
}

/// Logs that a window cannot be drawn to any more. Returns false if the game had closed the window,
/// in which case nothing is logged.
pub fn report_window_lost(windows: &SecondaryWindows, number: u64, message: &str) -> bool {
    let mut all = windows.iter().filter(|(_, window)| !window.shut);
    let found = all.find(|(id, _)| id.number() == number);
    found.inspect(|(_, window)| log_draw_error(&window.title, message)).is_some()
}

/// Returns the windows that are invisible to the player.
pub fn unseen_windows(devices: &Devices) -> Vec<ViewTarget> {
    let others = devices.windows.iter().filter(|(_, window)| window.is_unseen());
    let main = devices.window.is_unseen().then_some(ViewTarget::Screen);
    others.map(|(id, _)| ViewTarget::Window(id.number())).chain(main).collect()
}

/// Removes the views of invisible windows from a packet. The screen's view stays if a screenshot is
/// wanted. Views that draw into textures stay, because the textures may be used later.
pub fn remove_unseen_views(packet: &mut FramePacket, hidden: &[ViewTarget]) {
    let is_wanted = |target| target == ViewTarget::Screen && !packet.captures.is_empty();
    packet.views.retain(|view| !hidden.contains(&view.target) || is_wanted(view.target));
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::Vec2;
    use engine_frame_packet::shading_environment::{EnvironmentTextures, ShadingEnvironment};
    use engine_frame_packet::texture::TextureSlot;
    use engine_frame_packet::{CaptureRequest, View};
    use engine_window::{WindowCommand, WindowOptions};
    use engine_world::camera::Camera;

    #[test]
    fn window_commands_without_a_desktop_are_discarded() {
        let (mut main, mut others) =
            (Window::new(&WindowOptions::default()), SecondaryWindows::default());
        main.listen();
        let map = others.open(&WindowOptions::default(), &main).unwrap();
        main.push_command(WindowCommand::Focus);
        others.of(map).push_command(WindowCommand::Minimize);
        discard_requests(&mut main, &mut others);
        assert_eq!((main.take_commands().count(), others.of(map).take_commands().count()), (0, 0));
    }

    #[test]
    fn hidden_views_are_skipped_except_for_textures_and_captures() {
        let view = |target| View {
            target,
            rectangle: [0.0, 0.0, 1.0, 1.0],
            clear: None,
            camera: Camera::DEFAULT.frame(Vec2::ONE),
            scene: None,
            layers: u32::MAX,
            sky: None,
            environment: ShadingEnvironment::DEFAULT,
            environment_textures: EnvironmentTextures::default(),
            viewport: None,
            guis: Vec::new(),
        };
        let texture = ViewTarget::Texture(TextureSlot::SHARED);
        let (main, visible, hidden) =
            (ViewTarget::Screen, ViewTarget::Window(1), ViewTarget::Window(2));
        let views = [main, texture, visible, hidden].map(view).to_vec();
        let mut packet = FramePacket { views, ..FramePacket::default() };
        packet.captures.push(CaptureRequest { number: 1, of: ViewTarget::Screen });
        let targets = |packet: &FramePacket| -> Vec<ViewTarget> {
            packet.views.iter().map(|view| view.target).collect()
        };
        remove_unseen_views(&mut packet, &[main, hidden]);
        assert_eq!(targets(&packet), [main, texture, visible], "a picture is wanted");
        packet.captures.clear();
        remove_unseen_views(&mut packet, &[main, hidden]);
        assert_eq!(targets(&packet), [texture, visible]);
    }
}
