//! skilltrain trains a pool of Markdown skill files for frozen LLM agents: evidence in, one commit a step out.
//!
//! Data flows one way, from the command line down; see ARCHITECTURE.md for the layers, which a test holds.

pub mod cli;
pub mod commands;

pub mod train;

pub mod stages;

pub mod agent;
pub mod evaluator;
pub mod llm;
pub mod optimizer;
pub mod target;

pub mod pool;
pub mod report;
pub mod run;

pub mod config;

pub mod batch;
pub mod edit;
pub mod score;
pub mod task;
pub mod trajectory;

pub mod ground;
