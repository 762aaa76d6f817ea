//! The desktop of executables for servers, which have none: nothing can be opened. It has the
//! interface of desktop.rs, desktop_clipboard.rs and foreign_window.rs, with types that have no
//! values.

use super::event::{DesktopError, ForeignWindowStatus, WindowEvent};
use super::no_window::NoWindow;
use super::{WindowCommand, WindowOptions};
use std::sync::Arc;
use std::time::Duration;

const NO_DESKTOP: &str = "this executable of the engine is for servers and opens no windows";

/// The desktop, which cannot be opened.
pub enum Desktop {}

impl Desktop {
    /// Returns an error.
    pub fn open(_: &WindowOptions) -> Result<Desktop, DesktopError> {
        Err(DesktopError(NO_DESKTOP.to_string()))
    }

    pub fn window(&self) -> Arc<NoWindow> {
        match *self {}
    }

    pub fn secondary(&self, _: u64) -> Option<Arc<NoWindow>> {
        match *self {}
    }

    pub fn open_secondary(&mut self, _: u64, _: WindowOptions) {
        match *self {}
    }

    pub fn close_secondary(&mut self, _: u64) {
        match *self {}
    }

    pub fn poll(&mut self, _: Duration) -> Vec<WindowEvent> {
        match *self {}
    }

    pub fn is_lost(&self) -> bool {
        match *self {}
    }

    pub fn take_exposed(&mut self) -> bool {
        match *self {}
    }

    pub fn perform(&mut self, _: Option<u64>, _: WindowCommand) -> Result<(), String> {
        match *self {}
    }
}

/// A window of another program, which cannot be opened.
pub enum ForeignWindow {}

impl ForeignWindow {
    /// Returns an error.
    pub fn open(_: u64) -> Result<ForeignWindow, String> {
        Err(NO_DESKTOP.to_string())
    }

    pub fn handle(&self) -> Arc<NoWindow> {
        match *self {}
    }

    pub fn size(&self) -> (u32, u32) {
        match *self {}
    }

    pub fn poll(&mut self) -> ForeignWindowStatus {
        match *self {}
    }
}

/// The desktop's clipboard, which cannot be opened.
pub enum DesktopClipboard {}

impl DesktopClipboard {
    /// Returns an error.
    pub fn open() -> Result<DesktopClipboard, String> {
        Err("this executable of the engine is for servers and has no clipboard".to_string())
    }

    pub fn text(&mut self) -> Result<String, String> {
        match *self {}
    }

    pub fn set_text(&mut self, _: &str) -> Result<(), String> {
        match *self {}
    }
}
