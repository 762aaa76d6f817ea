//! Another program on the display: it reads the properties of windows, asks windows to close,
//! shares the clipboard with them, and drops files on them by the XDND protocol of freedesktop.org.

use super::Display;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, CreateWindowAux, EventMask,
    ImageFormat, PropMode, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT, CURRENT_TIME};

/// Version of the protocol.
const VERSION: u32 = 5;

pub struct X11Client {
    to: RustConnection,
    own: u32,
}

impl X11Client {
    pub fn on(display: &Display) -> X11Client {
        X11Client::at(&display.name)
    }

    /// Connects to the display of that name.
    pub fn at(name: &str) -> X11Client {
        let (to, screen) = x11rb::connect(Some(name)).expect("the display is there");
        let root = to.setup().roots[screen].root;
        let own = to.generate_id().expect("there are numbers left");
        let (aux, input) = (CreateWindowAux::new(), WindowClass::INPUT_OUTPUT);
        let visual = COPY_FROM_PARENT;
        to.create_window(COPY_DEPTH_FROM_PARENT, own, root, 0, 0, 1, 1, 0, input, visual, &aux)
            .expect("it is sent")
            .check()
            .expect("a window can be made");
        X11Client { to, own }
    }

    /// Resizes and maps its own window, and returns its number.
    pub fn show(&self, width: u32, height: u32) -> u32 {
        let size = ConfigureWindowAux::new().width(width).height(height);
        let sized = self.to.configure_window(self.own, &size).expect("it is sent");
        sized.check().expect("it can be sized");
        self.to.map_window(self.own).expect("it is sent").check().expect("it can be seen");
        self.own
    }

    fn atom(&self, name: &str) -> u32 {
        let reply = self.to.intern_atom(false, name.as_bytes()).expect("it is sent");
        reply.reply().expect("it is answered").atom
    }

    /// Returns a property of a window: integers of four bytes.
    pub fn property(&self, window: u32, name: &str) -> Vec<u32> {
        let name = self.atom(name);
        let reply = self.to.get_property(false, window, name, AtomEnum::ANY, 0, 1 << 20);
        let found = reply.expect("it is sent").reply().expect("it is answered");
        found.value32().map(Iterator::collect).unwrap_or_default()
    }

    /// Returns the color of a pixel of a window, counted from its upper left corner: red, green,
    /// blue.
    pub fn pixel(&self, window: u32, x: i16, y: i16) -> [u8; 3] {
        let reply = self.to.get_image(ImageFormat::Z_PIXMAP, window, x, y, 1, 1, u32::MAX);
        let image = reply.expect("it is sent").reply().expect("the window is seen");
        // The byte order of Xvfb with 24 bits.
        [image.data[2], image.data[1], image.data[0]]
    }

    fn send_message(&self, window: u32, name: &str, data: [u32; 5]) {
        let message = ClientMessageEvent::new(32, window, self.atom(name), data);
        let sent = self.to.send_event(false, window, EventMask::NO_EVENT, message);
        sent.expect("it is sent").check().expect("the window is there");
    }

    /// Asks a window to close, as a desktop does for the player.
    pub fn ask_to_close(&self, window: u32) {
        self.send_message(
            window,
            "WM_PROTOCOLS",
            [self.atom("WM_DELETE_WINDOW"), CURRENT_TIME, 0, 0, 0],
        );
    }

    /// Returns the text that another program has put into the clipboard.
    pub fn clipboard(&self) -> String {
        let (from, text) = (self.atom("CLIPBOARD"), self.atom("UTF8_STRING"));
        let reply = self.to.convert_selection(self.own, from, text, from, CURRENT_TIME);
        reply.expect("it is sent").check().expect("it can be asked for");
        loop {
            if let Event::SelectionNotify(event) = self.to.wait_for_event().expect("it is there") {
                assert_eq!(event.property, from, "nobody has anything there");
                break;
            }
        }
        let reply = self.to.get_property(true, self.own, from, AtomEnum::ANY, 0, 1 << 20);
        let found = reply.expect("it is sent").reply().expect("it is answered");
        String::from_utf8(found.value).expect("it is UTF-8")
    }

    /// Takes ownership of the clipboard.
    pub fn take_clipboard(&self) {
        let owner = self.to.set_selection_owner(self.own, self.atom("CLIPBOARD"), CURRENT_TIME);
        owner.expect("it is sent").check().expect("it can be owned");
    }

    /// Passes the clipboard's text to the first program that requests it.
    pub fn serve_clipboard(&self, text: &str) {
        loop {
            let event = self.to.wait_for_event().expect("the display is there");
            if let Event::SelectionRequest(request) = event {
                return self.answer(&request, text);
            }
        }
    }

    /// Drops the files of a list of URIs on a window.
    pub fn drop_on(&self, window: u32, addresses: &str) {
        let (selection, list) = (self.atom("XdndSelection"), self.atom("text/uri-list"));
        let owner = self.to.set_selection_owner(self.own, selection, CURRENT_TIME);
        owner.expect("it is sent").check().expect("it can be owned");
        self.send_message(window, "XdndEnter", [self.own, VERSION << 24, list, 0, 0]);
        let copy = self.atom("XdndActionCopy");
        self.send_message(window, "XdndPosition", [self.own, 0, 10 << 16 | 10, CURRENT_TIME, copy]);
        // The window requests the list, and reports that it accepts it.
        let (mut reply, mut taken) = (false, false);
        while !(reply && taken) {
            match self.to.wait_for_event().expect("the display is there") {
                Event::SelectionRequest(request) => {
                    self.answer(&request, addresses);
                    reply = true;
                }
                Event::ClientMessage(message) if message.type_ == self.atom("XdndStatus") => {
                    assert_eq!(message.data.as_data32()[1] & 1, 1, "it takes no files");
                    taken = true;
                }
                _ => {}
            }
        }
        self.send_message(window, "XdndDrop", [self.own, 0, CURRENT_TIME, 0, 0]);
    }

    fn answer(&self, request: &SelectionRequestEvent, text: &str) {
        let SelectionRequestEvent { requestor, selection, target, property, time, .. } = *request;
        let request = self.to.change_property8(
            PropMode::REPLACE,
            requestor,
            property,
            target,
            text.as_bytes(),
        );
        request.expect("it is sent").check().expect("the window is there");
        let notify = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time,
            requestor,
            selection,
            target,
            property,
        };
        let sent = self.to.send_event(false, requestor, EventMask::NO_EVENT, notify);
        sent.expect("it is sent").check().expect("the window is there");
    }
}
