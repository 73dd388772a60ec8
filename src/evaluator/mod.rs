//! Evaluators.
