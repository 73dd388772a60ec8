//! Landlock: this process and all below it may write beneath some folders only. Needs no privilege, cannot be undone.
//!
//! Not covered by the kernel's rules: changing modes, owners, times and attributes of files elsewhere; sockets with a
//! path before ABI 9; signals and abstract sockets before ABI 6.

use std::ffi::OsString;

/// What the innermost process takes from itself before it starts the agent.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) enum Confine {
    /// Nothing.
    None,
    /// Signals and abstract sockets across the sandbox's edge, where the kernel can; never an error.
    Edges,
    /// Writing anywhere but beneath these folders, and the edges.
    Writes(Vec<OsString>),
}

/// Whether this kernel keeps the promise of [`Confine::Writes`]; the error says why not.
pub(super) fn probe() -> Result<(), String> {
    let file = tempfile::NamedTempFile::new().map_err(|error| format!("no temporary file to try it on: {error}"))?;
    let path = file.path().to_owned();
    // Landlock holds for the calling thread alone, so that a thread of its own is a safe place to try.
    let trial = std::thread::spawn(move || {
        apply(&Confine::Writes(Vec::new()))?;
        match std::fs::OpenOptions::new().write(true).open(path) {
            Ok(_) => Err("a forbidden write went through".to_owned()),
            Err(_) => Ok(()),
        }
    });
    trial.join().unwrap_or_else(|_| Err("the trial broke".to_owned()))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn apply(confine: &Confine) -> Result<(), String> {
    match confine {
        Confine::Writes(_) => Err("Landlock is a part of Linux".to_owned()),
        Confine::None | Confine::Edges => Ok(()),
    }
}

/// Applies it to the calling thread, which must be the only one, and to everything it starts.
#[cfg(target_os = "linux")]
pub(super) fn apply(confine: &Confine) -> Result<(), String> {
    match confine {
        Confine::None => Ok(()),
        Confine::Edges => {
            linux::restrict_edges().ok();
            Ok(())
        }
        Confine::Writes(folders) => {
            linux::restrict_writes(folders).map_err(|error| error.to_string())?;
            linux::drop_capabilities().map_err(|error| error.to_string())
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{OsStr, OsString};

    use landlock::{
        ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
        RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope, make_bitflags,
    };

    /// Devices that programs write to as a matter of course.
    const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
    /// Sockets by which names are looked up, where the kernel can forbid the others.
    const LOOKUPS: [&str; 3] = ["/run/systemd/resolve", "/run/nscd", "/var/run/nscd"];

    pub(super) fn restrict_edges() -> Result<(), RulesetError> {
        Ruleset::default().scope(Scope::from_all(ABI::V6))?.create()?.restrict_self().map(drop)
    }

    pub(super) fn restrict_writes(folders: &[OsString]) -> Result<(), RulesetError> {
        // Before version 3 a file anywhere can be cut to nothing with truncate(2): that is no limit on writes.
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V3))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_write(ABI::V9))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .set_compatibility(CompatLevel::BestEffort);
        // A device file made anywhere is a way to the whole disk.
        let write = AccessFs::from_write(ABI::V9) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
        for folder in folders {
            rules = allow(rules, folder, write)?;
        }
        for device in DEVICES {
            rules = allow(rules, device, make_bitflags!(AccessFs::{WriteFile | Truncate | IoctlDev}))?;
        }
        for socket in LOOKUPS {
            rules = allow(rules, socket, AccessFs::ResolveUnix.into())?;
        }
        rules.restrict_self().map(drop)
    }

    /// Gives up root's privileges, which reach past files: devices, modules, other processes' memory.
    pub(super) fn drop_capabilities() -> std::io::Result<()> {
        use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
        // Only root may do this, and only root needs it: a program that root starts gets back what is in this set.
        for one in CapabilitySet::all().iter() {
            rustix::thread::remove_capability_from_bounding_set(one).ok();
        }
        rustix::thread::clear_ambient_capability_set().ok();
        let none = CapabilitySet::empty();
        Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
    }

    /// Allows `access` beneath a path; a path that is not there needs no rule.
    fn allow(
        rules: RulesetCreated,
        path: impl AsRef<OsStr>,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, RulesetError> {
        match PathFd::new(path.as_ref()) {
            Ok(fd) => rules.add_rule(PathBeneath::new(fd, access)),
            Err(_) => Ok(rules),
        }
    }
}
