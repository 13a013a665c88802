/** `maxFileBytes` must equal the file size limit of the storage bucket. */
export const maxFileBytes = 10 * 1024 * 1024;

export const largeFileBytes = 1024 * 1024;

export function formatFileSize(bytes: number): string {
  const kilobytes = Math.ceil(bytes / 1024);
  return kilobytes < 1000 ? `${kilobytes} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
