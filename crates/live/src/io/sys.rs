//! System calls on interfaces and sockets without a safe form in the standard library or rustix.
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::request::Request;
use crate::error::{LiveError, LiveResult};

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A zeroed request about the interface `name`; refused if no interface can have that name.
pub(super) fn request(name: &str) -> LiveResult<libc::ifreq> {
    // The name needs a terminating zero.
    if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.bytes().any(|byte| byte == 0) {
        let what = format!("{name:?} is no name of an interface: 1 to {} bytes", libc::IFNAMSIZ - 1);
        return Err(LiveError::Refused(what));
    }
    // SAFETY: an `ifreq` consists of numbers, addresses and raw pointers. Zeros are a valid value of each.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// Name in a request; the kernel may have changed it.
pub(super) fn name_of(request: &libc::ifreq) -> String {
    request.ifr_name.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte as u8)).collect()
}

pub(super) fn ioctl(fd: BorrowedFd<'_>, code: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: all codes used here read and write one `ifreq`, which is borrowed for the call. If a code uses its
    // pointer member, the caller keeps the target alive during the call.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), code, std::ptr::from_mut(request)) }).map(drop)
}

/// Asks `code` about an interface of the calling thread's network namespace, or sets its property.
fn control(request: &mut libc::ifreq, code: libc::c_ulong) -> io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    ioctl(socket.as_fd(), code as libc::Ioctl, request)
}

/// A property of the interface `name`, which `code` reads.
fn query(name: &str, code: libc::c_ulong) -> LiveResult<libc::ifreq> {
    let mut request = request(name)?;
    Request::InterfaceQuery.ask_about(name, || control(&mut request, code))?;
    Ok(request)
}

pub(super) fn mtu(name: &str) -> LiveResult<usize> {
    let request = query(name, libc::SIOCGIFMTU)?;
    // SAFETY: the kernel has just written this member.
    Ok(usize::try_from(unsafe { request.ifr_ifru.ifru_mtu }).unwrap_or(0))
}

pub(super) fn index(name: &str) -> LiveResult<i32> {
    let request = query(name, libc::SIOCGIFINDEX)?;
    // SAFETY: the kernel has just written this member.
    Ok(unsafe { request.ifr_ifru.ifru_ifindex })
}

pub(super) fn flags(name: &str) -> LiveResult<i16> {
    let request = query(name, libc::SIOCGIFFLAGS)?;
    // SAFETY: the kernel has just written this member.
    Ok(unsafe { request.ifr_ifru.ifru_flags })
}

/// A packet socket that receives nothing until it is bound.
pub(crate) fn packet_socket() -> LiveResult<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is involved. The returned descriptor is new, so nothing else owns it.
    Request::PacketSocket
        .ask(|| unsafe { checked(libc::socket(libc::AF_PACKET, kind, 0)).map(|socket| OwnedFd::from_raw_fd(socket)) })
}

/// Binds a packet socket to interface `index` and an EtherType.
pub(super) fn bind(socket: BorrowedFd<'_>, index: i32, protocol: u16) -> io::Result<()> {
    // SAFETY: a `sockaddr_ll` consists of numbers, so zeros are a valid value.
    let mut address: libc::sockaddr_ll = unsafe { MaybeUninit::zeroed().assume_init() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address lives during the call, and `length` is its length.
    checked(unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(&address).cast(), length) }).map(drop)
}

/// Index of the interface that a packet socket is bound to. The kernel makes it -1 when the interface is removed, and a
/// later interface does not get the socket back, whatever its index.
pub(super) fn bound_index(socket: BorrowedFd<'_>) -> io::Result<i32> {
    // SAFETY: an address consists of numbers, so zeros are a valid value.
    let mut address: libc::sockaddr_ll = unsafe { MaybeUninit::zeroed().assume_init() };
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to the address, which is as long and lives during the call.
    checked(unsafe { libc::getsockname(socket.as_raw_fd(), std::ptr::from_mut(&mut address).cast(), &mut length) })?;
    Ok(address.sll_ifindex)
}

/// Sets an option that consists of plain numbers.
pub(super) fn set_option<T: Copy>(socket: BorrowedFd<'_>, level: i32, option: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value lives during the call, and `length` is its length. The kernel only reads it.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), length) })
        .map(drop)
}

/// Socket options that consist of numbers alone.
///
/// # Safety
/// Any bytes must be a value of the type.
pub(super) unsafe trait PlainNumbers: Copy {}

// SAFETY: all members are numbers.
unsafe impl PlainNumbers for libc::tcp_info {}
// SAFETY: any bytes are valid numbers.
unsafe impl<const N: usize> PlainNumbers for [u32; N] {}

