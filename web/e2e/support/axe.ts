import { expect, type Page, test } from "@playwright/test";
import axe from "axe-core";

/** Every element is looked at, twice: a busy machine takes several times as long as an idle one for it. */
const TEST_MS = 240_000;

/** Expects the page, light and dark, to hold nothing that axe calls serious or critical. */
export async function expectAccessible(page: Page, place: string): Promise<void> {
  test.setTimeout(TEST_MS);
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
    await endAnimations(page);
    expect(await findings(page), `${place}, ${theme}`).toEqual([]);
  }
}

/** Colours are judged when nothing fades any more; what turns for ever is left to turn. */
async function endAnimations(page: Page): Promise<void> {
  await page.evaluate(async () => {
    // A change of the theme begins its transitions with the next frame.
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    for (const animation of document.getAnimations()) {
      if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
    }
  });
}

async function findings(page: Page): Promise<string[]> {
  // The page's policy allows no foreign script element; what a debugger evaluates it does not forbid.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe: inPage } = window as unknown as { axe: typeof axe };
    return (await inPage.run(document, { resultTypes: ["violations"] })).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`),
    );
}
