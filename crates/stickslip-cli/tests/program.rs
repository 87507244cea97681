//! The command line through the real binary.

mod command_line;
mod common;
mod hostile_files;
mod judging;
mod paradoxes;
mod plots;
mod resume;
mod run_folders;
mod solve;
mod sweeps;
mod worlds;
