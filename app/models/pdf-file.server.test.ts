import { expect, test } from "vitest";
import { needsPassword } from "./pdf-file.server.ts";

const id = "4376ddd15431d3b51a46e8dccff6a011";

/**
 * Encryption values of PDFs made with qpdf. A "free" PDF opens without a password. A "locked" PDF needs the password
 * "secret".
 */
const encryptions = {
  2: {
    free: "/P -12 /O <9292059bdfb7f4873fa0f4aefbe2503c82cbb18702f09889c0996dfea11803c2> /U <3c69dfb410b8f39c5a375f686f704209fa6c3e88c5ec8dbc4bc224022a98e897>",
    locked:
      "/P -12 /O <c94828b7f4b6567915fef48d8e593534e2b34ecbd3908827ef231468fbcb45b4> /U <ca895bca2f5c2d0e208eb3692629e96c5b65f0fab46a4449168858b2fa6dea4d>",
  },
  3: {
    free: "/P -1028 /O <b436d18e2c60441a6d8f6d46979c1641f305f91c030faaede3100e66b6daf3bb> /U <542a5a8c1c540b324140b4cc263281170021446990b9e4114071a4d9104984c1>",
    locked:
      "/P -1028 /O <efecfca20761e6e447d16d65e2277349937d0650d26fba43ccaa77f0ec09b5cd> /U <a5ed22798754c9c5086baaca18c58e6b0021446990b9e4114071a4d9104984c1>",
  },
  4: {
    free: "/P -1028 /EncryptMetadata false /O <b436d18e2c60441a6d8f6d46979c1641f305f91c030faaede3100e66b6daf3bb> /U <49bf2cd037e960ce70d09ee9dd23f4920021446990b9e4114071a4d9104984c1>",
    locked:
      "/P -1028 /EncryptMetadata false /O <efecfca20761e6e447d16d65e2277349937d0650d26fba43ccaa77f0ec09b5cd> /U <0b864d42dee0d0bfb94cf1cef3b86ef10021446990b9e4114071a4d9104984c1>",
  },
  6: {
    free: "/P -1028 /O <d4e35cace20105dd7c9db4b68db76dd02f28039e5920bd47cda6963bb52f9ecef53c6ed7bba8ca78c2642f084281889c> /U <b8da9a0739c232804b4d2a9b40f51bce491df651d0ce35f8874a2fe423b11f152c906d81b7c3ba45a0e5f2e1b382d3bf>",
    locked:
      "/P -1028 /O <116d2e8bf8d0d0ba132a73b95e06c047506eaba41d405cf1bb2789083b644d64a168c65fc21c6ce1fb139da7485c516a> /U <dd6d03b94d38df064240a329a5334e77d185c2dcb9759fea7f5d1101596aa5172f5b451e581437943ec3769f49184359>",
  },
};

const createPdf = (trailer: string, object = "") =>
  Buffer.from(`%PDF-1.7\n18 0 obj\n<< /Other true >>\nendobj\n${object}trailer\n<< ${trailer} >>\n`, "latin1");

/**
 * Returns the bytes in `hexadecimal` as a PDF literal string: in parentheses, with escapes. Some programs write
 * encryption values in this form.
 */
function toEscapedString(hexadecimal: string): string {
  const characters = [...Buffer.from(hexadecimal, "hex")].map((byte) => {
    const character = String.fromCharCode(byte);
    if (/[()\\]/.test(character)) return `\\${character}`;
    if (character === "\n") return "\\n";
    return byte < 0x20 ? `\\${byte.toString(8).padStart(3, "0")}` : character;
  });
  return `(${characters.join("")})`;
}

const cases = Object.entries(encryptions).flatMap(([revision, { free, locked }]) => [
  [revision, "opens without a password", free, false] as const,
  [revision, "asks for a password", locked, true] as const,
]);

test.each(cases)(
  "A PDF with encryption revision %s that %s is recognised as such.",
  (revision, _what, values, isLocked) => {
    const encryption = `<< /Filter /Standard /V 4 /R ${revision} ${values} >>`;
    const hexadecimal = `/ID [<${id}><${id}>] /Encrypt`;
    expect(needsPassword(createPdf(`${hexadecimal} ${encryption}`))).toBe(isLocked);
    expect(needsPassword(createPdf(`${hexadecimal} 8 0 R`, `8 0 obj\n${encryption}\nendobj\n`))).toBe(isLocked);
    const escaped = encryption.replace(/(?<= )<(\w+)>/g, (_, value) => toEscapedString(value));
    expect(needsPassword(createPdf(`/ID[${toEscapedString(id)}${toEscapedString(id)}]/Encrypt${escaped}`))).toBe(
      isLocked,
    );
  },
);

test("A PDF that is encrypted for the owner of a certificate counts as locked.", () => {
  expect(needsPassword(createPdf("/Encrypt << /Filter /Adobe.PubSec >>"))).toBe(true);
});

test("A PDF whose text contains the word /Encrypt does not count as locked.", () => {
  expect(needsPassword(createPdf("/Title (The entry /Encrypt 8 of a trailer, and /EncryptMetadata) /ID []"))).toBe(
    false,
  );
});