/// Reads an option; fields unknown to an older kernel are zero.
pub(super) fn get_option<T: PlainNumbers>(socket: BorrowedFd<'_>, level: i32, option: i32) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `value`, which is as long.
    checked(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, value.as_mut_ptr().cast(), &mut length) })?;
    // SAFETY: all bytes are initialized, by zeros or by the kernel, and any bytes are a value of `T`.
    Ok(unsafe { value.assume_init() })
}

/// Most frames per call.
pub(super) const MOST_SENT: usize = 32;

/// Sends up to [`MOST_SENT`] frames on a bound socket without blocking. Returns the number of frames that the kernel
/// took, or the error if it took none.
pub(super) fn send<'a>(socket: BorrowedFd<'_>, frames: impl Iterator<Item = &'a [u8]>) -> io::Result<usize> {
    const EMPTY: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let mut pieces = [EMPTY; MOST_SENT];
    // `sendmmsg` only reads the frames, despite the pointer's type.
    let count = pieces.iter_mut().zip(frames).map(|(piece, frame)| {
        *piece = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
    });
    let count = count.count();
    // SAFETY: a header consists of numbers and raw pointers, so zeros are a valid value.
    let mut headers: [libc::mmsghdr; MOST_SENT] = unsafe { MaybeUninit::zeroed().assume_init() };
    for (header, piece) in headers.iter_mut().zip(&mut pieces[..count]) {
        header.msg_hdr.msg_iov = piece;
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: `count` headers are filled in. Each points to an element of `pieces`, which points to a frame. Headers,
    // pieces and frames live during the call.
    let taken = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count as libc::c_uint, libc::MSG_DONTWAIT as _)
    };
    Ok(checked(taken)? as usize)
}

/// Switches the interface `name` on.
pub(super) fn bring_up(name: &str) -> LiveResult<()> {
    let flags = flags(name)?;
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as i16;
    Request::InterfaceUp.ask_about(name, || control(&mut request, libc::SIOCSIFFLAGS))
}

/// Gives the calling thread the real-time policy `SCHED_FIFO` at this priority; 1 is the lowest. Threads and processes
/// that it starts are ordinary.
pub(crate) fn set_realtime_priority(priority: i32) -> io::Result<()> {
    let priority = libc::sched_param { sched_priority: priority };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: 0 stands for the thread itself; the parameter lives during the call.
    checked(unsafe { libc::sched_setscheduler(0, policy, &priority) }).map(drop)
}

/// `SIOCETHTOOL` commands to set and get offloads (linux/ethtool.h), with ethtool's names.
const OFFLOADS: [(u32, u32, &str); 6] = [
    (0x15, 0x14, "rx-checksumming"),
    (0x17, 0x16, "tx-checksumming"),
    (0x1f, 0x1e, "tcp-segmentation-offload"),
    (0x22, 0x21, "udp-fragmentation-offload"),
    (0x24, 0x23, "generic-segmentation-offload"),
    (0x2c, 0x2b, "generic-receive-offload"),
];

pub(super) fn ethtool(name: &str, command: u32, value: u32) -> LiveResult<u32> {
    let mut request = request(name)?;
    // struct ethtool_value.
    let mut switch = [command, value];
    request.ifr_ifru.ifru_data = switch.as_mut_ptr().cast();
    Request::Offloads.ask_about(name, || control(&mut request, libc::SIOCETHTOOL))?;
    Ok(switch[1])
}

/// Switches the offloads of the interface `name` off. Packets then appear as they cross a link: with checksums, and
/// neither merged nor still to be segmented. Do this only to interfaces you created.
///
/// # Errors
/// The refused request; an offload that the driver does not know is no error.
pub fn switch_offloads_off(name: &str) -> LiveResult<()> {
    for (set, get, _) in OFFLOADS {
        match ethtool(name, set, 0) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) && ethtool(name, get, 0).unwrap_or(0) == 0 => {
            }
            result => drop(result?),
        }
    }
    Ok(())
}

/// The active offloads of the interface `name`, by ethtool's names.
pub fn offloads(name: &str) -> LiveResult<Vec<&'static str>> {
    index(name)?;
    Ok(OFFLOADS.into_iter().filter(|(_, get, _)| ethtool(name, *get, 0).unwrap_or(0) != 0).map(|row| row.2).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_interface_can_have_is_refused() {
        for name in ["", "a-name-of-16-byte", "nul\0"] {
            assert_eq!(request(name).map(drop).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name:?}");
        }
        assert_eq!(name_of(&request("fifteen-letters").unwrap()), "fifteen-letters");
    }

    #[test]
    fn the_loopback_has_an_mtu_and_a_number() {
        assert!(mtu("lo").unwrap() >= 1500);
        assert!(index("lo").unwrap() >= 1);
        assert!(mtu("no-such-link").is_err() && offloads("no-such-link").is_err());
    }
}
