import { setTimeout } from "node:timers/promises";
import { TOTP } from "totp-generator";

const stepMs = 30_000;

/**
 * An authenticator app for tests, which does not use the backend's library. The backend accepts a code once, so each
 * code is for a later time step. If the step is more than one step ahead of the clock, the app waits for the clock.
 */
export class Authenticator {
  #secret: string;
  #step = 0;
  #wrong = 0;

  constructor(secret: string) {
    this.#secret = secret;
  }

  static fromUri(uri: string | null): Authenticator {
    return new Authenticator(new URL(uri ?? "").searchParams.get("secret") ?? "");
  }

  /** Returns an unused code that is valid now. */
  async freshCode(): Promise<string> {
    // Uses the previous step's code, which is still accepted. In the last 10 s of a step, uses the current code.
    this.#step = Math.max(this.#step + 1, Math.floor((Date.now() + 10_000) / stepMs) - 1);
    const wait = (this.#step - 1) * stepMs - Date.now();
    if (wait > 0) await setTimeout(wait);
    return this.lastCode();
  }

  /** Returns the code that `freshCode` returned last. */
  lastCode(): Promise<string> {
    return this.#codeAt(this.#step * stepMs);
  }

  /** Returns a code from five minutes ago. */
  expiredCode(): Promise<string> {
    return this.#codeAt(Date.now() - 10 * stepMs);
  }

  /** Returns an invalid code of six digits. The code is different at each call. */
  async wrongCode(): Promise<string> {
    const near = await Promise.all([-2, -1, 0, 1, 2].map((steps) => this.#codeAt(Date.now() + steps * stepMs)));
    let code: string;
    do code = String(this.#wrong++).padStart(6, "0");
    while (near.includes(code));
    return code;
  }

  async #codeAt(timestamp: number): Promise<string> {
    return (await TOTP.generate(this.#secret, { timestamp, explicitZeroPad: true })).otp;
  }
}
