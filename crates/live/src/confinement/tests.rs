//! A confined thread does what its role needs, and nothing else. Each test confines a thread of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use std::thread;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{Signal, getpid, getppid, kill_process, test_kill_process};

use super::*;

/// The fields of proc_pid_status(5) that tell the rights of a thread.
const RIGHTS: [&str; 7] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"];

/// The rights of the calling thread.
fn rights(mut status: File) -> Vec<String> {
    let mut text = String::new();
    status.read_to_string(&mut text).unwrap();
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("{name}:\t"))).unwrap().to_string();
    RIGHTS.map(field).to_vec()
}

/// The value of `work` in a thread that was confined as `role`; `None` if this system lacks a part.
fn confined<T: Send + 'static>(
    role: Role,
    readable: &Path,
    work: impl FnOnce(File) -> T + Send + 'static,
) -> Option<T> {
    let paths = vec![readable.to_path_buf()];
    let confinement = Confinement { role, readable: paths.clone(), removable: paths };
    let inside = thread::spawn(move || {
        // Opened before, because a gateway does not read /proc.
        let status = File::open("/proc/thread-self/status").unwrap();
        let notes = confinement.enter();
        if notes.iter().any(|note| note.contains("Landlock")) {
            headgate_needs::skip("landlock");
            return None;
        }
        assert_eq!(notes, Vec::<String>::new());
        Some(work(status))
    });
    inside.join().unwrap()
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("headgate-confined-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("settings"), "rate").unwrap();
    folder
}

/// Acts that no role needs, each with its name. All succeed, or fail with another error, without a confinement.
fn acts(folder: &Path) -> Vec<(&'static str, io::Result<()>)> {
    let open = |family, kind| Ok(socket_with(family, kind, SocketFlags::empty(), None).map(drop)?);
    let append = OpenOptions::new().append(true).open(folder.join("settings"));
    let listener = TcpListener::bind("127.0.0.1:0");
    vec![
        ("read a file of the machine", File::open("/etc/passwd").map(drop)),
        ("write a file", append.map(drop)),
        ("make a file", File::create(folder.join("new")).map(drop)),
        ("make a folder", fs::create_dir(folder.join("folder"))),
        ("rename a file", fs::rename(folder.join("settings"), folder.join("settings"))),
        ("start a program", Command::new("true").spawn().and_then(|mut child| child.wait()).map(drop)),
        ("send a signal to the parent", test_kill_process(getppid().unwrap()).map_err(io::Error::from)),
        ("send a signal to itself", kill_process(getpid(), Signal::CHILD).map_err(io::Error::from)),
        ("listen for TCP", listener.map(drop)),
        ("bind a port of UDP", UdpSocket::bind("127.0.0.1:0").map(drop)),
        // Refused by this machine, whose port 9 is closed, if nothing else refuses it.
        ("connect by TCP", TcpStream::connect("127.0.0.1:9").map(drop)),
        ("open a netlink socket", open(AddressFamily::NETLINK, SocketType::RAW)),
        ("open a raw socket", open(AddressFamily::INET, SocketType::RAW)),
        ("make a namespace", {
            #[expect(deprecated, reason = "the flags share no memory")]
            rustix::thread::unshare(rustix::thread::UnshareFlags::NEWUTS).map_err(io::Error::from)
        }),
    ]
}

#[test]
fn no_role_can_do_what_it_does_not_need() {
    for role in [Role::Gateway, Role::Keeper] {
        let folder = folder(&format!("{role:?}"));
        let inside = folder.clone();
        if let Some(results) = confined(role, &folder, move |_| acts(&inside)) {
            for (name, result) in results {
                let kind = result.map_err(|error| error.kind());
                assert_eq!(kind, Err(io::ErrorKind::PermissionDenied), "{role:?} could {name}");
            }
        }
        assert!(fs::read_dir(&folder).unwrap().count() == 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn without_a_confinement_none_of_these_acts_is_forbidden() {
    // Root has all rights; another user may not make the namespace or open the raw socket.
    if !rustix::process::geteuid().is_root() {
        return headgate_needs::skip("root");
    }
    let folder = folder("free");
    let inside = folder.clone();
    let results = thread::spawn(move || acts(&inside)).join().unwrap();
    for (name, result) in results {
        assert_ne!(result.map_err(|error| error.kind()), Err(io::ErrorKind::PermissionDenied), "{name}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn each_role_keeps_only_its_capabilities_in_every_set() {
    let net_admin = 1_u64 << 12;
    let status = File::open("/proc/self/status").unwrap();
    let held = u64::from_str_radix(&rights(status)[1], 16).unwrap();
    for (role, kept) in [(Role::Gateway, 0), (Role::Keeper, net_admin & held)] {
        let Some(found) = confined(role, Path::new("/no-such-folder"), rights) else { return };
        let hex = |set: u64| format!("{set:016x}");
        // Without CAP_SETPCAP the bounding set stays.
        let bounding = if held & 1 << 8 == 0 { found[3].clone() } else { hex(kept) };
        let expected = [hex(0), hex(kept), hex(kept), bounding, hex(0), "1".to_string(), "2".to_string()];
        assert_eq!(found, expected, "{role:?}");
    }
}

#[test]
fn a_gateway_reads_its_folder_even_after_its_file_was_replaced_and_removes_its_socket() {
    let folder = folder("kept");
    let (inside, outside) = (folder.clone(), folder.clone());
    let kept = confined(Role::Gateway, &folder, move |_| {
        // Threads that it starts are confined too.
        thread::spawn(move || {
            let read = fs::read_to_string(inside.join("settings"));
            let removed = fs::remove_file(inside.join("settings"));
            let notified = UnixDatagram::unbound().and_then(|socket| socket.send_to(b"READY=1", "/no-such-socket"));
            let errors = [File::open("/etc/passwd").map(drop), notified.map(drop)];
            (read, removed, errors.map(|result| result.map_err(|error| error.kind())))
        })
        .join()
        .unwrap()
    });
    if let Some((read, removed, errors)) = kept {
        assert_eq!((read.unwrap().as_str(), removed.unwrap()), ("rate", ()));
        assert_eq!(errors, [Err(io::ErrorKind::PermissionDenied), Err(io::ErrorKind::NotFound)]);
    }
    fs::remove_dir_all(&outside).unwrap();
}
