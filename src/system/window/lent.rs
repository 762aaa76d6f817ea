//! A window of another program's, known by its number: pictures are shown in it as in one of our
//! own. Its program keeps it, sizes it, and may close it at any time. X11 alone has numbers of
//! windows that hold in every program.

/// What became of a lent window since the last look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Became {
    /// It is as it was.
    Same,
    /// It has another size, in pixels.
    Resized(u32, u32),
    /// It was closed, or its display is gone.
    Gone,
}

#[cfg(target_os = "linux")]
mod here {
    use super::Became;
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

    /// A connection to the display of its own, and the window there.
    pub struct Lent {
        handle: Arc<Handle>,
        size: (u32, u32),
    }

    /// For the renderer, which holds it as long as it draws there.
    pub struct Handle {
        connection: XCBConnection,
        screen: usize,
        window: NonZeroU32,
    }

    impl Lent {
        /// Finds a window by its number; the words say why there is none.
        pub fn open(number: u64) -> Result<Lent, String> {
            let missing = || format!("there is no window {number} on this display");
            let window = u32::try_from(number).ok().and_then(NonZeroU32::new);
            let window = window.ok_or_else(missing)?;
            let (connection, screen) = XCBConnection::connect(None).map_err(|reason| {
                format!("a tool's window is found by X11, and there is no display ({reason})")
            })?;
            let asked = connection.get_geometry(window.get()).map_err(|_| missing())?;
            let geometry = asked.reply().map_err(|_| missing())?;
            let size = (u32::from(geometry.width), u32::from(geometry.height));
            let wanted = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
            let told = connection.change_window_attributes(window.get(), &wanted);
            told.map_err(|_| missing())?.check().map_err(|_| missing())?;
            Ok(Lent { handle: Arc::new(Handle { connection, screen, window }), size })
        }

        pub fn handle(&self) -> Arc<Handle> {
            Arc::clone(&self.handle)
        }

        /// In pixels.
        pub fn size(&self) -> (u32, u32) {
            self.size
        }

        /// What became of it since the last look.
        pub fn look(&mut self) -> Became {
            let (before, window) = (self.size, self.handle.window.get());
            loop {
                match self.handle.connection.poll_for_event() {
                    Ok(Some(Event::ConfigureNotify(event))) if event.window == window => {
                        self.size = (u32::from(event.width), u32::from(event.height));
                    }
                    Ok(Some(Event::DestroyNotify(event))) if event.window == window => {
                        return Became::Gone;
                    }
                    // Also what the renderer's own requests for a closed window came to.
                    Ok(Some(_)) => {}
                    Ok(None) if self.size == before => return Became::Same,
                    Ok(None) => return Became::Resized(self.size.0, self.size.1),
                    Err(_) => return Became::Gone,
                }
            }
        }
    }

    impl HasWindowHandle for Handle {
        fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
            let raw = RawWindowHandle::Xcb(XcbWindowHandle::new(self.window));
            // SAFETY: a number, which the display looks up anew at each use.
            Ok(unsafe { WindowHandle::borrow_raw(raw) })
        }
    }

    impl HasDisplayHandle for Handle {
        fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
            let connection = NonNull::new(self.connection.get_raw_xcb_connection());
            let raw = XcbDisplayHandle::new(connection, self.screen as i32);
            // SAFETY: the connection lives as long as `self`, which is borrowed.
            Ok(unsafe { DisplayHandle::borrow_raw(RawDisplayHandle::Xcb(raw)) })
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod here {
    use super::Became;
    use std::sync::Arc;

    /// None can be had here.
    pub enum Lent {}

    impl Lent {
        pub fn open(_: u64) -> Result<Lent, String> {
            Err("a tool's window can be drawn to with X11 alone: follow the stream 'picture'"
                .to_string())
        }

        pub fn handle(&self) -> Arc<winit::window::Window> {
            match *self {}
        }

        pub fn size(&self) -> (u32, u32) {
            match *self {}
        }

        pub fn look(&mut self) -> Became {
            match *self {}
        }
    }
}

pub use here::Lent;
