// Shows how far start-up has come, and loads the page again once the server is ready. A reload keeps the fragment of
// the address with its one-time code; the refresh that HTML offers would only jump to that fragment.
const ASK_AGAIN_MS = 1000;

async function look() {
  try {
    const answer = await fetch("/readyz", { cache: "no-store" });
    if (answer.ok) return location.reload();
    const { gates, progress } = await answer.json();
    for (const [name, open] of Object.entries(gates)) document.getElementById(name)?.classList.toggle("open", open);
    document.getElementById("progress").textContent = progress;
  } catch {
    // Not reachable for a moment.
  }
  setTimeout(look, ASK_AGAIN_MS);
}

look();
