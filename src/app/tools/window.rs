//! A window that a tool lends: pictures are shown in it. The window is the screen's
//! (src/app/screen.rs), which the run asks for what is noted here.

use super::messages::whole;
use super::{Asker, Call, Refusal};
use crate::app::App;
use crate::foundation::sjson::Tree;
use crate::system::tools::json;

/// What a tool wants with a window of its own, and who asked.
pub struct Lending {
    asker: Asker,
    /// Its number; none where it takes it back.
    window: Option<u64>,
}

fn note(call: &mut Call, window: Option<u64>) -> Result<Option<Tree>, Refusal> {
    if call.state.lending.is_some() {
        return Err(Refusal::of("another tool is lending its window in this frame: ask again"));
    }
    call.state.lending = Some(Lending { asker: call.asker.clone(), window });
    Ok(None)
}

/// Pictures are to be shown in a tool's window.
pub fn attach(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    let window = whole(call.fields, "window");
    note(call, window)
}

/// And no longer.
pub fn detach(call: &mut Call) -> Result<Option<Tree>, Refusal> {
    note(call, None)
}

impl App {
    /// Whether a tool wants something with a window: the number of the one that it lends, or none
    /// where it takes it back. To be answered at once.
    pub fn lending(&self) -> Option<Option<u64>> {
        self.tools.as_ref()?.state.lending.as_ref().map(|lending| lending.window)
    }

    /// What became of it: the size of the window that is drawn to now, in pixels.
    pub fn lent(&mut self, outcome: Result<Option<(u32, u32)>, String>) {
        let Some(tools) = &mut self.tools else { return };
        let Some(Lending { asker, .. }) = tools.state.lending.take() else { return };
        // Where the game stands, the window has nothing to show yet.
        tools.state.redraw = true;
        match outcome {
            Ok(None) => asker.answer(json::object([])),
            Ok(Some((width, height))) => asker.answer(json::object([
                ("width", Tree::Number(f64::from(width))),
                ("height", Tree::Number(f64::from(height))),
            ])),
            Err(words) => asker.refuse(Refusal::of(words)),
        }
    }
}
