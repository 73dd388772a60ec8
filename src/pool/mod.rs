//! The pool: cards, their profile and lint, and the git repository that holds them. Only this layer names git2.

pub mod card;
pub mod checkout;
pub mod commit;
pub mod folder;
pub mod history;
pub mod init;
pub mod patch;
pub mod profile;
pub mod repo;
pub mod worktree;

pub use git2::Oid;
