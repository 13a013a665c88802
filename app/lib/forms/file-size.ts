/** How large a file may be, and how its size is said. */

/** The largest file, in bytes: 10 MiB, as the storage bucket has it. */
export const maxFileBytes = 10 * 1024 * 1024;

/** A file over this many bytes is sent in parts where script runs; no other is taken in parts. */
export const largeFileBytes = 1024 * 1024;

/** A number of bytes in words: "412 KB", "1.2 MB". A KB has 1024 bytes here, as in the limit above. */
export function formatFileSize(bytes: number): string {
  const kilobytes = Math.ceil(bytes / 1024);
  return kilobytes < 1000 ? `${kilobytes} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
