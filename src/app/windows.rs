//! The windows that a game opens beside its main one, where there is a desktop: opened and closed
//! there and at the renderer as the game has it, and told the game's wishes.

use crate::engine::Engine;
use crate::foundation::log;
use crate::packet::{Packet, Target};
use crate::system::render::Renderer;
use crate::system::window::{Desktop, Others, Window, WindowId};

/// Those that the desktop was asked for.
#[derive(Default)]
pub struct OtherWindows {
    all: Vec<Asked>,
}

struct Asked {
    number: u64,
    /// Whether the desktop has opened it, and the renderer was told.
    open: bool,
    /// In pixels, as the renderer knows it.
    pixels: (u32, u32),
}

impl OtherWindows {
    /// Brings the desktop's windows in line with the game's: closes, opens, does what is wished.
    pub fn follow(
        &mut self,
        engine: &mut Engine,
        desktop: &mut Desktop,
        mut renderer: Option<&mut Renderer>,
    ) {
        let lives = |engine: &Engine, number: u64| {
            engine.windows.iter().any(|(id, window)| id.number() == number && !window.shut)
        };
        self.all.retain(|asked| {
            let lives = lives(engine, asked.number);
            if !lives {
                close(asked.number, desktop, renderer.as_deref_mut());
            }
            lives
        });
        for (id, window) in engine.windows.iter_mut().filter(|(_, window)| !window.shut) {
            self.follow_one(id, window, desktop, renderer.as_deref_mut());
        }
    }

    fn follow_one(
        &mut self,
        id: WindowId,
        window: &mut Window,
        desktop: &mut Desktop,
        mut renderer: Option<&mut Renderer>,
    ) {
        let number = id.number();
        let Some(asked) = self.all.iter_mut().find(|asked| asked.number == number) else {
            desktop.open_other(number, window.opening.clone());
            self.all.push(Asked { number, open: false, pixels: window.pixels });
            return;
        };
        // What is wished until it is there waits.
        let Some(shown) = desktop.other(number) else { return };
        if !asked.open {
            (asked.open, asked.pixels) = (true, window.pixels);
            if let Some(renderer) = renderer.as_deref_mut()
                && let Err(words) = renderer.open_window(number, shown, window.pixels)
            {
                say(&window.title, &words);
            }
        }
        if asked.pixels != window.pixels {
            asked.pixels = window.pixels;
            if let Some(renderer) = renderer {
                renderer.resize_window(number, window.pixels.0, window.pixels.1);
            }
        }
        perform(desktop, Some(number), window);
    }

    /// Closes all of them: the game that had them is not there any more.
    pub fn close(&mut self, desktop: &mut Desktop, mut renderer: Option<&mut Renderer>) {
        for asked in self.all.drain(..) {
            close(asked.number, desktop, renderer.as_deref_mut());
        }
    }
}

/// The renderer lets go of a window before the desktop ends it.
fn close(number: u64, desktop: &mut Desktop, renderer: Option<&mut Renderer>) {
    if let Some(renderer) = renderer {
        renderer.close_window(number);
    }
    desktop.close_other(number);
}

/// Does what the game wished of a window.
pub fn perform(desktop: &mut Desktop, number: Option<u64>, window: &mut Window) {
    for wish in window.take_wishes() {
        if let Err(words) = desktop.perform(number, wish) {
            log::warning(&format!("the desktop refused what the game wants: {words}"));
        }
    }
}

/// Forgets what was wished where nobody does it: a recording that was made in a window is played
/// without one.
pub fn forget_wishes(main: &mut Window, others: &mut Others) {
    drop(main.take_wishes());
    for (_, window) in others.iter_mut() {
        drop(window.take_wishes());
    }
}

fn say(title: &str, words: &str) {
    log::error(&format!("the window \"{title}\" is not drawn to: {words}"));
}

/// Says that a window cannot be drawn to any more. Where it was closed, that is known: whether it
/// was not.
pub fn tell(engine: &Engine, number: u64, words: &str) -> bool {
    let mut all = engine.windows.iter().filter(|(_, window)| !window.shut);
    let found = all.find(|(id, _)| id.number() == number);
    found.inspect(|(_, window)| say(&window.title, words)).is_some()
}

/// The windows of which nothing can be seen.
pub fn unseen(engine: &Engine) -> Vec<Target> {
    let others = engine.windows.iter().filter(|(_, window)| window.is_unseen());
    let main = engine.window.is_unseen().then_some(Target::Screen);
    others.map(|(id, _)| Target::Window(id.number())).chain(main).collect()
}

/// Leaves out what nobody sees, but for the screen where a picture of it is wanted. What is drawn
/// into textures may be wanted later.
pub fn leave_out(packet: &mut Packet, unseen: &[Target]) {
    let is_wanted = |target| target == Target::Screen && !packet.captures.is_empty();
    packet.views.retain(|view| !unseen.contains(&view.target) || is_wanted(view.target));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::texture::TextureSlot;
    use crate::packet::{Capture, View};
    use crate::system::window::{Opening, Wish};
    use crate::world::camera::Camera;

    #[test]
    fn what_is_wished_where_nobody_does_it_does_not_pile_up() {
        let (mut main, mut others) = (Window::new(&Opening::default()), Others::default());
        main.listen();
        let map = others.open(&Opening::default(), &main).unwrap();
        main.wish(Wish::Focus);
        others.of(map).wish(Wish::Minimize);
        forget_wishes(&mut main, &mut others);
        assert_eq!((main.take_wishes().count(), others.of(map).take_wishes().count()), (0, 0));
    }

    #[test]
    fn what_nobody_sees_is_left_out_but_for_textures_and_wanted_pictures() {
        let view = |target| View {
            target,
            rectangle: [0.0, 0.0, 1.0, 1.0],
            clear: None,
            camera: Camera::DEFAULT.frame(1.0),
            scene: None,
            layers: u32::MAX,
            guis: Vec::new(),
        };
        let texture = Target::Texture(TextureSlot::SHARED);
        let (main, seen, unseen) = (Target::Screen, Target::Window(1), Target::Window(2));
        let views = [main, texture, seen, unseen].map(view).to_vec();
        let mut packet = Packet { views, ..Packet::default() };
        packet.captures.push(Capture { number: 1, of: Target::Screen });
        let targets = |packet: &Packet| -> Vec<Target> {
            packet.views.iter().map(|view| view.target).collect()
        };
        leave_out(&mut packet, &[main, unseen]);
        assert_eq!(targets(&packet), [main, texture, seen], "a picture is wanted");
        packet.captures.clear();
        leave_out(&mut packet, &[main, unseen]);
        assert_eq!(targets(&packet), [texture, seen]);
    }
}
