//! A pair of connected sockets that preserve message boundaries and transfer open files. Knows no
//! requests.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Maximum length of a message in bytes: a path and a little more.
pub const MESSAGE_BYTES_MAX: usize = 4352;

/// A buffer for the control message that transfers one file. Its elements have 64 bits, so that it
/// is aligned.
type ControlBuffer = [u64; 8];

/// One end of the connection.
#[derive(Debug)]
pub struct BrokerChannel(pub OwnedFd);

impl BrokerChannel {
    pub fn pair() -> Result<(BrokerChannel, BrokerChannel)> {
        let mut ends = [0; 2];
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: the call fills the two descriptors, which no other value owns.
        unsafe {
            if libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) != 0 {
                return Err(Error::last_os_error());
            }
            let [a, b] = ends.map(|end| BrokerChannel(OwnedFd::from_raw_fd(end)));
            Ok((a, b))
        }
    }

    /// Sends a message, optionally with an open file.
    pub fn send(&self, bytes: &[u8], file: Option<BorrowedFd>) -> Result<()> {
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(ErrorKind::InvalidInput.into());
        }
        let mut part =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control: ControlBuffer = [0; 8];
        // SAFETY: the records are plain numbers, for which zeros are valid. The memory that they
        // point to lives as long as the call, and the control buffer is larger than needed.
        let sent = unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            if let Some(file) = file {
                let number: libc::c_int = file.as_raw_fd();
                message.msg_control = (&raw mut control).cast();
                message.msg_controllen = libc::CMSG_SPACE(size_of_val(&number) as u32) as _;
                let head = libc::CMSG_FIRSTHDR(&raw const message);
                (*head).cmsg_level = libc::SOL_SOCKET;
                (*head).cmsg_type = libc::SCM_RIGHTS;
                (*head).cmsg_len = libc::CMSG_LEN(size_of_val(&number) as u32) as _;
                libc::CMSG_DATA(head).cast::<libc::c_int>().write_unaligned(number);
            }
            retry(|| libc::sendmsg(self.0.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL))?
        };
        match sent == bytes.len() {
            true => Ok(()),
            false => Err(ErrorKind::WriteZero.into()),
        }
    }

    /// Receives the next message; returns `None` if the other end is closed. Files that come with
    /// it are closed.
    pub fn receive(&self) -> Result<Option<Vec<u8>>> {
        let mut bytes = vec![0u8; MESSAGE_BYTES_MAX + 1];
        // SAFETY: the buffer lives as long as the call.
        let count = retry(|| unsafe {
            libc::recv(self.0.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0)
        })?;
        check_length(bytes, count)
    }

    /// Receives the next message and its file. If several files come with it, only the first is
    /// received.
    pub fn receive_file(&self) -> Result<Option<(Vec<u8>, Option<File>)>> {
        let mut bytes = vec![0u8; MESSAGE_BYTES_MAX + 1];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let mut control: ControlBuffer = [0; 8];
        let (count, file) = unsafe {
            // SAFETY: as for sending. No value owns a received file yet.
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            message.msg_control = (&raw mut control).cast();
            // The length allows one descriptor. With the padding for the next record, two
            // descriptors would fit, and the second file would never be closed.
            message.msg_controllen = libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as _;
            let count = retry(|| {
                libc::recvmsg(self.0.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC)
            })?;
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            let has_file = !head.is_null()
                && (*head).cmsg_level == libc::SOL_SOCKET
                && (*head).cmsg_type == libc::SCM_RIGHTS;
            let file = has_file.then(|| {
                let number = libc::CMSG_DATA(head).cast::<libc::c_int>().read_unaligned();
                File::from_raw_fd(number)
            });
            (count, file)
        };
        Ok(check_length(bytes, count)?.map(|bytes| (bytes, file)))
    }

    /// Ends the connection for both processes, and for copies of them that share it.
    pub fn end(&self) {
        // SAFETY: the call uses an open descriptor, which is only closed afterwards.
        unsafe { libc::shutdown(self.0.as_raw_fd(), libc::SHUT_RDWR) };
    }
}

