//! Foreign window: a window of another program, identified by its number, that the game draws into.
//! The other program owns it, sizes it, and may close it at any time. Only X11 has window numbers
//! that are valid in every program.

#[cfg(target_os = "linux")]
mod platform {
    use super::super::event::ForeignWindowStatus;
    use std::num::NonZeroU32;
    use std::ptr::NonNull;
    use std::sync::Arc;
    use winit::raw_window_handle::{
        DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, RawDisplayHandle,
        RawWindowHandle, WindowHandle, XcbDisplayHandle, XcbWindowHandle,
    };
    use x11rb::connection::Connection;
    use x11rb::protocol::Event;
    use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt, EventMask};
    use x11rb::xcb_ffi::XCBConnection;

    /// Foreign window with a separate connection to its display.
    pub struct ForeignWindow {
        handle: Arc<ForeignWindowHandle>,
        size: (u32, u32),
    }

    /// Handle for the renderer, which holds it while it draws to the window.
    pub struct ForeignWindowHandle {
        connection: XCBConnection,
        screen: usize,
        window: NonZeroU32,
    }

    impl ForeignWindow {
        /// Opens a window by its number. Returns the reason if there is none.
        pub fn open(number: u64) -> Result<ForeignWindow, String> {
            let missing = || format!("there is no window {number} on this display");
            let window = u32::try_from(number).ok().and_then(NonZeroU32::new);
            let window = window.ok_or_else(missing)?;
            let (connection, screen) = XCBConnection::connect(None).map_err(|reason| {
                format!("a tool's window is found by X11, and there is no display ({reason})")
            })?;
            let geometry_request = connection.get_geometry(window.get()).map_err(|_| missing())?;
            let geometry = geometry_request.reply().map_err(|_| missing())?;
            let size = (u32::from(geometry.width), u32::from(geometry.height));
            let wanted = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
            let subscribed = connection.change_window_attributes(window.get(), &wanted);
            subscribed.map_err(|_| missing())?.check().map_err(|_| missing())?;
            Ok(ForeignWindow {
                handle: Arc::new(ForeignWindowHandle { connection, screen, window }),
                size,
            })
        }

        pub fn handle(&self) -> Arc<ForeignWindowHandle> {
            Arc::clone(&self.handle)
        }

        /// Returns width and height in pixels.
        pub fn size(&self) -> (u32, u32) {
            self.size
        }

        /// Returns the changes of the window since the last check.
        pub fn poll(&mut self) -> ForeignWindowStatus {
            let (before, window) = (self.size, self.handle.window.get());
            loop {
                match self.handle.connection.poll_for_event() {
                    Ok(Some(Event::ConfigureNotify(event))) if event.window == window => {
                        self.size = (u32::from(event.width), u32::from(event.height));
                    }
                    Ok(Some(Event::DestroyNotify(event))) if event.window == window => {
                        return ForeignWindowStatus::Closed;
                    }
                    // Includes errors of the renderer's requests to a closed window.
                    Ok(Some(_)) => {}
                    Ok(None) if self.size == before => return ForeignWindowStatus::Same,
                    Ok(None) => return ForeignWindowStatus::Resized(self.size.0, self.size.1),
                    Err(_) => return ForeignWindowStatus::Closed,
                }
            }
        }
    }

    impl HasWindowHandle for ForeignWindowHandle {
        fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
            let raw = RawWindowHandle::Xcb(XcbWindowHandle::new(self.window));
            // SAFETY: the handle is a number, which the display looks up at each use.
            Ok(unsafe { WindowHandle::borrow_raw(raw) })
        }
    }

    impl HasDisplayHandle for ForeignWindowHandle {
        fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
            let connection = NonNull::new(self.connection.get_raw_xcb_connection());
            let raw = XcbDisplayHandle::new(connection, self.screen as i32);
            // SAFETY: the connection lives as long as `self`, which is borrowed.
            Ok(unsafe { DisplayHandle::borrow_raw(RawDisplayHandle::Xcb(raw)) })
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::super::event::ForeignWindowStatus;
    use super::super::no_window::NoWindow;
    use std::sync::Arc;

    /// Foreign windows are not supported on this system.
    pub enum ForeignWindow {}

    impl ForeignWindow {
        pub fn open(_: u64) -> Result<ForeignWindow, String> {
            Err("a tool's window can be drawn to with X11 alone: follow the stream 'picture'"
                .to_string())
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
}

pub use platform::ForeignWindow;
