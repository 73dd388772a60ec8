use super::*;

mod forbidden;
