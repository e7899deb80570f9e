//! Rebuilds this crate when the web app was built anew: its files are embedded, and Cargo cannot know them.
//!
//! Debug builds read the files at run time instead, so there is nothing to watch.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo:rerun-if-changed=../../web/dist");
    }
}
