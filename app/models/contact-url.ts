/** The form of the contact page with its subject filled: one of ours, as the page takes no other (see its loader). Goes to the browser. */
export function createContactUrl(subject: string): string {
  return `/contact?${new URLSearchParams({ about: subject })}#write`;
}
