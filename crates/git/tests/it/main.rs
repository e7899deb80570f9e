//! Git against real repositories, by the real command line.
//!
//! Nothing of the machine's own Git configuration takes part; see `fixture`.

mod agents;
mod diffs;
mod fixture;
mod merging;
mod processes;
mod registering;
mod safety;
mod scope;
mod worktrees;
