/**
 * From a Markdown token to HTML that can do nothing (C25): HTML written by an agent is shown as text, links lead
 * only to http, https and mailto and open elsewhere, pictures become links, and what is left passes a sanitiser
 * with a short list of what may stay.
 */
import DOMPurify from "dompurify";
import { Marked, Renderer, type Token } from "marked";

const TAGS = [
  ..."p br strong em del code pre ul ol li blockquote h1 h2 h3 h4 h5 h6 hr a table thead tbody tr th td div input".split(
    " ",
  ),
];
const ATTRIBUTES = ["href", "title", "start", "align", "type", "checked", "disabled", "class"];
const LINK = /^(?:https?:|mailto:)/i;

const purify = DOMPurify(window);

purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});
purify.addHook("uponSanitizeElement", (node, data) => {
  const input = data.tagName === "input" ? (node as Element) : undefined;
  if (input && input.getAttribute("type") !== "checkbox") input.remove();
});

const parser = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    link(token) {
      return LINK.test(token.href)
        ? Renderer.prototype.link.call(this, token)
        : this.parser.parseInline(token.tokens);
    },
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }) => `<input type="checkbox" disabled ${checked ? "checked" : ""}> `,
    table(token) {
      // A wide table scrolls by itself, not the transcript.
      return `<div class="table-scroll">${Renderer.prototype.table.call(this, token)}</div>`;
    },
  },
});

/** HTML of one block, safe to put into the page; `undefined` when it is too deep to be made. */
export function inertHtml(token: Token): string | undefined {
  try {
    return sanitize(parser.parser([token]));
  } catch {
    return undefined;
  }
}

/** Anything that claims to be HTML, made harmless. A page that cannot sanitise shows it as text. */
function sanitize(html: string): string {
  if (!purify.isSupported) return escapeHtml(html);
  return purify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOWED_URI_REGEXP: LINK,
    // Without this every value of these would have to look like a link.
    ADD_URI_SAFE_ATTR: ["type", "start", "align"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
