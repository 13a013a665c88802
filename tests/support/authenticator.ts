import { setTimeout } from "node:timers/promises";
import { Secret, TOTP } from "otpauth";

const period = 30_000;

/**
 * An authenticator app for the tests. Each code is of a later time step than the one before, as a code is accepted
 * once; when the next step is more than one ahead of the clock it waits for the clock, as a person does.
 */
export class Authenticator {
  #totp: TOTP;
  #step = 0;

  constructor(secret: string) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(secret) });
  }

  /** The authenticator for the `otpauth:` address of a setup page. */
  static fromUri(uri: string | null): Authenticator {
    return new Authenticator(new URL(uri ?? "").searchParams.get("secret") ?? "");
  }

  /** A code that has not been given before and is accepted now. */
  async freshCode(): Promise<string> {
    this.#step = Math.max(this.#step + 1, Math.floor(Date.now() / period));
    const wait = (this.#step - 1) * period - Date.now();
    if (wait > 0) await setTimeout(wait);
    return this.usedCode();
  }

  /** The code that was given last. */
  usedCode(): string {
    return this.#totp.generate({ timestamp: this.#step * period });
  }

  /** Six digits that are none of the codes accepted around now. */
  wrongCode(): string {
    const near = [-2, -1, 0, 1, 2].map((steps) => this.#totp.generate({ timestamp: Date.now() + steps * period }));
    return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !near.includes(code)) ?? "";
  }
}
