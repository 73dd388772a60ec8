//! The pool: cards, their profile and lint, and the git repository that holds them. Only this layer names git2.

pub mod card;
pub mod checkout;
pub mod commit;
pub mod disk_lint;
pub mod folder;
pub(crate) mod front_matter;
pub mod headers;
pub mod history;
pub mod init;
mod leftovers;
pub mod lint;
pub mod notes;
pub mod patch;
pub mod profile;
pub mod repo;
pub mod seed;
pub mod staged;
pub mod worktree;
pub(crate) mod yaml;

pub use git2::Oid;
