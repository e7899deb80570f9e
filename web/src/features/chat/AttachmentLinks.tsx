import { File as FileIcon, Image as ImageIcon } from "lucide-react";
import { download } from "~/features/composer/add-files";
import { bytes } from "~/format/numbers";
import type { Attachment } from "~/wire/generated/Attachment";

/** The files of a message. A click brings one to the person's machine; nothing of it is shown or run in the page. */
export function AttachmentLinks({ attachments }: { attachments: readonly Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <ul aria-label="Files" className="flex max-w-full flex-wrap justify-end gap-1.5">
      {attachments.map((attachment) => {
        const Icon = attachment.media_type.startsWith("image/") ? ImageIcon : FileIcon;
        return (
          <li key={attachment.id} className="min-w-0 max-w-full">
            <a
              href={`/api/v1/attachments/${encodeURIComponent(attachment.id)}`}
              download={attachment.name}
              onClick={(event) => {
                // The address alone is not enough: the request must carry who asks.
                event.preventDefault();
                download(attachment);
              }}
              className="flex min-h-8 items-center gap-1.5 rounded-lg border border-line bg-surface px-2.5 text-[13px] hover:border-line-strong hover:bg-hover max-sm:min-h-11"
            >
              <Icon size={14} className="text-muted" />
              <span className="min-w-0 truncate">{attachment.name}</span>
              <span className="num shrink-0 text-muted text-xs">{bytes(attachment.size)}</span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
