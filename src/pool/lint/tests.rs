use super::*;

mod forbidden;
mod rows;
