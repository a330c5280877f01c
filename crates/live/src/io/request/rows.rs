//! The table of requests. To add one, add its row, and make the call by `Request::ask`; a test then wants a command
//! that reaches it (`src/refusals`).

use super::errno::Cause::{self, *};

/// A request's row.
#[derive(Clone, Copy, Debug)]
pub struct RequestRow {
    /// Name of the request.
    pub name: &'static str,
    /// The act, behind "cannot".
    pub act: &'static str,
    /// The purpose: a sentence without its period.
    pub purpose: &'static str,
    /// Remedies by cause, where more is known than [`Cause`] says.
    pub(super) remedies: &'static [(&'static [Cause], &'static str)],
}

impl Request {
    /// The remedy for an answer of this `cause`.
    pub fn remedy(self, cause: Cause) -> &'static str {
        let own = self.row().remedies.iter().find(|(causes, _)| causes.contains(&cause));
        own.map_or(cause.remedy(), |(_, remedy)| remedy)
    }
}

/// Declares the requests: name, act, purpose, remedies.
macro_rules! requests {
    ($($name:ident: $act:literal, $purpose:literal, $remedies:expr;)*) => {
        /// A thing that real packets need of the system.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Request {
            $(#[doc = concat!("To ", $act, ".")] $name,)*
        }

        impl Request {
            /// All requests.
            pub const ALL: &[Request] = &[$(Request::$name,)*];

            /// The row of the request.
            pub fn row(self) -> RequestRow {
                match self {
                    $(Request::$name => RequestRow {
                        name: stringify!($name), act: $act, purpose: $purpose, remedies: &$remedies,
                    },)*
                }
            }
        }
    };
}

/// The remedy for rights over this machine's interfaces.
const RAW: &str = "Run as root, or give the program CAP_NET_RAW and CAP_NET_ADMIN (in a systemd unit AmbientCapabilities=; \
                   in Docker --network host --cap-add NET_RAW --cap-add NET_ADMIN)";

/// The remedy for rights within a host of a link, where the process has them unless something takes them away.
const IN_HOST: &str = "Run as root, or outside of the sandbox or security profile that takes CAP_NET_ADMIN away (in Docker \
                       --privileged)";

