//! What an interface is and how it is: index, MTU, MAC address, state, driver. Nothing is ever set here.

use super::error::{PortError, refused};
use super::netns;
use super::sys::{check, errno, socket};
use base::MacAddr;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Asks for the driver's name: `ETHTOOL_GDRVINFO` (linux/ethtool.h).
const DRIVER_INFO: u32 = 3;
/// Asks whether the link is up: `ETHTOOL_GLINK` (linux/ethtool.h).
const LINK_STATE: u32 = 0x0a;
/// Asks how many queues there are: `ETHTOOL_GCHANNELS` (linux/ethtool.h).
const CHANNELS: u32 = 0x3c;
/// The `ioctl` that takes those questions: `SIOCETHTOOL` (linux/sockios.h).
const ETHTOOL: u32 = 0x8946;

/// An interface as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The name in its network namespace, at most 15 bytes.
    pub name: String,
    /// Its number in its namespace.
    pub index: u32,
    /// The longest packet that it takes, in bytes above Ethernet.
    pub mtu: u32,
    /// Its Ethernet address; frames that the kernel makes have it as source.
    pub mac: MacAddr,
    /// Switched on by the administrator.
    pub up: bool,
    /// Switched on, and the other end is there.
    pub running: bool,
    /// Takes the frames of every destination.
    pub promiscuous: bool,
    /// What drives it, such as `veth`; empty if it doesn't say.
    pub driver: String,
}

impl Interface {
    /// The interface `name` of the network namespace at `netns`, or of the calling thread's.
    pub fn find(netns: Option<&Path>, name: &str) -> Result<Interface, PortError> {
        netns::within(netns, || Interface::here(name))
    }

    /// The interface `name` of the namespace where the calling thread is.
    pub fn here(name: &str) -> Result<Interface, PortError> {
        let probe = Probe::new(name)?;
        let failed = |source: io::Error| match errno(&source) {
            libc::ENODEV => PortError::NoInterface { name: name.to_string() },
            _ => refused(format!("interface {name}"), source),
        };
        let index = probe.index().map_err(failed)?;
        let flags = probe.flags().map_err(failed)?;
        Ok(Interface {
            name: name.to_string(),
            index,
            mtu: probe.mtu().map_err(failed)?,
            mac: probe
                .mac()
                .map_err(failed)?
                .ok_or_else(|| PortError::NotEthernet { name: name.to_string() })?,
            up: flags & libc::IFF_UP != 0,
            running: probe.is_running(flags),
            promiscuous: flags & libc::IFF_PROMISC != 0,
            driver: probe.driver().unwrap_or_default(),
        })
    }
}

/// Asks the kernel about one interface again and again, a microsecond each time.
#[derive(Debug)]
pub struct Probe {
    socket: OwnedFd,
    request: libc::ifreq,
}

// SAFETY: the request holds no address between two calls.
unsafe impl Send for Probe {}

impl Probe {
    /// A probe of the interface `name` of the namespace where the calling thread is.
    pub fn new(name: &str) -> Result<Probe, PortError> {
        // SAFETY: a structure of integers and a union of them.
        let mut request: libc::ifreq = unsafe { zeroed() };
        if name.is_empty() || name.len() >= request.ifr_name.len() || name.contains('\0') {
            return Err(PortError::NoInterface { name: name.to_string() });
        }
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)
            .map_err(|source| refused("a socket".to_string(), source))?;
        Ok(Probe { socket, request })
    }

    fn ask(&self, what: u32) -> io::Result<libc::ifreq> {
        let mut request = self.request;
        // SAFETY: the kernel reads and writes one `ifreq`, which lives through the call.
        check(unsafe { libc::ioctl(self.socket.as_raw_fd(), what as _, &mut request) })?;
        Ok(request)
    }

    fn index(&self) -> io::Result<u32> {
        // SAFETY: the field that this request fills.
        self.ask(libc::SIOCGIFINDEX as u32).map(|r| unsafe { r.ifr_ifru.ifru_ifindex } as u32)
    }
    fn mtu(&self) -> io::Result<u32> {
        // SAFETY: the field that this request fills.
        self.ask(libc::SIOCGIFMTU as u32).map(|r| unsafe { r.ifr_ifru.ifru_mtu } as u32)
    }
    fn flags(&self) -> io::Result<i32> {
        // SAFETY: the field that this request fills.
        self.ask(libc::SIOCGIFFLAGS as u32).map(|r| i32::from(unsafe { r.ifr_ifru.ifru_flags } as u16))
    }
    fn mac(&self) -> io::Result<Option<MacAddr>> {
        // SAFETY: the field that this request fills.
        let address = self.ask(libc::SIOCGIFHWADDR as u32).map(|r| unsafe { r.ifr_ifru.ifru_hwaddr })?;
        let mut mac = [0u8; 6];
        for (to, from) in mac.iter_mut().zip(address.sa_data) {
            *to = from as u8;
        }
        let ethernet = [libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK].contains(&address.sa_family);
        Ok(ethernet.then_some(MacAddr(mac)))
    }

    /// Is the interface switched on, and its other end there? The flags say so up to a second after it has come up; the
    /// driver knows at once, but waits for whoever changes interfaces, and is asked only if the flags say no.
    fn is_running(&self, flags: i32) -> bool {
        flags & libc::IFF_UP != 0 && (flags & libc::IFF_RUNNING != 0 || self.carrier().unwrap_or(false))
    }

    /// What the driver says of the other end (`struct ethtool_value`).
    fn carrier(&self) -> io::Result<bool> {
        let mut value = [LINK_STATE, 0];
        self.ask_driver(&mut value)?;
        Ok(value[1] != 0)
    }

    /// How many receive queues the interface has (`struct ethtool_channels`); one if its driver doesn't say.
    pub fn receive_queues(&self) -> u32 {
        let mut channels = [0; 9];
        channels[0] = CHANNELS;
        // Words 5 and 8: queues that only receive, and those that do both.
        self.ask_driver(&mut channels).map_or(1, |()| (channels[5] + channels[8]).max(1))
    }

    /// Has the driver fill a structure that begins with the number of the question.
    fn ask_driver(&self, words: &mut [u32]) -> io::Result<()> {
        let mut request = self.request;
        request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
        // SAFETY: the kernel fills the structure that belongs to the question, which has the length of `words`.
        check(unsafe { libc::ioctl(self.socket.as_raw_fd(), ETHTOOL as _, &mut request) }).map(|_| ())
    }

    /// The name of the driver (`struct ethtool_drvinfo`).
    fn driver(&self) -> io::Result<String> {
        let mut info = [0; 49];
        info[0] = DRIVER_INFO;
        self.ask_driver(&mut info)?;
        let name: Vec<u8> =
            info[1..9].iter().flat_map(|word| word.to_ne_bytes()).take_while(|&byte| byte != 0).collect();
        Ok(String::from_utf8_lossy(&name).into_owned())
    }

    /// Is the interface that had `index` switched on, and its other end there? [`PortError::Gone`] if it is no more,
    /// also when another one has its name now.
    pub fn link_up(&self, name: &str, index: u32) -> Result<bool, PortError> {
        let now = self.index().and_then(|now| Ok((now, self.flags()?)));
        match now {
            Ok((now, flags)) if now == index => Ok(self.is_running(flags)),
            Ok(_) => Err(PortError::Gone { name: name.to_string() }),
            Err(error) if errno(&error) == libc::ENODEV => Err(PortError::Gone { name: name.to_string() }),
            Err(source) => Err(PortError::System { what: format!("interface {name}"), source }),
        }
    }
}
