//! The sample repository of the demo: a small web shop with a little history.

use anyhow::{Context, ensure};
use std::path::Path;
use tokio::process::Command;

/// Files of each commit, oldest first.
const COMMITS: &[(&str, &[(&str, &str)])] = &[
    (
        "Start a shop",
        &[
            (
                "README.md",
                "# Webshop\n\nA small shop: carts, billing, invoices.\n\n## Modules\n\n- `cart` adds things up\n- `billing` turns carts into invoices\n- `export` is the legacy exporter\n",
            ),
            (
                "Cargo.toml",
                "[package]\nname = \"webshop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            ),
            (
                "src/lib.rs",
                "//! A small shop.\n\npub mod billing;\npub mod cart;\n",
            ),
            (
                "src/cart.rs",
                "//! Carts add things up.\n\n/// What a customer is about to buy.\n#[derive(Default)]\npub struct Cart {\n    prices: Vec<u64>,\n}\n\nimpl Cart {\n    /// Adds a thing by its price in cents.\n    pub fn add(&mut self, cents: u64) {\n        self.prices.push(cents);\n    }\n\n    /// The sum in cents.\n    pub fn total(&self) -> u64 {\n        self.prices.iter().sum()\n    }\n}\n",
            ),
            (
                "src/billing.rs",
                "//! Billing turns carts into invoices.\n\nuse crate::cart::Cart;\n\n/// An invoice.\npub struct Invoice {\n    /// Its number; none until it is sent.\n    pub number: Option<u64>,\n    /// Its total in cents.\n    pub total: u64,\n}\n\n/// The invoice for a cart.\npub fn bill(cart: &Cart) -> Invoice {\n    Invoice { number: None, total: cart.total() }\n}\n",
            ),
        ],
    ),
    (
        "Describe invoices",
        &[
            (
                "docs/invoices.md",
                "# Invoices\n\n- An invoice gets its number when it is sent.\n- Totals are in cents.\n",
            ),
            (
                "tests/cart.rs",
                "use webshop::cart::Cart;\n\n#[test]\nfn prices_add_up() {\n    let mut cart = Cart::default();\n    cart.add(250);\n    cart.add(199);\n    assert_eq!(cart.total(), 449);\n}\n",
            ),
        ],
    ),
];

/// Makes the repository, or finds it made; gives its path.
pub(super) async fn make(dir: &Path) -> anyhow::Result<String> {
    let path = dir
        .to_str()
        .context("the data directory's name is not valid Unicode")?
        .to_owned();
    if dir.join(".git").exists() {
        return Ok(path);
    }
    tokio::fs::create_dir_all(dir)
        .await
        .context("the sample repository cannot be made")?;
    git(dir, &["init", "--quiet", "--initial-branch=main"]).await?;
    git(dir, &["config", "user.name", "Demo"]).await?;
    git(dir, &["config", "user.email", "demo@example.invalid"]).await?;
    for (message, files) in COMMITS {
        for (name, text) in *files {
            let file = dir.join(name);
            if let Some(parent) = file.parent() {
                tokio::fs::create_dir_all(parent)
                    .await
                    .context("the sample repository cannot be made")?;
            }
            tokio::fs::write(file, text)
                .await
                .context("the sample repository cannot be written")?;
        }
        git(dir, &["add", "--all"]).await?;
        git(dir, &["commit", "--quiet", "-m", message]).await?;
    }
    Ok(path)
}

async fn git(dir: &Path, args: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("git")
        .current_dir(dir)
        .args(args)
        .output()
        .await
        .context("git cannot be started")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "the sample repository cannot be made: {}",
        said.trim()
    );
    Ok(())
}
