//! Requests of a remote tool to show frames in its own window. The display (src/app/display.rs)
//! owns the window. The run passes the requests noted here to it.

use super::message_table::integer;
use super::{IncomingCall, PendingReply, Refusal};
use crate::App;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;

/// A tool's request to attach or detach its window, and the client that sent it.
pub struct ForeignWindowRequest {
    reply: PendingReply,
    /// The window's number, or `None` to detach it.
    window: Option<u64>,
}

fn add_request(call: &mut IncomingCall, window: Option<u64>) -> Result<Option<SjsonTree>, Refusal> {
    if call.state.window_request.is_some() {
        return Err(Refusal::of("another tool is lending its window in this frame: ask again"));
    }
    call.state.window_request = Some(ForeignWindowRequest { reply: call.reply.clone(), window });
    Ok(None)
}

/// Requests that frames are shown in a tool's window.
pub fn attach(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let window = integer(call.fields, "window");
    add_request(call, window)
}

/// Requests that frames are no longer shown in a tool's window.
pub fn detach(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    add_request(call, None)
}

impl App {
    /// Returns the pending request of a tool, if any: the number of the window to attach, or `None`
    /// to detach it. The caller must answer it at once with [`App::answer_window_request`].
    pub fn window_request(&self) -> Option<Option<u64>> {
        self.tools.as_ref()?.state.window_request.as_ref().map(|request| request.window)
    }

    /// Answers the pending request. `outcome` holds the size in pixels of the window that is now
    /// drawn to.
    pub fn answer_window_request(&mut self, outcome: Result<Option<(u32, u32)>, String>) {
        let Some(tools) = &mut self.tools else { return };
        let Some(ForeignWindowRequest { reply, .. }) = tools.state.window_request.take() else {
            return;
        };
        // If the game is paused, the window has no content yet.
        tools.state.needs_redraw = true;
        match outcome {
            Ok(None) => reply.answer(json::object([])),
            Ok(Some((width, height))) => reply.answer(json::object([
                ("width", SjsonTree::Number(f64::from(width))),
                ("height", SjsonTree::Number(f64::from(height))),
            ])),
            Err(message) => reply.refuse(Refusal::of(message)),
        }
    }
}