requests! {
    Capabilities: "read the rights of the process",
        "Headgate must know whether it may make network namespaces, or needs a user namespace first",
        [(&[Forbidden, Unsupported], "Let the sandbox permit capget (in Docker --security-opt seccomp=unconfined)")];
    UserNamespace: "make a user namespace",
        "A link needs network namespaces, and without root only a user namespace gives the right to make them",
        [
            (&[Forbidden], "Run as root, or allow unprivileged user namespaces (sysctl \
                kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in Docker --privileged)"),
            (&[Limit], "Run as root, or allow unprivileged user namespaces: raise sysctl user.max_user_namespaces"),
            (&[Unsupported], "Run as root, or allow unprivileged user namespaces: use a kernel with CONFIG_USER_NS"),
        ];
    UserMaps: "map the user into the user namespace",
        "Without root, COMMAND keeps its user only if /proc/self/uid_map, gid_map and setgroups are written",
        [(&[Forbidden, ReadOnly], "Run as root, or let the security profile permit unprivileged user namespaces \
            (sysctl kernel.apparmor_restrict_unprivileged_userns=0; in Docker --privileged)")];
    NetworkNamespace: "make a network namespace",
        "Each host of a link lives in one, so that its packets cross the link and nothing else",
        [
            (&[Forbidden], "Run as root, or allow unprivileged user namespaces; in Docker --privileged, or --cap-add \
                SYS_ADMIN --cap-add NET_ADMIN with --security-opt seccomp=unconfined"),
            (&[Limit], "Raise sysctl user.max_net_namespaces"),
            (&[Unsupported], "Use a kernel with CONFIG_NET_NS"),
        ];
    Thread: "start a thread",
        "Hosts, the forwarding loop and the flows have threads of their own",
        [(&[Limit, Memory], "Raise the limit of threads (ulimit -u; pids.max of the container or service, in Docker \
            --pids-limit), or free memory")];
    TunDevice: "open /dev/net/tun",
        "The hosts of a link send and receive their packets through this device",
        [
            (&[Forbidden], "Run as root, or open the device to all users: chmod 0666 /dev/net/tun, for good by the udev \
                rule KERNEL==\"tun\", MODE=\"0666\"; in Docker add --device /dev/net/tun"),
            (&[Missing], "Load the module and make the device: modprobe tun, and if it is still missing mknod \
                /dev/net/tun c 10 200 && chmod 0666 /dev/net/tun; in Docker add --device /dev/net/tun"),
            (&[Unsupported], "Use a kernel with CONFIG_TUN"),
            (&[Taken], "End the program that holds /dev/net/tun for itself (fuser /dev/net/tun)"),
        ];
    TunInterface: "create a TUN interface",
        "The interface is a host's end of the link",
        [
            (&[Forbidden], IN_HOST),
            (&[Taken], "Remove the interface of the same name (ip link del)"),
            (&[Unsupported], "Use a kernel with CONFIG_TUN, or run outside of the sandbox that lacks TUN interfaces"),
        ];
    Outside: "join the link to this machine's network",
        "With --outside the far end is this machine, which gets an interface, an address and a rule of nf_tables",
        [
            (&[Forbidden], "A link to the outside needs root: run the command as root; a user namespace gives no right \
                over this machine's network"),
        ];
    AddressTranslation: "translate addresses by nf_tables",
        "With --outside, packets of COMMAND leave with this machine's address",
        [
            (&[Forbidden], "A link to the outside needs root: run the command as root"),
            (&[Unsupported, Missing], "Use Linux 5.12 or later with nf_tables, and load its modules: modprobe -a \
                nf_tables nft_chain_nat nft_masq"),
            (&[Taken], "Remove the table of the same name (nft list tables, nft delete table)"),
        ];
    RoutingSocket: "open a netlink socket",
        "Headgate sets addresses and routes, and reads properties and counts of interfaces, through this socket \
         (AF_NETLINK)",
        [(&[Forbidden, Unsupported], "Let the sandbox permit AF_NETLINK sockets (in a systemd unit \
            RestrictAddressFamilies=AF_NETLINK; in Docker --security-opt seccomp=unconfined)")];
    InterfaceAddress: "set an address of a host",
        "Both ends of a link need an address to find each other",
        [
            (&[Forbidden], IN_HOST),
            (&[Unsupported], "Use a kernel with CONFIG_INET, and CONFIG_IPV6 for IPv6 addresses"),
        ];
    DefaultRoute: "set the default route of a host",
        "With --outside, COMMAND reaches all networks over the link",
        [(&[Forbidden], IN_HOST)];
    InterfaceUp: "switch an interface of a host on",
        "A host sends and receives only on interfaces that are up",
        [(&[Forbidden], IN_HOST)];
    InterfaceQuery: "read properties of an interface",
        "Its number, state, kind and MTU decide how packets are sent on it",
        [
            (&[Missing], "Check the name with ip link; the interface may have been removed just now"),
            (&[Forbidden, Unsupported], "Let the sandbox permit sockets and ioctl on them (in Docker --security-opt \
                seccomp=unconfined)"),
        ];
    InterfaceCounters: "read the packet counts of an interface",
        "The summary compares the kernel's counts with the link's, so that no packet is lost unnoticed",
        [
            (&[Unsupported], "Use Linux 4.7 or later, which has RTM_GETSTATS"),
            (&[Missing], "Check that no other program removed the interface (ip monitor link)"),
        ];
    InterfaceClaim: "claim an interface for a gateway",
        "Two gateways on one interface would forward each frame twice, so a Unix socket named after the interface's number \
         is its lock",
        [
            (&[Taken], "End the other gateway, or give other interfaces"),
            (&[Forbidden, Unsupported], "Let the sandbox permit AF_UNIX sockets (in a systemd unit \
                RestrictAddressFamilies=AF_UNIX)"),
        ];
    LinkEvents: "watch the interfaces by netlink",
        "A gateway ends at once if an interface is removed or switched off, and follows other changes (AF_NETLINK)",
        [
            (&[Forbidden, Unsupported], "Let the sandbox permit AF_NETLINK sockets (in a systemd unit \
                RestrictAddressFamilies=AF_NETLINK)"),
            (&[Missing], "Check with ip link that both interfaces are still there"),
        ];
    NetworkTables: "read the kernel's tables of interfaces and routes",
        "Headgate finds interfaces and free networks in /proc/thread-self/net",
        [(&[Missing, Forbidden], "Mount /proc (mount -t proc proc /proc), without hidepid or ProcSubset=pid")];
    KernelParameter: "read a parameter of the kernel",
        "Controllers and forwarding of this machine decide what a link can do",
        [(&[Missing, Forbidden], "Mount /proc (mount -t proc proc /proc) with its folder sys: a systemd unit must not have \
            ProcSubset=pid")];
    HostParameter: "set a parameter of a host below /proc/sys",
        "The hosts' TCP and IPv6 follow the command's options and the scenario",
        [
            (&[Forbidden, ReadOnly], "Run as root with a writable /proc/sys: Docker needs --privileged or --security-opt \
                systempaths=unconfined, a systemd unit ProtectKernelTunables=no"),
            (&[Missing], "Use a kernel that has the parameter, and mount /proc"),
            (&[Unsupported], "Give a value that the parameter accepts"),
        ];
    Offloads: "switch off the offloads of an interface",
        "--offloads-off asks for it, so that frames are not merged before the gateway sees them",
        [
            (&[Forbidden], "Run as root or with CAP_NET_ADMIN, or leave --offloads-off out: the gateway segments merged \
                packets itself"),
            (&[Unsupported, Taken], "Leave --offloads-off out: the gateway segments merged packets itself"),
        ];
    PacketSocket: "open a packet socket",
        "Frames of an interface are received and sent through this socket (AF_PACKET)",
        [
            (&[Forbidden], RAW),
            (&[Unsupported], "Use a kernel with CONFIG_PACKET, or let the sandbox permit AF_PACKET sockets (in a systemd \
                unit RestrictAddressFamilies=AF_PACKET)"),
        ];
    PacketOptions: "set an option of the packet socket",
        "Frames must pass unchanged, once, and beside the kernel's own queues",
        [
            (&[Forbidden], RAW),
            (&[Unsupported], "Use Linux 4.20 or later, which has PACKET_IGNORE_OUTGOING"),
        ];
    PacketRing: "make the receive ring of the packet socket",
        "The kernel hands over frames in memory that it shares with Headgate (PACKET_RX_RING)",
        [
            (&[Forbidden], RAW),
            (&[Memory], "Free memory: a ring takes up to 64 MB; a container's or service's memory limit counts it"),
        ];
    Promiscuous: "receive all frames of an interface",
        "A gateway also forwards frames that are addressed to other machines (promiscuous mode)",
        [(&[Forbidden], RAW)];
    PacketBind: "bind the packet socket to an interface",
        "The socket receives and sends frames of this interface alone",
        [
            (&[Forbidden], RAW),
            (&[Missing, Gone], "Check with ip link that the interface exists and is up"),
        ];
    XdpMemory: "register memory for AF_XDP",
        "With --send xdp the kernel sends frames from memory that it shares with Headgate",
        [
            (&[Memory], "Raise the limit of locked memory (ulimit -l unlimited; in a systemd unit \
                LimitMEMLOCK=infinity), or use --send packet"),
            (&[Forbidden], "Run as root or with CAP_NET_RAW, or use --send packet"),
            (&[Unsupported], "Use --send packet: this kernel has no AF_XDP (CONFIG_XDP_SOCKETS)"),
        ];
    XdpSocket: "open an AF_XDP socket",
        "With --send xdp frames are sent through this socket",
        [
            (&[Forbidden], "Run as root or with CAP_NET_RAW, let the sandbox permit AF_XDP, or use --send packet"),
            (&[Unsupported], "Use --send packet: this kernel has no AF_XDP (CONFIG_XDP_SOCKETS)"),
        ];
    XdpRings: "make the rings of the AF_XDP socket",
        "Frames to send and frames sent are listed in them",
        [
            (&[Unsupported], "Use Linux 5.9 or later, or --send packet"),
            (&[Forbidden], "Run as root or with CAP_NET_RAW, or use --send packet"),
            (&[Memory], "Free memory, or use --send packet"),
        ];
    XdpBind: "bind the AF_XDP socket to an interface",
        "The socket sends on the interface's first queue",
        [
            (&[Taken], "End the program whose AF_XDP socket uses the interface's first queue, or use --send packet"),
            (&[Unsupported, Forbidden, Missing, Gone], "Use --send packet"),
        ];
    QueueBuffer: "enlarge the send buffer of a kernel queue",
        "Packets in the kernel's qdisc count in it, beyond the size that an ordinary user may set (SO_SNDBUFFORCE)",
        [(&[Forbidden], "Run as root: the world kernel needs CAP_NET_ADMIN over this machine, which a user namespace does \
            not give")];
    QueuePackets: "give packets to the kernel's qdisc",
        "In the world kernel the qdisc of the kernel queues the packets of the link",
        [(&[Missing, Gone], "Check that no other program removes or changes the interface hg0 of the run's namespace")];
    QdiscCounters: "read the drops of the kernel's qdisc",
        "Some qdiscs drop packets without telling their sender; the counts show which",
        [(&[Missing, Unsupported], "Use a kernel with CONFIG_NET_SCHED, and iproute2 as new as the kernel")];
    Tc: "run tc",
        "In the world kernel, tc makes the qdisc",
        [(&[Missing], "Install iproute2, which has tc, and check that it is in PATH"),
         (&[Forbidden], "Run as root, or outside of the sandbox or security profile that takes CAP_NET_ADMIN away; tc must \
            be executable")];
    ThreadScheduling: "set the timer precision of a thread",
        "Packets leave on time only if timers are exact to a microsecond (PR_SET_TIMERSLACK)",
        [(&[Forbidden, Unsupported], "Let the sandbox permit prctl and sched_setscheduler (in Docker --cap-add SYS_NICE)")];
    ThreadPlacement: "keep a thread to a processor",
        "--cpus names the processors of the forwarding threads (sched_setaffinity)",
        [
            (&[Unsupported], "Choose processors that this process may use: taskset -p $$ shows them"),
            (&[Forbidden], "Let the sandbox permit sched_setaffinity"),
        ];
    OpenFiles: "raise the limit of open files",
        "Each flow of the scenario has three sockets",
        [(&[Forbidden], "Raise the hard limit (ulimit -Hn; in Docker --ulimit nofile=65536), or give the scenario fewer \
            flows")];
    Poller: "wait for sockets",
        "A thread serves all flows of a host, and waits for them by epoll",
        [(&[Limit], "Raise sysctl fs.epoll.max_user_watches")];
    FlowSocket: "open a socket of a flow",
        "The scenario's flows, and the datagrams of --check, are sent by sockets of the kernel",
        [(&[Forbidden, Unsupported], "Let the sandbox permit TCP and UDP sockets (in a systemd unit \
            RestrictAddressFamilies=AF_INET AF_INET6)")];
    FlowAddress: "bind or connect a socket of a flow",
        "Each flow has a port of its own at the address of its host",
        [
            (&[Forbidden], "Let the security profile permit bind, listen and connect within the hosts of a link"),
            (&[Gone], "Check that no other program changes the addresses of the hosts"),
        ];
    FlowOptions: "set an option of a flow's socket",
        "The kernel's TCP and UDP follow the scenario's keys as far as they can",
        [(&[Unsupported], "Use a newer kernel, or values that it accepts: see the table of keys in docs/guide/live.md")];
    CongestionControl: "set the congestion control of a flow",
        "The key cc of the scenario names it",
        [
            (&[Missing], "Load its module (modprobe tcp_NAME), or choose one of sysctl \
                net.ipv4.tcp_available_congestion_control"),
            (&[Forbidden], "Allow it as root: sysctl -w net.ipv4.tcp_allowed_congestion_control, with the names to allow"),
        ];
    FlowData: "send or receive data of a flow",
        "The scenario's traffic, and the datagrams of --check, cross the link",
        [(&[Gone, Missing], "Check that no other program removes or switches off the interfaces of the hosts")];
    Frames: "forward frames",
        "The loop moves each frame from one end of the link to the other",
        [(&[Missing, Gone], "The interface was removed or switched off while the link ran: check with ip monitor link, and \
            start again")];
    Wait: "wait for frames",
        "Between packets the loop sleeps until a frame arrives or must leave (ppoll)",
        [(&[Memory], "Free memory")];
    CaptureFile: "write a capture",
        "--log keeps the headers of all packets at both ends of the link",
        [
            (&[Forbidden, ReadOnly], "Give a folder that you may write to"),
            (&[Limit], "Free space on the disk, or give a folder on another one"),
            (&[Taken], "Give a new or empty folder: captures are never overwritten"),
            (&[Missing], "Make the folder first"),
        ];
    Process: "start a process in a host",
        "COMMAND and the server run there, each with a parent that ends all their children",
        [(&[Limit, Memory], "Raise the limit of processes (ulimit -u; pids.max of the container or service, in Docker \
            --pids-limit), or free memory"),
         (&[Forbidden, Unsupported], "Let the sandbox permit fork, prctl and, for COMMAND as the user of sudo, setresuid and \
            setgroups (in Docker --security-opt seccomp=unconfined)")];
    ProcessWatch: "watch the process of COMMAND",
        "Headgate ends when COMMAND ends (pidfd_open)",
        [(&[Unsupported, Forbidden], "Use Linux 5.3 or later, or let the sandbox permit pidfd_open")];
    NoNewPrivileges: "forbid new privileges",
        "Programs that a gateway would execute could otherwise get more rights than it has (PR_SET_NO_NEW_PRIVS)",
        [(&[Forbidden, Unsupported], "Let the sandbox permit prctl; the gateway runs without this protection")];
    FileRestriction: "restrict the files of the gateway",
        "After its start it reads only its settings and its own code, and opens no TCP connection (Landlock)",
        [
            (&[Unsupported], "Use Linux 5.13 or later with landlock in the list of the boot parameter lsm=; the gateway runs \
                without this protection"),
            (&[Forbidden], "Let the sandbox permit the calls of Landlock; the gateway runs without this protection"),
        ];
    DropRights: "drop the capabilities of the gateway",
        "After its start it needs none, and the process of --fail open only CAP_NET_ADMIN",
        [(&[Forbidden, Unsupported], "Let the sandbox permit capget, capset and prctl; the gateway runs with its rights")];
    CallFilter: "restrict the system calls of the gateway",
        "After its start it makes only calls that forwarding, reloads and metrics need (seccomp)",
        [(&[Forbidden, Unsupported], "Use a kernel with CONFIG_SECCOMP_FILTER, and let the sandbox permit seccomp; the \
            gateway runs without this protection")];
    FailOpenProcess: "start the process that waits for the gateway's end",
        "With --fail open this process joins the interfaces by a bridge when the gateway ends",
        [(&[Limit, Memory], "Raise the limit of processes (ulimit -u; TasksMax= of the service), or use --fail closed")];
    Bridge: "make a bridge of the interfaces",
        "With --fail open the bridge passes packets whenever the gateway does not run",
        [
            (&[Forbidden], "Run as root or with CAP_NET_ADMIN, or use --fail closed"),
            (&[Unsupported], "Use a kernel with CONFIG_BRIDGE (modprobe bridge), or --fail closed"),
            (&[Missing], "Check with ip link that both interfaces and the bridge exist"),
            (&[Taken], "Remove or rename the interface of the same name, or take its ports out (ip link)"),
        ];
    ViewSocket: "open a local socket",
        "headgate top asks running links and gateways for their state through this socket (AF_UNIX)",
        [(&[Forbidden, Unsupported], "Let the sandbox permit AF_UNIX sockets (in a systemd unit \
            RestrictAddressFamilies=AF_UNIX)")];
}
