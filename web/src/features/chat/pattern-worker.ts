/** Runs apart from the page, which stays alive whatever the pattern does. */

/** The pattern may be written for either mode; one that is no pattern here is left to the server. */
function fits(pattern: string, text: string): boolean | null {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags).test(text);
    } catch {
      // Not in this mode.
    }
  }
  return null;
}

self.onmessage = ({ data }: MessageEvent<{ pattern: string; text: string }>) => {
  self.postMessage(fits(data.pattern, data.text));
};