/// Returns the bytes of a received message. An empty message means the end, because no empty
/// message is ever sent.
fn check_length(mut bytes: Vec<u8>, count: usize) -> Result<Option<Vec<u8>>> {
    if count > MESSAGE_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    bytes.truncate(count);
    Ok((count > 0).then_some(bytes))
}

impl AsFd for BrokerChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Repeats a system call if a signal interrupted it.
fn retry(mut call: impl FnMut() -> isize) -> Result<usize> {
    loop {
        match usize::try_from(call()) {
            Ok(count) => return Ok(count),
            Err(_) => match Error::last_os_error() {
                reason if reason.kind() == ErrorKind::Interrupted => {}
                reason => return Err(reason),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn messages_arrive_whole_with_their_files() {
        let (a, b) = BrokerChannel::pair().unwrap();
        let path = std::env::temp_dir().join(format!("engine-{}-channel", std::process::id()));
        let mut file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        a.send(b"one", None).unwrap();
        a.send(b"two", Some(file.as_fd())).unwrap();
        let (bytes, none) = b.receive_file().unwrap().unwrap();
        assert_eq!((&bytes[..], none.is_none()), (&b"one"[..], true));
        let (bytes, came) = b.receive_file().unwrap().unwrap();
        assert_eq!(bytes, b"two");
        came.unwrap().write_all(b"through it").unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through it");
        std::fs::remove_file(path).unwrap();
        assert!(a.send(&[0; MESSAGE_BYTES_MAX + 1], None).is_err());
        let long = [0u8; MESSAGE_BYTES_MAX + 9];
        // SAFETY: the bytes live as long as the call.
        unsafe { libc::send(a.0.as_raw_fd(), long.as_ptr().cast(), long.len(), 0) };
        assert_eq!(b.receive().unwrap_err().kind(), ErrorKind::InvalidData);
        drop(a);
        assert!(b.receive().unwrap().is_none());
        assert!(b.send(b"nobody hears", None).is_err());
    }

    /// Sends two files with one message, as only an attacker would.
    fn send_two(channel: &BrokerChannel, files: [i32; 2]) {
        let mut part = libc::iovec { iov_base: c"x".as_ptr().cast_mut().cast(), iov_len: 1 };
        let mut control: ControlBuffer = [0; 8];
        // SAFETY: as in `send`.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            message.msg_control = (&raw mut control).cast();
            message.msg_controllen = libc::CMSG_SPACE(8) as _;
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            (*head).cmsg_level = libc::SOL_SOCKET;
            (*head).cmsg_type = libc::SCM_RIGHTS;
            (*head).cmsg_len = libc::CMSG_LEN(8) as _;
            libc::CMSG_DATA(head).cast::<[i32; 2]>().write_unaligned(files);
            assert_eq!(libc::sendmsg(channel.0.as_raw_fd(), &raw const message, 0), 1);
        }
    }

    #[test]
    fn unrequested_files_are_closed() {
        let (a, b) = BrokerChannel::pair().unwrap();
        for with_file in [true, false] {
            let (mut read, write) = std::io::pipe().unwrap();
            let (mut other_read, other_write) = std::io::pipe().unwrap();
            send_two(&a, [write.as_raw_fd(), other_write.as_raw_fd()]);
            drop((write, other_write));
            match with_file {
                true => drop(b.receive_file().unwrap().unwrap().1.expect("the first one comes")),
                false => assert_eq!(b.receive().unwrap().unwrap(), b"x"),
            }
            // A pipe ends when its last writer is closed.
            for pipe in [&mut read, &mut other_read] {
                let mut waited = libc::pollfd { fd: pipe.as_raw_fd(), events: 0, revents: 0 };
                // SAFETY: the call uses one record, which lives as long as the call.
                assert_eq!(unsafe { libc::poll(&raw mut waited, 1, 5000) }, 1);
                assert_eq!(pipe.read(&mut [0; 1]).unwrap(), 0);
            }
        }
    }
}
