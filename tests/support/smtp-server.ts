/** An SMTP server for tests that accepts every email. A test can stop and restart the server. */
import { subscribe } from "node:diagnostics_channel";
import { createServer, type Socket } from "node:net";
import { listen } from "./free-port.ts";

/**
 * Disables Nagle's algorithm for all sockets of this process. With the algorithm, each email would wait 40 ms, because
 * the system delays the acknowledgement before the last line.
 */
export function disableNagle(): void {
  subscribe("net.client.socket", (created) => (created as { socket: Socket }).socket.setNoDelay(true));
}

const smtpReplies: Record<string, string> = {
  EHLO: "250 mail.test",
  HELO: "250 mail.test",
  MAIL: "250 sender ok",
  RCPT: "250 recipient ok",
  DATA: "354 go ahead",
  RSET: "250 forgotten",
  NOOP: "250 ok",
  QUIT: "221 bye",
};

export async function startSmtpServer() {
  /** The source texts of all accepted emails. */
  const emails: string[] = [];
  const sockets = new Set<Socket>();
  let goesAfter = Number.POSITIVE_INFINITY;

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => undefined);
    const say = (line: string) => socket.write(`${line}\r\n`);
    let pending = "";
    let isData = false;
    say("220 mail.test");
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      pending += chunk;
      for (;;) {
        const end = isData ? "\r\n.\r\n" : "\r\n";
        const at = pending.indexOf(end);
        if (at < 0) return;
        const said = pending.slice(0, at);
        pending = pending.slice(at + end.length);
        if (isData) {
          // Stops the server before it sends the reply that accepts the email.
          if (emails.length >= goesAfter) return goAway();
          emails.push(said.replaceAll("\r\n..", "\r\n."));
          say("250 taken");
        } else say(smtpReplies[said.slice(0, 4).toUpperCase()] ?? "502 not here");
        isData = !isData && /^DATA$/i.test(said);
        if (/^QUIT$/i.test(said)) socket.end();
      }
    });
  });

  function goAway(): void {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
  const port = await listen(server);

  return {
    url: `smtp://127.0.0.1:${port}`,
    emails,
    goAway,
    /** Accepts `count` emails, and stops the server during the next email. */
    goAwayAfter(count: number) {
      goesAfter = count;
    },
    async comeBack() {
      goesAfter = Number.POSITIVE_INFINITY;
      await listen(server, port);
    },
  };
}
